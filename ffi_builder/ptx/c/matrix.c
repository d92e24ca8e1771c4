/* ldmatrix, stmatrix, movmatrix, and mma. */
#include "matrix.h"

/* Matrices of 8 rows, 16 bytes each; row k of matrix m is at the address of lane 8 * m + k. Lane l has
 * two elements of each: 2 * (l % 4) and the next one of row l / 4, or, transposed, of column l / 4. */
enum { kRowBytes = 16 };
static char *row_at(Warp *w, const Instr *i, unsigned lane, unsigned op, Access access) {
  uint64_t address = ADDRESS(op, lane);
  if (address % kRowBytes != 0) {
    fault(w, i, lane, kMisaligned, "a row of a matrix at %#llx, which is not aligned to 16 bytes", (unsigned long long)address);
  }
  if (i->space == kGeneric && (address & kWindows) != kSharedWindow) {
    fault(w, i, lane, kIllegal, "a row of a matrix at %#llx, which is no shared memory", (unsigned long long)address);
  }
  return memory_at(w, i, lane, (Space)i->space, address, kRowBytes, access);
}

static unsigned element(const Instr *i, unsigned lane, unsigned half) {
  unsigned row = lane / 4, column = lane % 4 * 2 + half;
  return i->extra[1] ? column * 8 + row : row * 8 + column;
}

/* op: registers, an address. extra: how many matrices, whether they are transposed. */
OP(ldmatrix) {
  if (!whole_warp(w, i, mask)) return;
  uint16_t found[4][64];
  unsigned count = i->extra[0];
  for (unsigned k = 0; k < 8 * count; ++k) {
    memcpy(&found[k / 8][k % 8 * 8], row_at(w, i, k, count, kRead), kRowBytes);
  }
  for (unsigned m = 0; m < count; ++m) {
    uint64_t *d = ROW(m);
    for (unsigned l = 0; l < kLanes; ++l) d[l] = found[m][element(i, l, 0)] | (uint32_t)found[m][element(i, l, 1)] << 16;
  }
}

/* op: an address, registers. */
OP(stmatrix) {
  if (!whole_warp(w, i, mask)) return;
  unsigned count = i->extra[0];
  for (unsigned m = 0; m < count; ++m) {
    uint16_t made[64];
    const uint64_t *a = ROW(2 + m);
    for (unsigned l = 0; l < kLanes; ++l) {
      made[element(i, l, 0)] = (uint16_t)a[l];
      made[element(i, l, 1)] = (uint16_t)(a[l] >> 16);
    }
    for (unsigned k = 0; k < 8; ++k) memcpy(row_at(w, i, 8 * m + k, 0, kWrite), &made[8 * k], kRowBytes);
  }
  w->block->m->progress = w->block->m->steps;
}

OP(movmatrix) {
  if (!whole_warp(w, i, mask)) return;
  uint16_t found[64];
  uint64_t *d = ROW(0);
  const uint64_t *a = ROW(1);
  for (unsigned l = 0; l < kLanes; ++l) {
    found[l * 2] = (uint16_t)a[l];
    found[l * 2 + 1] = (uint16_t)(a[l] >> 16);
  }
  for (unsigned l = 0; l < kLanes; ++l) d[l] = found[element(i, l, 0)] | (uint32_t)found[element(i, l, 1)] << 16;
}

/* What an instruction multiplies: m rows of a, 8 columns of b, k of both. extra: m, a fourth of k, types. */
typedef struct Shape {
  unsigned m, k;
  Type a, b, c, d;
} Shape;
enum { kMaxM = 16, kN = 8, kMaxK = 64 };

static Shape shape_of(const Instr *i) {
  return (Shape){i->extra[0], 4u * i->extra[1], (Type)i->extra[2], (Type)i->extra[3], (Type)i->extra[4], (Type)i->extra[5]};
}

/* Where lanes have the elements of a: those of a register are neighbours in a row; of two registers,
 * the second is 8 rows below, if there are as many, and the next ones are behind them. */
static void place_a(const Shape *s, unsigned lane, unsigned at, unsigned *y, unsigned *k) {
  unsigned count = in_register(s->a), reg = at / count, high = s->m / 8;
  *y = lane / 4 + reg % high * 8;
  *k = (reg / high * 4 + lane % 4) * count + at % count;
}
static void place_b(const Shape *s, unsigned lane, unsigned at, unsigned *k, unsigned *x) {
  unsigned count = in_register(s->b);
  *x = lane / 4;
  *k = (at / count * 4 + lane % 4) * count + at % count;
}
static void place_c(unsigned lane, unsigned at, unsigned *y, unsigned *x) {
  *y = lane / 4 + at / 2 * 8;
  *x = lane % 4 * 2 + at % 2;
}

/* How many elements a lane has, and how many registers. */
static unsigned a_count(const Shape *s) { return s->m * s->k / kLanes; }
static unsigned b_count(const Shape *s) { return s->k * kN / kLanes; }
static unsigned c_count(const Shape *s) { return s->m * kN / kLanes; }
static unsigned registers(Type type, unsigned count) { return (count + in_register(type) - 1) / in_register(type); }

/* The operands that an instruction reads; op: d, a, b, c. */
typedef struct Operands {
  unsigned a, b, c;
} Operands;
static Operands operands_of(const Shape *s) {
  Operands o;
  o.a = registers(s->d, c_count(s));
  o.b = o.a + registers(s->a, a_count(s));
  o.c = o.b + registers(s->b, b_count(s));
  return o;
}

OP(mma_float) {
  if (!whole_warp(w, i, mask)) return;
  Shape s = shape_of(i);
  Operands o = operands_of(&s);
  double a[kMaxM][kMaxK], b[kMaxK][kN], c[kMaxM][kN];
  unsigned y, x, k;
  for (unsigned l = 0; l < kLanes; ++l) {
    for (unsigned at = 0, per = in_register(s.a); at < a_count(&s); ++at) {
      place_a(&s, l, at, &y, &k);
      a[y][k] = value(s.a, nth(s.a, ROW(o.a + at / per)[l], at % per));
    }
    for (unsigned at = 0, per = in_register(s.b); at < b_count(&s); ++at) {
      place_b(&s, l, at, &k, &x);
      b[k][x] = value(s.b, nth(s.b, ROW(o.b + at / per)[l], at % per));
    }
    for (unsigned at = 0, per = in_register(s.c); at < c_count(&s); ++at) {
      place_c(l, at, &y, &x);
      c[y][x] = value(s.c, nth(s.c, ROW(o.c + at / per)[l], at % per));
    }
  }
  for (y = 0; y < s.m; ++y) {
    for (k = 0; k < s.k; ++k) {
      for (x = 0; x < kN; ++x) c[y][x] += a[y][k] * b[k][x];
    }
  }
  for (unsigned l = 0; l < kLanes; ++l) {
    uint64_t made[4] = {0};
    for (unsigned at = 0, per = in_register(s.d); at < c_count(&s); ++at) {
      place_c(l, at, &y, &x);
      made[at / per] |= rounded(s.d, c[y][x]) << (at % per * kBits[s.d]);
    }
    for (unsigned r = 0; r < o.a; ++r) ROW(r)[l] = made[r];
  }
}

/* Each product is added with one rounding, k in order. */
OP(mma_f64) {
  if (!whole_warp(w, i, mask)) return;
  Shape s = shape_of(i);
  Operands o = operands_of(&s);
  double made[kLanes][4];
  for (unsigned l = 0; l < kLanes; ++l) {
    for (unsigned at = 0; at < c_count(&s); ++at) {
      unsigned y, x;
      place_c(l, at, &y, &x);
      double sum = f64_of(ROW(o.c + at)[l]);
      for (unsigned k = 0; k < s.k; ++k) {
        uint64_t a = ROW(o.a + k / 4 * (s.m / 8) + y / 8)[y % 8 * 4 + k % 4];
        sum = fma(f64_of(a), f64_of(ROW(o.b + k / 4)[x * 4 + k % 4]), sum);
      }
      made[l][at] = sum;
    }
  }
  for (unsigned l = 0; l < kLanes; ++l) {
    for (unsigned at = 0; at < c_count(&s); ++at) ROW(at)[l] = bits_of_f64(made[l][at]);
  }
}

/* The exact sum; it is cut to 32 bits, or with .satfinite clamped to them. */
OP(mma_integer) {
  if (!whole_warp(w, i, mask)) return;
  Shape s = shape_of(i);
  Operands o = operands_of(&s);
  int32_t a[kMaxM][kMaxK], b[kMaxK][kN];
  int64_t c[kMaxM][kN];
  unsigned y, x, k;
  for (unsigned l = 0; l < kLanes; ++l) {
    for (unsigned at = 0, per = in_register(s.a); at < a_count(&s); ++at) {
      place_a(&s, l, at, &y, &k);
      a[y][k] = (int32_t)integer(s.a, nth(s.a, ROW(o.a + at / per)[l], at % per));
    }
    for (unsigned at = 0, per = in_register(s.b); at < b_count(&s); ++at) {
      place_b(&s, l, at, &k, &x);
      b[k][x] = (int32_t)integer(s.b, nth(s.b, ROW(o.b + at / per)[l], at % per));
    }
    for (unsigned at = 0; at < c_count(&s); ++at) {
      place_c(l, at, &y, &x);
      c[y][x] = integer(kS32, ROW(o.c + at)[l]);
    }
  }
  for (y = 0; y < s.m; ++y) {
    for (k = 0; k < s.k; ++k) {
      for (x = 0; x < kN; ++x) c[y][x] += a[y][k] * b[k][x];
    }
  }
  for (unsigned l = 0; l < kLanes; ++l) {
    for (unsigned at = 0; at < c_count(&s); ++at) {
      place_c(l, at, &y, &x);
      int64_t sum = c[y][x];
      if ((i->flags & kSatFinite) != 0) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
      ROW(at)[l] = (uint32_t)sum;
    }
  }
}

/* Counts the bits that are in both (.and), or in one of them (.xor). extra: m, and a fourth of k. */
OP(mma_b1) {
  if (!whole_warp(w, i, mask)) return;
  unsigned high = i->extra[0] / 8, words = i->extra[1] / 32u, count = 2 * high;
  unsigned a = count, b = a + high * words, c = b + words;
  uint32_t made[kLanes][4];
  for (unsigned l = 0; l < kLanes; ++l) {
    for (unsigned at = 0; at < count; ++at) {
      unsigned y, x;
      place_c(l, at, &y, &x);
      made[l][at] = (uint32_t)ROW(c + at)[l];
      for (unsigned k = 0; k < words * 4; ++k) {
        uint32_t one = (uint32_t)ROW(a + k / 4 * high + y / 8)[y % 8 * 4 + k % 4];
        uint32_t other = (uint32_t)ROW(b + k / 4)[x * 4 + k % 4];
        made[l][at] += (uint32_t)__builtin_popcount(i->combine == kXor ? one ^ other : one & other);
      }
    }
  }
  for (unsigned l = 0; l < kLanes; ++l) {
    for (unsigned at = 0; at < count; ++at) ROW(at)[l] = made[l][at];
  }
}
