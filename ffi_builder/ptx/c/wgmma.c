/* wgmma: products of four warps, with b and perhaps a in shared memory. Each warp computes its 16
 * rows when it comes to the instruction, which is before it may be waited for; wait_group waits
 * until the other warps have, too, as these read the same memory. */
#include "tile.h"

enum { kRows = 16, kMostN = 256 };

/* extra: n / 8 - 1; the first of the types of a and of b; which of them; the type of d; whether a
 * is in registers. op: d, a, b, whether c is added, and numbers: signs of a and b; how a and b are
 * transposed. */
typedef struct Group {
  unsigned n, k, registers, row; /* row: the first of this warp */
  Type a, b, d;
  bool a_in_registers;
  unsigned op_a, op_b, behind;
} Group;

static Group group_of(Warp *w, const Instr *i) {
  Group g = {.n = 8u * i->extra[0] + 8,
             .a = i->extra[1] + i->extra[2],
             .b = i->extra[1] + i->extra[3],
             .d = i->extra[4]};
  g.a_in_registers = i->extra[5];
  g.k = 256 / kBits[g.a];
  g.registers = g.op_a = g.n / 2 / in_register(g.d);
  g.op_b = g.op_a + (g.a_in_registers ? 4 : 1);
  g.behind = g.op_b + 2;
  g.row = w->number % 4 * kRows;
  if ((w->number | 3) >= w->block->warp_count)
    fault(w, i, 0, kWrong, "an instruction of four warps, of which there are not as many");
  ++w->wgmmas;
  return g;
}

/* The elements of d that a lane has: pairs of a row, then of the one 8 below, then 8 columns to the
 * right. */
static void place_d(unsigned lane, unsigned at, unsigned *y, unsigned *x) {
  *y = lane / 4 + at / 2 % 2 * 8;
  *x = at / 4 * 8 + lane % 4 * 2 + at % 2;
}

static Tile described(Warp *w, const Instr *i, uint64_t descriptor, bool by_mn) {
  static const uint8_t kWidths[] = {16, 128, 64, 32};
  return tile_of(w, i, descriptor, kWidths[descriptor >> 62], by_mn);
}

static void read_factors(Warp *w, const Instr *i, const Group *g, Set *set_a, void *a, Set *set_b,
                         void *b) {
  bool half = kBits[g->a] == 16; /* these may be transposed */
  unsigned of_b = g->behind + (g->a_in_registers ? 2 : 3);
  Tile tile = described(w, i, ROW(g->op_b)[0], half && i->op[of_b]);
  tile_read(w, i, &tile, g->b, 0, g->n, g->k, set_b, b);
  if (!g->a_in_registers) {
    tile = described(w, i, ROW(g->op_a)[0], half && i->op[g->behind + 2]);
    tile_read(w, i, &tile, g->a, g->row, kRows, g->k, set_a, a);
    return;
  }
  unsigned per = in_register(g->a);
  for (unsigned l = 0; l < kLanes; ++l) {
    for (unsigned at = 0; at < 4 * per; ++at) {
      unsigned reg = at / per, y = l / 4 + reg % 2 * 8, k = (reg / 2 * 4 + l % 4) * per + at % per;
      set_a(a, y, k, g->a, nth(g->a, ROW(g->op_a + reg)[l], at % per));
    }
  }
}

enum { kFloatK = 32, kIntegerK = 256 };
static void set_float_a(void *to, unsigned mn, unsigned k, Type type, uint64_t bits) {
  ((double (*)[kFloatK])to)[mn][k] = value(type, bits);
}
static void set_float_b(void *to, unsigned mn, unsigned k, Type type, uint64_t bits) {
  ((double (*)[kMostN])to)[k][mn] = value(type, bits);
}
static void set_integer_a(void *to, unsigned mn, unsigned k, Type type, uint64_t bits) {
  ((int16_t (*)[kIntegerK])to)[mn][k] = (int16_t)integer(type, bits);
}
static void set_integer_b(void *to, unsigned mn, unsigned k, Type type, uint64_t bits) {
  ((int16_t (*)[kMostN])to)[k][mn] = (int16_t)integer(type, bits);
}

OP(wgmma_float) {
  if (!whole_warp(w, i, mask))
    return;
  Group g = group_of(w, i);
  double a[kRows][kFloatK], b[kFloatK][kMostN], c[kRows][kMostN];
  unsigned y, x, per = in_register(g.d);
  read_factors(w, i, &g, set_float_a, a, set_float_b, b);
  bool adds = PRED(g.behind - 1) & 1;
  double sign = (int32_t)i->op[g.behind] * (int32_t)i->op[g.behind + 1];
  for (unsigned l = 0; l < kLanes; ++l) {
    for (unsigned at = 0; at < g.n / 2; ++at) {
      place_d(l, at, &y, &x);
      c[y][x] = adds ? value(g.d, nth(g.d, ROW(at / per)[l], at % per)) : 0;
    }
  }
  for (y = 0; y < kRows; ++y) {
    for (unsigned k = 0; k < g.k; ++k) {
      double factor = sign * a[y][k];
      for (x = 0; x < g.n; ++x)
        c[y][x] += factor * b[k][x];
    }
  }
  for (unsigned l = 0; l < kLanes; ++l) {
    for (unsigned r = 0; r < g.registers; ++r) {
      uint64_t made = 0;
      for (unsigned at = 0; at < per; ++at) {
        place_d(l, r * per + at, &y, &x);
        made |= rounded(g.d, c[y][x], false) << (at * kBits[g.d]);
      }
      ROW(r)[l] = made;
    }
  }
}

/* Of bits, those that are in both are counted. */
OP(wgmma_integer) {
  if (!whole_warp(w, i, mask))
    return;
  Group g = group_of(w, i);
  int16_t a[kRows][kIntegerK], b[kIntegerK][kMostN];
  read_factors(w, i, &g, set_integer_a, a, set_integer_b, b);
  bool adds = PRED(g.behind - 1) & 1;
  for (unsigned l = 0; l < kLanes; ++l) {
    for (unsigned at = 0; at < g.registers; ++at) {
      unsigned y, x;
      place_d(l, at, &y, &x);
      int64_t sum = adds ? integer(kS32, ROW(at)[l]) : 0;
      for (unsigned k = 0; k < g.k; ++k)
        sum += a[y][k] * b[k][x];
      if ((i->flags & kSatFinite) != 0)
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
      ROW(at)[l] = (uint32_t)sum;
    }
  }
}

OP(wgmma_wait) {
  if (!whole_warp(w, i, mask))
    return;
  const Block *b = w->block;
  for (unsigned number = w->number & ~3u; number <= (w->number | 3) && number < b->warp_count;
       ++number) {
    const Warp *other = &b->warps[number];
    if (other->live == 0 || (int32_t)(other->wgmmas - w->wgmmas) >= 0)
      continue;
    --w->pc;
    w->yield = true;
    return;
  }
}
