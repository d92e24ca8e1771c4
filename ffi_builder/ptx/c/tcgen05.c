/* tcgen05: tensor memory, of 128 lanes and 512 columns of 32 bits, and products into it. They are
 * computed at once, before anybody can wait for them; so commits arrive at once, too. */
#include "tile.h"

#include <stdlib.h>

enum { kTensorLanes = 128, kColumns = 512, kUnit = 32, kMostN = 256, kFloatK = 32 };

/* The words of a lane from a column on, which have to be allocated. */
static uint32_t *tensor_at(Warp *w, const Instr *i, unsigned by, uint32_t address, uint32_t lane,
                           uint32_t column, uint32_t count) {
  Block *b = w->block;
  lane += address >> 16;
  column += address & 0xffff;
  uint32_t last = column + count - 1;
  bool inside = lane < kTensorLanes && count <= kColumns && last < kColumns;
  for (uint32_t at = column / kUnit; inside && at <= last / kUnit; ++at)
    inside = (b->tensor_taken >> at & 1) != 0;
  if (!inside) {
    fault(w, i, by, kIllegal,
          "columns %u to %u of lane %u of tensor memory, which are not allocated", column, last,
          lane);
  }
  return b->tensor + lane * kColumns + column;
}

static unsigned units_of(Warp *w, const Instr *i, uint32_t columns) {
  if (columns < kUnit || columns > kColumns || (columns & (columns - 1)) != 0) {
    fault(w, i, 0, kWrong,
          "%u columns of tensor memory; their count is a power of two, from 32 to 512", columns);
  }
  return columns / kUnit;
}
static uint32_t units_at(unsigned first, unsigned count) {
  return (uint32_t)((1ull << count) - 1) << first;
}

/* op: an address, columns. */
OP(tcgen05_alloc) {
  if (!whole_warp(w, i, mask))
    return;
  Block *b = w->block;
  uint32_t columns = (uint32_t)ROW(2)[0];
  unsigned count = units_of(w, i, columns), first = 0;
  while (first < kColumns / kUnit && (b->tensor_taken & units_at(first, count)) != 0)
    first += count;
  if (first >= kColumns / kUnit)
    fault(w, i, 0, kWrong, "%u columns of tensor memory, of which there are not as many left",
          columns);
  if (b->tensor == NULL)
    b->tensor = malloc(kTensorLanes * kColumns * sizeof(uint32_t));
  if (b->tensor == NULL)
    abort();
  b->tensor_taken |= units_at(first, count);
  for (unsigned lane = 0; lane < kTensorLanes; ++lane)
    memset(b->tensor + lane * kColumns + first * kUnit, 0xcd, columns * sizeof(uint32_t));
  uint32_t address = first * kUnit;
  memcpy(memory_at(w, i, 0, i->space == kGeneric ? kGeneric : kShared, ADDRESS(0, 0),
                   sizeof(address), kWrite),
         &address, sizeof(address));
}

/* op: an address in tensor memory, columns. */
OP(tcgen05_dealloc) {
  if (!whole_warp(w, i, mask))
    return;
  uint32_t address = (uint32_t)ROW(0)[0],
           units = units_at(address / kUnit % 16, units_of(w, i, (uint32_t)ROW(1)[0]));
  if (address % kUnit != 0 || address >= kColumns || (w->block->tensor_taken & units) != units) {
    fault(w, i, 0, kIllegal, "tensor memory at %#x, which is not allocated", address);
  }
  w->block->tensor_taken &= ~units;
}

/* Where a register of a lane is: 32x32b, or 16x32bx2, whose upper 16 lanes have the columns from
 * `split` on, or 16x128b and 16x256b, of which a lane has one or two columns, here and 8 lanes
 * below. */
typedef enum Pattern { k32x32b, k16x32bx2, k16x128b, k16x256b } Pattern;
static uint32_t *word_at(Warp *w, const Instr *i, uint32_t address, uint32_t split, unsigned l,
                         unsigned at) {
  switch ((Pattern)i->extra[0]) {
  case k32x32b:
    return tensor_at(w, i, l, address, l, at, 1);
  case k16x32bx2:
    return tensor_at(w, i, l, address, l % 16, at + l / 16 * split, 1);
  case k16x128b:
    return tensor_at(w, i, l, address, l / 4 + at % 2 * 8, at / 2 * 4 + l % 4, 1);
  default:
    return tensor_at(w, i, l, address, l / 4 + at / 2 % 2 * 8, at / 4 * 8 + l % 4 * 2 + at % 2, 1);
  }
}

/* Warps have the lanes of their number in four warps. */
static uint32_t window(Warp *w, const Instr *i, unsigned op) {
  uint32_t address = (uint32_t)ADDRESS(op, 0);
  if (address >> 21 != w->number % 4) {
    fault(w, i, 0, kIllegal, "lane %u of tensor memory in warp %u, which has those from %u on",
          address >> 16, w->number, w->number % 4 * 32);
  }
  return address;
}

/* extra: the pattern; whether a register has the low halves of two columns. op: registers, address,
 * and perhaps the split. */
OP(tcgen05_ld) {
  if (!whole_warp(w, i, mask))
    return;
  unsigned count = i->count, each = i->extra[1] ? 2 : 1;
  uint32_t address = window(w, i, count), split = i->extra[0] == k16x32bx2 ? i->op[count + 2] : 0;
  for (unsigned r = 0; r < count; ++r) {
    uint64_t *d = ROW(r);
    for (unsigned l = 0; l < kLanes; ++l) {
      if (each == 1)
        d[l] = *word_at(w, i, address, split, l, r);
      else
        d[l] = (*word_at(w, i, address, split, l, 2 * r) & 0xffff) |
               *word_at(w, i, address, split, l, 2 * r + 1) << 16;
    }
  }
}

/* op: address, perhaps the split, and registers. */
OP(tcgen05_st) {
  if (!whole_warp(w, i, mask))
    return;
  bool has_split = i->extra[0] == k16x32bx2;
  unsigned count = i->count, each = i->extra[1] ? 2 : 1, first = has_split ? 3 : 2;
  uint32_t address = window(w, i, 0), split = has_split ? i->op[2] : 0;
  for (unsigned r = 0; r < count; ++r) {
    const uint64_t *a = ROW(first + r);
    for (unsigned l = 0; l < kLanes; ++l) {
      if (each == 1) {
        *word_at(w, i, address, split, l, r) = (uint32_t)a[l];
        continue;
      }
      *word_at(w, i, address, split, l, 2 * r) = (uint16_t)a[l];
      *word_at(w, i, address, split, l, 2 * r + 1) = (uint16_t)(a[l] >> 16);
    }
  }
}

/* What the 32 bits of an instruction descriptor say. */
typedef enum Kind { kKindF16, kKindTf32, kKindF8, kKindI8 } Kind;
typedef struct Form {
  unsigned m, n, k;
  Type a, b, d;
  double sign;
  bool a_by_mn, b_by_mn, saturates;
} Form;

static Type factor_type(Kind kind, unsigned code) {
  switch (kind) {
  case kKindF16:
    return code == 0 ? kF16 : code == 1 ? kBf16 : kS32;
  case kKindTf32:
    return code == 2 ? kTf32 : kS32;
  case kKindF8:
    return code == 0 ? kE4m3 : code == 1 ? kE5m2 : kS32;
  default:
    return code == 0 ? kU8 : code == 1 ? kS8 : kS32;
  }
}

static Form form_of(Warp *w, const Instr *i, unsigned lane, uint32_t bits) {
  Kind kind = (Kind)i->extra[0];
  static const Type kResults[] = {kF16, kF32, kS32, kB1};
  Form f = {
      .m = (bits >> 24 & 31) * 16,
      .n = (bits >> 17 & 63) * 8,
      .a = factor_type(kind, bits >> 7 & 7),
      .b = factor_type(kind, bits >> 10 & 7),
      .d = kResults[bits >> 4 & 3],
      .sign = (bits >> 13 & 1) == (bits >> 14 & 1) ? 1 : -1,
      .a_by_mn = bits >> 15 & 1,
      .b_by_mn = bits >> 16 & 1,
      .saturates = bits >> 3 & 1,
  };
  bool known = f.a != kS32 && f.b != kS32 &&
               (kind == kKindI8 ? f.d == kS32 : f.d == kF32 || (kind != kKindTf32 && f.d == kF16));
  bool fits = (f.m == 64 || f.m == 128) && f.n != 0 && f.n <= kMostN;
  if (!known || !fits || (bits >> 2 & 1) != 0) {
    fault(w, i, lane, kWrong, "the instruction descriptor %#x, which is not executed: m %u, n %u",
          bits, f.m, f.n);
  }
  f.k = 256 / kBits[f.a];
  return f;
}

static Tile described(Warp *w, const Instr *i, uint64_t descriptor, bool by_mn) {
  static const uint8_t kWidths[] = {16, 0, 128, 0, 64, 0, 32, 0};
  return tile_of(w, i, descriptor, descriptor >> 52 & 1 ? 0 : kWidths[descriptor >> 61], by_mn);
}

static void set_a(void *to, unsigned mn, unsigned k, Type type, uint64_t bits) {
  ((double (*)[kFloatK])to)[mn][k] = value(type, bits);
}
static void set_b(void *to, unsigned mn, unsigned k, Type type, uint64_t bits) {
  ((double (*)[kMostN])to)[k][mn] = value(type, bits);
}

/* Of 64 rows, each warp has the first 16 of its lanes. */
static unsigned lane_of(const Form *f, unsigned y) { return f->m == 64 ? y / 16 * 32 + y % 16 : y; }

/* extra: the kind, whether a is in tensor memory, whether lanes are disabled. op: address of d; a,
 * or its address; b; the descriptor; perhaps four masks; whether d is added. */
OP(tcgen05_mma) {
  bool tensor_a = i->extra[1], masked = i->extra[2];
  unsigned op_b = tensor_a ? 4 : 3, op_form = op_b + 1, op_adds = op_form + (masked ? 5 : 1);
  uint32_t adds = PRED(op_adds);
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    Form f = form_of(w, i, l, (uint32_t)ROW(op_form)[l]);
    double a[kTensorLanes][kFloatK], b[kFloatK][kMostN];
    Tile tile = described(w, i, ROW(op_b)[l], f.b_by_mn);
    tile_read(w, i, &tile, f.b, 0, f.n, f.k, set_b, b);
    if (!tensor_a) {
      tile = described(w, i, ROW(2)[l], f.a_by_mn);
      tile_read(w, i, &tile, f.a, 0, f.m, f.k, set_a, a);
    }
    for (unsigned y = 0; y < f.m; ++y) {
      unsigned lane = lane_of(&f, y), per = in_register(f.a);
      if (masked && (ROW(op_form + 1 + lane / 32)[l] >> lane % 32 & 1) != 0)
        continue;
      if (tensor_a) {
        const uint32_t *words = tensor_at(w, i, l, (uint32_t)ADDRESS(2, l), lane, 0, 8);
        for (unsigned k = 0; k < f.k; ++k)
          a[y][k] = value(f.a, nth(f.a, words[k / per], k % per));
      }
      uint32_t *d = tensor_at(w, i, l, (uint32_t)ADDRESS(0, l), lane, 0, f.n);
      double sum[kMostN];
      for (unsigned x = 0; x < f.n; ++x)
        sum[x] = adds >> l & 1 ? value(f.d, nth(f.d, d[x], 0)) : 0;
      for (unsigned k = 0; k < f.k; ++k) {
        double factor = f.sign * a[y][k];
        for (unsigned x = 0; x < f.n; ++x)
          sum[x] += factor * b[k][x];
      }
      for (unsigned x = 0; x < f.n; ++x)
        d[x] = (uint32_t)rounded(f.d, sum[x], f.saturates);
    }
  }
}

/* op: the address of an mbarrier. */
OP(tcgen05_commit) { LANES(mbarrier_arrive(w, i, l, ADDRESS(0, l), 1, false);) }
