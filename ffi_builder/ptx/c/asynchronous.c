/* Copies that end when somebody waits for them: cp.async, bulk copies, st.async. What nobody waits
 * for is not there yet, so that a missing wait is found. */
#include "engine.h"

#include <stdlib.h>

Pending *pending_new(Warp *w, const Instr *i, unsigned lane, uint32_t kind) {
  if (w->pending_count == w->pending_room) {
    w->pending_room = w->pending_room * 2 + 32;
    w->pending = realloc(w->pending, w->pending_room * sizeof(*w->pending));
    if (w->pending == NULL)
      abort();
  }
  Pending *p = &w->pending[w->pending_count++];
  *p = (Pending){.i = i, .lane = lane, .kind = kind};
  if (kind == kGroup)
    p->group = w->groups[lane];
  if (kind == kBulkGroup)
    p->group = w->bulk_groups[lane];
  return p;
}

/* Finishes, in order, what is of a lane and a kind, and of a group before this. */
static void finish_groups(Warp *w, unsigned lane, uint32_t kind, uint32_t before) {
  uint32_t kept = 0, count = w->pending_count;
  for (uint32_t k = 0; k < count; ++k) {
    Pending p = w->pending[k];
    if (p.lane == lane && p.kind == kind && p.group < before)
      p.finish(w, &p);
    else
      w->pending[kept++] = p;
  }
  w->pending_count = kept;
}

void pending_finish_barrier(Warp *w, uint64_t barrier) {
  const Block *b = w->block;
  const uint32_t *n = b->m->c.cluster;
  uint32_t offset = (uint32_t)barrier & ((1u << kRankShift) - 1);
  for (uint32_t r = 0; r < n[0] * n[1] * n[2]; ++r) {
    for (uint32_t k = 0; k < b->cluster[r].warp_count; ++k) {
      Warp *from = &b->cluster[r].warps[k];
      uint32_t kept = 0, count = from->pending_count;
      for (uint32_t at = 0; at < count; ++at) {
        Pending p = from->pending[at];
        bool is =
            p.kind == kByBarrier && ((uint32_t)p.barrier & ((1u << kRankShift) - 1)) == offset;
        if (is)
          p.finish(from, &p);
        else
          from->pending[kept++] = p;
      }
      from->pending_count = kept;
    }
  }
}

void pending_finish_block(Block *b) {
  b->live = 1; /* its memory is still there */
  for (uint32_t k = 0; k < b->warp_count; ++k) {
    Warp *w = &b->warps[k];
    for (uint32_t at = 0; at < w->pending_count; ++at) {
      Pending p = w->pending[at];
      if (p.kind != kByBarrier)
        p.finish(w, &p);
    }
    w->pending_count = 0;
  }
  b->live = 0;
}

/* v: to, from, bytes, and how many of them come from there; the others are zeros. */
static void copy(Warp *w, const Pending *p) {
  uint32_t size = (uint32_t)p->v[2], given = (uint32_t)p->v[3];
  char *to = memory_at(w, p->i, p->lane, kShared, p->v[0], size, kWrite);
  memset(to, 0, size);
  if (given != 0)
    memcpy(to, memory_at(w, p->i, p->lane, kGlobal, p->v[1], given, kRead), given);
  w->block->m->progress = w->block->m->steps;
}

/* op: to, from, bytes, and perhaps how many come from there. */
OP(cp_async) {
  uint32_t size = i->op[4];
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    uint64_t to = ADDRESS(0, l), from = ADDRESS(2, l), given = i->op[5] != 0 ? ROW(5)[l] : size;
    if (size != 4 && size != 8 && size != 16)
      fault(w, i, l, kWrong, "cp.async of %u bytes", size);
    if (given > size)
      fault(w, i, l, kWrong, "cp.async of %u bytes with %llu of its source", size,
            (unsigned long long)given);
    if (to % size != 0 || from % size != 0) {
      fault(w, i, l, kMisaligned,
            "cp.async of %u bytes from %#llx to %#llx, which are not aligned to them", size,
            (unsigned long long)from, (unsigned long long)to);
    }
    if (given != 0)
      memory_at(w, i, l, kGlobal, from, (unsigned)given, kRead);
    Pending *p = pending_new(w, i, l, kGroup);
    p->finish = copy;
    p->v[0] = to;
    p->v[1] = from;
    p->v[2] = size;
    p->v[3] = given;
  }
}

OP(cp_async_commit) {
  (void)i;
  LANES(++w->groups[l];)
}

OP(cp_async_wait) {
  LANES(uint32_t now = w->groups[l];
        finish_groups(w, l, kGroup, now > i->op[0] ? now - i->op[0] : 0);)
}

OP(cp_async_wait_all) {
  (void)i;
  LANES(finish_groups(w, l, kGroup, UINT32_MAX);)
}

/* extra: whether the arrival counts. */
OP(cp_async_arrive) {
  LANES(finish_groups(w, l, kGroup, UINT32_MAX);
        if (i->extra[0]) mbarrier_arrive(w, i, l, ADDRESS(0, l), 1, false);)
}

OP(bulk_commit) {
  (void)i;
  LANES(++w->bulk_groups[l];)
}

OP(bulk_wait) {
  LANES(uint32_t now = w->bulk_groups[l];
        finish_groups(w, l, kBulkGroup, now > i->op[0] ? now - i->op[0] : 0);)
}

/* Bulk copies. v: to, from, bytes, the mask of blocks; from which space to which. */
static void bulk(Warp *w, const Pending *p) {
  uint32_t size = (uint32_t)p->v[2], blocks = (uint32_t)p->v[3];
  Space to = (Space)p->v[4], from = (Space)p->v[5];
  if (size == 0)
    return;
  if (blocks == 0) {
    const char *source = memory_at(w, p->i, p->lane, from, p->v[1], size, kRead);
    memmove(memory_at(w, p->i, p->lane, to, p->v[0], size, kWrite), source, size);
    if (p->kind == kByBarrier)
      mbarrier_complete(w, p->i, p->lane, p->barrier, size);
  }
  uint64_t low = (1u << kRankShift) - 1;
  for (uint32_t m = blocks; m != 0; m &= m - 1) {
    uint64_t rank = (uint64_t)__builtin_ctz(m) << kRankShift;
    const char *source = memory_at(w, p->i, p->lane, from, p->v[1], size, kRead);
    memmove(memory_at(w, p->i, p->lane, kCluster, rank | (p->v[0] & low), size, kWrite), source,
            size);
    mbarrier_complete(w, p->i, p->lane, rank | (p->barrier & low), size);
  }
  w->block->m->progress = w->block->m->steps;
}

/* op: to, from, bytes, and the mbarrier if extra[2] says so, then the mask of blocks if extra[3]
 * does. extra[0] and extra[1]: to which space and from which. */
OP(bulk_copy) {
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    uint64_t to = ADDRESS(0, l), from = ADDRESS(2, l), size = ROW(4)[l];
    if (size % 16 != 0 || to % 16 != 0 || from % 16 != 0) {
      fault(w, i, l, kMisaligned,
            "bulk copy of %llu bytes from %#llx to %#llx, and all of them are multiples of 16",
            (unsigned long long)size, (unsigned long long)from, (unsigned long long)to);
    }
    Pending *p = pending_new(w, i, l, i->extra[2] ? kByBarrier : kBulkGroup);
    p->finish = bulk;
    p->v[0] = to;
    p->v[1] = from;
    p->v[2] = (uint32_t)size;
    p->v[3] = i->extra[3] ? ROW(7)[l] & 0xffff : 0;
    p->v[4] = i->extra[0];
    p->v[5] = i->extra[1];
    if (i->extra[2])
      p->barrier = ADDRESS(5, l);
    if (i->extra[3] && p->v[3] == 0)
      --w->pending_count;
  }
}

/* v: to, count, values. */
static void stored(Warp *w, const Pending *p) {
  uint32_t size = p->i->size, count = p->i->count;
  char *to = memory_at(w, p->i, p->lane, kCluster, p->v[0], size * count, kWrite);
  for (uint32_t k = 0; k < count; ++k)
    memcpy(to + k * size, &p->v[1 + k], size);
  mbarrier_complete(w, p->i, p->lane, p->barrier, size * count);
}

/* op: to, count values, mbarrier. */
OP(st_async) {
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m), size = i->size * i->count;
    if (ADDRESS(0, l) % size != 0)
      fault(w, i, l, kMisaligned, "st.async of %u bytes, which is not aligned to them", size);
    Pending *p = pending_new(w, i, l, kByBarrier);
    p->finish = stored;
    p->v[0] = ADDRESS(0, l);
    for (unsigned k = 0; k < i->count; ++k)
      p->v[1 + k] = ROW(2 + k)[l];
    p->barrier = ADDRESS(2 + i->count, l);
  }
}

/* The shared address of another block of the cluster. */
OP(mapa) {
  uint64_t *d = ROW(0);
  const uint64_t *a = ROW(1), *b = ROW(2);
  uint64_t low = (1u << kRankShift) - 1;
  LANES(d[l] = (a[l] & kWindows) | (b[l] & 0xff) << kRankShift | (a[l] & low);)
}

OP(getctarank) { UNARY(uint64_t, (a & ~kWindows) >> kRankShift) }
