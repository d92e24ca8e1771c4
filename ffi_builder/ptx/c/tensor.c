/* Tensor maps: boxes of tensors in global memory, to and from shared memory. The fake driver keeps
 * what each map was encoded from. */
#include "tensor.h"
#include "floats.h"

enum { kTile, kStore, kReduce };

static const TensorMap *map_at(Warp *w, const Instr *i, unsigned lane, uint64_t address) {
  if (address % 64 != 0)
    fault(w, i, lane, kMisaligned, "tensor map at %#llx, which is not aligned to 64",
          (unsigned long long)address);
  const char *bytes = memory_at(w, i, lane, kGeneric, address, kMap, kRead);
  const TensorMap *found = map_of(w->block->m, bytes);
  if (found == NULL)
    fault(w, i, lane, kWrong, "no tensor map at %#llx", (unsigned long long)address);
  if (found->rank != i->extra[0]) {
    fault(w, i, lane, kWrong, "a tensor map of %u dimensions in an instruction for %u", found->rank,
          i->extra[0]);
  }
  if (found->im2col != 0 || found->interleave != 0 || found->bits % 8 != 0 || found->swizzle > 4) {
    fault(w, i, lane, kWrong, "a tensor map with %s, which is not executed",
          found->im2col != 0       ? "im2col"
          : found->interleave != 0 ? "interleave"
          : found->bits % 8 != 0   ? "elements of less than a byte"
                                   : "this swizzle");
  }
  return found;
}

/* Where a byte of a box is: the chunks of a row of shared memory change places. */
static uint32_t swizzled(const TensorMap *t, uint32_t address) {
  switch (t->swizzle) {
  case 1:
    return address ^ (address >> 3 & 0x10);
  case 2:
    return address ^ (address >> 3 & 0x30);
  case 3:
    return address ^ (address >> 3 & 0x70);
  case 4:
    return address ^ (address >> 2 & 0x60);
  default:
    return address;
  }
}

typedef struct Box {
  uint32_t count[kMostRank], element, bytes;
} Box;

static Box box_of(const TensorMap *t) {
  Box box = {.element = t->bits / 8, .bytes = t->bits / 8};
  for (uint32_t d = 0; d < kMostRank; ++d) {
    uint32_t step = d == 0 || d >= t->rank || t->steps[d] == 0 ? 1 : t->steps[d];
    box.count[d] = d < t->rank ? (t->box[d] + step - 1) / step : 1;
    box.bytes *= box.count[d];
  }
  return box;
}

/* The global address of an element; 0: it is outside of the tensor. */
static uint64_t element_at(const TensorMap *t, const int64_t *at, uint32_t element) {
  uint64_t address = t->address;
  for (uint32_t d = 0; d < t->rank; ++d) {
    if (at[d] < 0 || (uint64_t)at[d] >= t->dims[d])
      return 0;
    address += (uint64_t)at[d] * (d == 0 ? element : t->strides[d - 1]);
  }
  return address;
}

static void fill(const TensorMap *t, char *to, uint32_t element) {
  memset(to, 0, element);
  if (t->fill == 0)
    return;
  switch (t->type) {
  case kMapF16:
  case kMapBf16:
    memcpy(to, &(uint16_t){0x7fff}, 2);
    break;
  case kMapF64:
    memcpy(to, &(uint64_t){0x7fffffffffffffff}, 8);
    break;
  default:
    memcpy(to, &(uint32_t){0x7fffffff}, 4);
    break;
  }
}

/* The element's type, for reductions, by CUtensorMapDataType. */
static void reduce(Warp *w, const Pending *p, const TensorMap *t, char *to, const char *from);

/* v: map, shared address, blocks, kind, coordinates. */
static void move(Warp *w, const Pending *p, uint64_t shared, bool load) {
  const TensorMap *t = (const TensorMap *)(uintptr_t)p->v[0];
  Box box = box_of(t);
  uint32_t at[kMostRank] = {0}, offset = 0;
  for (;;) {
    int64_t place[kMostRank];
    for (uint32_t d = 0; d < t->rank; ++d) {
      uint32_t step = d == 0 || t->steps[d] == 0 ? 1 : t->steps[d];
      place[d] = (int64_t)(int32_t)p->v[4 + d] + (int64_t)at[d] * step;
    }
    uint64_t global = element_at(t, place, box.element);
    uint64_t address =
        (shared & ~0xffffffull) | swizzled(t, (uint32_t)(shared & 0xffffff) + offset);
    if (load) {
      char *to = memory_at(w, p->i, p->lane, kCluster, address, box.element, kWrite);
      if (global == 0)
        fill(t, to, box.element);
      else
        memcpy(to, memory_at(w, p->i, p->lane, kGlobal, global, box.element, kRead), box.element);
    } else if (global != 0) {
      const char *from = memory_at(w, p->i, p->lane, kCluster, address, box.element, kRead);
      char *to = memory_at(w, p->i, p->lane, kGlobal, global, box.element, kWrite);
      if (p->v[3] == kReduce)
        reduce(w, p, t, to, from);
      else
        memcpy(to, from, box.element);
    }
    offset += box.element;
    uint32_t d = 0;
    while (d < t->rank && ++at[d] == box.count[d])
      at[d++] = 0;
    if (d == t->rank)
      break;
  }
  w->block->m->progress = w->block->m->steps;
}

static void finish(Warp *w, const Pending *p) {
  const TensorMap *t = (const TensorMap *)(uintptr_t)p->v[0];
  if (p->v[3] != kTile) {
    move(w, p, p->v[1], false);
    return;
  }
  uint32_t bytes = box_of(t).bytes;
  uint64_t low = (1u << kRankShift) - 1;
  if (p->v[2] == 0) {
    move(w, p, p->v[1], true);
    mbarrier_complete(w, p->i, p->lane, p->barrier, bytes);
  }
  for (uint32_t m = (uint32_t)p->v[2]; m != 0; m &= m - 1) {
    uint64_t rank = (uint64_t)__builtin_ctz(m) << kRankShift;
    move(w, p, rank | (p->v[1] & low), true);
    mbarrier_complete(w, p->i, p->lane, rank | (p->barrier & low), bytes);
  }
}

static Pending *copy_begin(Warp *w, const Instr *i, unsigned lane, uint32_t kind, uint64_t map,
                           uint64_t shared, unsigned coordinates) {
  const TensorMap *t = map_at(w, i, lane, map);
  uint32_t align = 128;
  if (shared % align != 0)
    fault(w, i, lane, kMisaligned,
          "a box of a tensor at shared address %#llx, which is not aligned to %u",
          (unsigned long long)shared, align);
  Pending *p = pending_new(w, i, lane, kind);
  p->finish = finish;
  p->v[0] = (uint64_t)(uintptr_t)t;
  p->v[1] = shared;
  for (unsigned d = 0; d < i->extra[0]; ++d)
    p->v[4 + d] = (uint32_t)ROW(coordinates + d)[lane];
  return p;
}

/* op: to, map, coordinates, mbarrier, and the mask of blocks if extra[1]. */
OP(tensor_load) {
  unsigned rank = i->extra[0];
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    Pending *p = copy_begin(w, i, l, kByBarrier, ADDRESS(2, l), ADDRESS(0, l), 4);
    p->v[3] = kTile;
    p->barrier = ADDRESS(4 + rank, l);
    if (i->extra[1]) {
      p->v[2] = ROW(6 + rank)[l] & 0xffff;
      if (p->v[2] == 0)
        --w->pending_count;
    }
  }
}

/* op: map, coordinates, from. extra[1]: whether it reduces, extra[2]: how. */
OP(tensor_store) {
  unsigned rank = i->extra[0];
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    Pending *p = copy_begin(w, i, l, kBulkGroup, ADDRESS(0, l), ADDRESS(2 + rank, l), 2);
    p->v[3] = i->extra[1] ? kReduce : kStore;
  }
}

OP(tensor_prefetch) { LANES(map_at(w, i, l, ADDRESS(0, l));) }

enum { kAdd, kMin, kMax, kInc, kDec, kAndBits, kOrBits, kXorBits };

static double float_result(int how, double a, double b) {
  return how == kAdd ? a + b : how == kMin ? fmin(a, b) : fmax(a, b);
}
#define INTEGER(T)                                                                                 \
  {                                                                                                \
    T a, b;                                                                                        \
    memcpy(&a, to, sizeof(T));                                                                     \
    memcpy(&b, from, sizeof(T));                                                                   \
    T made = how == kAdd       ? (T)(a + b)                                                        \
             : how == kMin     ? (a < b ? a : b)                                                   \
             : how == kMax     ? (a > b ? a : b)                                                   \
             : how == kInc     ? (a >= b ? 0 : (T)(a + 1))                                         \
             : how == kDec     ? (a == 0 || a > b ? b : (T)(a - 1))                                \
             : how == kAndBits ? (T)(a & b)                                                        \
             : how == kOrBits  ? (T)(a | b)                                                        \
                               : (T)(a ^ b);                                                       \
    memcpy(to, &made, sizeof(T));                                                                  \
    return;                                                                                        \
  }

static void reduce(Warp *w, const Pending *p, const TensorMap *t, char *to, const char *from) {
  int how = p->i->extra[2];
  uint64_t a = 0, b = 0, made;
  switch (t->type) {
  case 0:
    INTEGER(uint8_t)
  case 1:
    INTEGER(uint16_t)
  case 2:
    INTEGER(uint32_t)
  case 3:
    INTEGER(int32_t)
  case 4:
    INTEGER(uint64_t)
  case 5:
    INTEGER(int64_t)
  default:
    break;
  }
  if (how > kMax)
    fault(w, p->i, p->lane, kWrong, "a reduction of floats by bits");
  memcpy(&a, to, t->bits / 8);
  memcpy(&b, from, t->bits / 8);
  switch (t->type) {
  case kMapF16:
    made = f16_bits(float_result(how, f16_value(a), f16_value(b)));
    break;
  case kMapBf16:
    made = bf16_bits(float_result(how, bf16_value(a), bf16_value(b)));
    break;
  case kMapF64:
    made = bits_of_f64(float_result(how, f64_of(a), f64_of(b)));
    break;
  default:
    made = bits_of_f32((float)float_result(how, f32_of(a), f32_of(b)));
    break;
  }
  memcpy(to, &made, t->bits / 8);
}
