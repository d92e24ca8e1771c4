/* Where addresses are, loads, stores, and conversions of addresses. */
#include "engine.h"

static const char *const kNames[] = {"generic",  "global",    "shared",         "local",
                                     "constant", "parameter", "shared::cluster"};

static _Noreturn void illegal(Warp *w, const Instr *i, unsigned lane, Space space, uint64_t address,
                              unsigned size, Access access) {
  fault(w, i, lane, kIllegal, "%s of %u bytes at %#llx, which is no %s memory",
        access == kRead ? "read" : "write", size, (unsigned long long)address, kNames[space]);
}

static const Extent *extent_of(Machine *m, uint64_t address) {
  const Extent *hit = m->hit;
  if (hit != NULL && address - hit->lo < hit->size)
    return hit;
  size_t low = 0, high = m->extent_count; /* they are in order */
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (m->extents[middle].lo <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0)
    return NULL;
  hit = &m->extents[low - 1];
  if (address - hit->lo >= hit->size)
    return NULL;
  return m->hit = hit;
}

static char *global_at(Warp *w, const Instr *i, unsigned lane, Space space, uint64_t address,
                       unsigned size, Access access) {
  const Extent *found = extent_of(w->block->m, address);
  if (found == NULL)
    illegal(w, i, lane, space, address, size, access);
  uint64_t offset = address - found->lo;
  if (found->size - offset < size) {
    fault(w, i, lane, kIllegal,
          "%s of %u bytes at %#llx, %llu bytes before the end of an allocation of %llu bytes",
          access == kRead ? "read" : "write", size, (unsigned long long)address,
          (unsigned long long)(found->size - offset), (unsigned long long)found->size);
  }
  return found->host + offset;
}

static char *shared_at(Warp *w, const Instr *i, unsigned lane, Space space, uint64_t address,
                       unsigned size, Access access) {
  Block *b = w->block;
  const Config *c = &b->m->c;
  uint64_t rank = address >> kRankShift, offset = address & ((1u << kRankShift) - 1);
  if (rank != b->rank) {
    uint32_t blocks = c->cluster[0] * c->cluster[1] * c->cluster[2];
    if (rank >= blocks)
      illegal(w, i, lane, space, address, size, access);
    if (space == kShared) {
      fault(w, i, lane, kIllegal,
            "shared address %#llx of block %llu of the cluster, in an instruction for its own "
            "block's memory",
            (unsigned long long)address, (unsigned long long)rank);
    }
    b = b->cluster + rank;
    if (b->live == 0) {
      fault(w, i, lane, kIllegal, "shared memory of block %llu of the cluster, which has ended",
            (unsigned long long)rank);
    }
  }
  if (offset >= c->shared_size || c->shared_size - offset < size) {
    fault(w, i, lane, kIllegal,
          "%s of %u bytes at offset %llu of shared memory, of which there are %u bytes",
          access == kRead ? "read" : "write", size, (unsigned long long)offset, c->shared_size);
  }
  if (access == kWrite) {
    memset(b->written + offset, 1, size);
  } else if (memchr(b->written + offset, 0, size) != NULL) {
    fault(w, i, lane, kIllegal,
          "read of %u bytes at offset %llu of shared memory, which nobody wrote", size,
          (unsigned long long)offset);
  }
  return (char *)b->shared + offset;
}

static char *inside(Warp *w, const Instr *i, unsigned lane, Space space, uint64_t address,
                    unsigned size, Access access, char *from, uint32_t room) {
  if (address >= room || room - address < size)
    illegal(w, i, lane, space, address, size, access);
  return from + address;
}

char *memory_at(Warp *w, const Instr *i, unsigned lane, Space space, uint64_t address,
                unsigned size, Access access) {
  Config *c = &w->block->m->c;
  if (space == kGeneric) {
    uint64_t window = address & kWindows, rest = address & ~kWindows;
    if (window == kSharedWindow)
      return shared_at(w, i, lane, kGeneric, rest, size, access);
    if (window == kLocalWindow)
      return memory_at(w, i, lane, kLocal, rest, size, access);
    if (window == kParamWindow)
      return memory_at(w, i, lane, kParam, rest, size, access);
    if (window == kGridWindow) {
      Machine *m = w->block->m;
      return inside(w, i, lane, space, rest, size, access, m->grid,
                    c->cooperative ? sizeof(m->grid) : 0);
    }
    return global_at(w, i, lane, space, address, size, access);
  }
  if (address >> 32 == 1 && space != kGlobal && space != kConst) {
    address = (uint32_t)address; /* a register of 32 bits and an offset */
  }
  switch (space) {
  case kShared:
  case kCluster:
    return shared_at(w, i, lane, space, address, size, access);
  case kLocal:
    return inside(w, i, lane, space, address, size, access, w->local + (size_t)lane * c->local_size,
                  c->local_size);
  case kParam:
    if (access != kRead)
      fault(w, i, lane, kIllegal, "write of a kernel's parameter");
    return inside(w, i, lane, space, address, size, access, (char *)(uintptr_t)c->params,
                  c->params_size);
  case kConst:
    if (access != kRead)
      fault(w, i, lane, kIllegal, "write of constant memory");
    return global_at(w, i, lane, space, address, size, access);
  default:
    return global_at(w, i, lane, space, address, size, access);
  }
}

static char *aligned_at(Warp *w, const Instr *i, unsigned lane, uint64_t address, unsigned size,
                        Access access) {
  if (address % size != 0) {
    fault(w, i, lane, kMisaligned, "%s of %u bytes at %#llx, which is not aligned to them",
          access == kRead ? "read" : "write", size, (unsigned long long)address);
  }
  return memory_at(w, i, lane, (Space)i->space, address, size, access);
}

/* The same, where the usual cases are inlined: size is a power of two. */
static inline __attribute__((always_inline)) char *
quick_at(Warp *w, const Instr *i, unsigned lane, uint64_t address, unsigned size, Access access) {
  const Machine *m = w->block->m;
  bool plain = (address & kWindows) == 0;
  if ((address & (size - 1)) != 0)
    return aligned_at(w, i, lane, address, size, access);
  if (i->space == kGlobal || (i->space == kGeneric && plain)) {
    const Extent *hit = m->hit;
    if (hit != NULL && address - hit->lo < hit->size && hit->size - (address - hit->lo) >= size) {
      return hit->host + (address - hit->lo);
    }
  } else if (i->space == kShared && size <= 16) {
    Block *b = w->block;
    uint64_t offset = address - ((uint64_t)b->rank << kRankShift);
    if (offset < m->c.shared_size && m->c.shared_size - offset >= size) {
      uint8_t *written = b->written + offset;
      if (access == kWrite) {
        memset(written, 1, size);
        return (char *)b->shared + offset;
      }
      uint8_t all[16];
      memset(all, 1, size);
      if (memcmp(written, all, size) == 0)
        return (char *)b->shared + offset;
    }
  }
  return aligned_at(w, i, lane, address, size, access);
}

static inline uint64_t extended(const Instr *i, uint64_t value, unsigned size) {
  unsigned up = 64 - 8 * size;
  value = (uint64_t)((int64_t)(value << up) >> up);
  return value & (~0ull >> (64 - 8 * i->dsize));
}

#define LOAD_ONE(T)                                                                                \
  {                                                                                                \
    uint64_t *d = ROW(0);                                                                          \
    const uint64_t *base = ROW(1);                                                                 \
    int64_t offset = (int32_t)i->op[2];                                                            \
    LANES(T v;                                                                                     \
          memcpy(&v, quick_at(w, i, l, base[l] + (uint64_t)offset, sizeof(T), kRead), sizeof(T));  \
          d[l] = i->sign ? extended(i, v, sizeof(T)) : v;)                                         \
  }

/* op: count registers, and an address. */
OP(ld) {
  unsigned count = i->count, each = i->size, size = count * each;
  if (count == 1) {
    switch (each) {
    case 1:
      LOAD_ONE(uint8_t) return;
    case 2:
      LOAD_ONE(uint16_t) return;
    case 4:
      LOAD_ONE(uint32_t) return;
    default:
      LOAD_ONE(uint64_t) return;
    }
  }
  uint64_t *to[8];
  for (unsigned k = 0; k < count; ++k)
    to[k] = ROW(k);
  LANES(char found[64]; memcpy(found, quick_at(w, i, l, ADDRESS(count, l), size, kRead), size);
        for (unsigned k = 0; k < count; ++k) {
          uint64_t value = 0;
          memcpy(&value, found + k * each, each);
          to[k][l] = i->sign ? extended(i, value, each) : value;
        })
}

OP(ld_b128) {
  LANES(const char *from = aligned_at(w, i, l, ADDRESS(1, l), 16, kRead);
        memcpy(&ROW(0)[l], from, 8); memcpy(&ROW(0)[l + kLanes], from + 8, 8););
}

#define STORE_ONE(T)                                                                               \
  {                                                                                                \
    const uint64_t *base = ROW(0), *from = ROW(2);                                                 \
    int64_t offset = (int32_t)i->op[1];                                                            \
    LANES(T v = (T)from[l]; memcpy(                                                                \
              quick_at(w, i, l, base[l] + (uint64_t)offset, sizeof(T), kWrite), &v, sizeof(T));)   \
  }

/* op: an address, and count registers. */
OP(st) {
  unsigned count = i->count, each = i->size, size = count * each;
  if (i->space != kLocal)
    w->block->m->progress = w->block->m->steps;
  if (count == 1) {
    switch (each) {
    case 1:
      STORE_ONE(uint8_t) return;
    case 2:
      STORE_ONE(uint16_t) return;
    case 4:
      STORE_ONE(uint32_t) return;
    default:
      STORE_ONE(uint64_t) return;
    }
  }
  const uint64_t *from[8];
  for (unsigned k = 0; k < count; ++k)
    from[k] = ROW(2 + k);
  LANES(char *to = quick_at(w, i, l, ADDRESS(0, l), size, kWrite);
        for (unsigned k = 0; k < count; ++k) memcpy(to + k * each, &from[k][l], each);)
}

OP(st_b128) {
  LANES(char *to = aligned_at(w, i, l, ADDRESS(0, l), 16, kWrite); memcpy(to, &ROW(2)[l], 8);
        memcpy(to + 8, &ROW(2)[l + kLanes], 8););
  w->block->m->progress = w->block->m->steps;
}

static uint64_t window_of(const Instr *i) {
  return i->space == kShared || i->space == kCluster ? kSharedWindow
         : i->space == kLocal                        ? kLocalWindow
         : i->space == kParam                        ? kParamWindow
                                                     : 0;
}

OP(cvta) {
  uint64_t window = window_of(i);
  UNARY(uint64_t, a + window)
}

OP(cvta_to) {
  uint64_t window = window_of(i);
  UNARY(uint64_t, a - window)
}

OP(isspacep) {
  const uint64_t *a = ROW(1);
  uint64_t window = window_of(i);
  uint32_t found = 0;
  LANES(uint64_t in = a[l] & kWindows;
        bool own = i->space != kShared || (a[l] & ~kWindows) >> kRankShift == w->block->rank;
        if (in == window && own) found |= 1u << l;);
  SET_PRED(0, found);
}

/* What a cache shall keep changes nothing here. */
OP(policy) {
  uint64_t *d = ROW(0);
  LANES(d[l] = 0;)
}
