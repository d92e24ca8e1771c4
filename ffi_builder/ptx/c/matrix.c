/* ldmatrix, stmatrix, movmatrix, and mma. */
#include "matrix.h"

/* Matrices of 8 rows, 16 bytes each; row k of matrix m is at the address of lane 8 * m + k. Lane l
 * has two elements of each: 2 * (l % 4) and the next one of row l / 4, or, transposed, of column l
 * / 4. */
enum { kRowBytes = 16 };
static char *row_at(Warp *w, const Instr *i, unsigned lane, unsigned op, Access access) {
  uint64_t address = ADDRESS(op, lane);
  if (address % kRowBytes != 0) {
    fault(w, i, lane, kMisaligned, "a row of a matrix at %#llx, which is not aligned to 16 bytes",
          (unsigned long long)address);
  }
  if (i->space == kGeneric && (address & kWindows) != kSharedWindow) {
    fault(w, i, lane, kIllegal, "a row of a matrix at %#llx, which is no shared memory",
          (unsigned long long)address);
  }
  return memory_at(w, i, lane, (Space)i->space, address, kRowBytes, access);
}

static unsigned element(const Instr *i, unsigned lane, unsigned half) {
  unsigned row = lane / 4, column = lane % 4 * 2 + half;
  return i->extra[1] ? column * 8 + row : row * 8 + column;
}

/* op: registers, an address. extra: how many matrices, whether they are transposed. */
OP(ldmatrix) {
  if (!whole_warp(w, i, mask))
    return;
  uint16_t found[4][64];
  unsigned count = i->extra[0];
  for (unsigned k = 0; k < 8 * count; ++k) {
    memcpy(&found[k / 8][k % 8 * 8], row_at(w, i, k, count, kRead), kRowBytes);
  }
  for (unsigned m = 0; m < count; ++m) {
    uint64_t *d = ROW(m);
    for (unsigned l = 0; l < kLanes; ++l)
      d[l] = found[m][element(i, l, 0)] | (uint32_t)found[m][element(i, l, 1)] << 16;
  }
}

/* op: an address, registers. */
OP(stmatrix) {
  if (!whole_warp(w, i, mask))
    return;
  unsigned count = i->extra[0];
  for (unsigned m = 0; m < count; ++m) {
    uint16_t made[64];
    const uint64_t *a = ROW(2 + m);
    for (unsigned l = 0; l < kLanes; ++l) {
      made[element(i, l, 0)] = (uint16_t)a[l];
      made[element(i, l, 1)] = (uint16_t)(a[l] >> 16);
    }
    for (unsigned k = 0; k < 8; ++k)
      memcpy(row_at(w, i, 8 * m + k, 0, kWrite), &made[8 * k], kRowBytes);
  }
  w->block->m->progress = w->block->m->steps;
}

OP(movmatrix) {
  if (!whole_warp(w, i, mask))
    return;
  uint16_t found[64];
  uint64_t *d = ROW(0);
  const uint64_t *a = ROW(1);
  for (unsigned l = 0; l < kLanes; ++l) {
    found[l * 2] = (uint16_t)a[l];
    found[l * 2 + 1] = (uint16_t)(a[l] >> 16);
  }
  for (unsigned l = 0; l < kLanes; ++l)
    d[l] = found[element(i, l, 0)] | (uint32_t)found[element(i, l, 1)] << 16;
}

/* What an instruction multiplies: m rows of a, 8 columns of b, k of both. extra: m, a fourth of k,
 * types. */
typedef struct Shape {
  unsigned m, k;
  Type a, b, c, d;
} Shape;
enum { kMaxM = 16, kN = 8, kMaxK = 64 };

static Shape shape_of(const Instr *i) {
  return (Shape){i->extra[0],       4u * i->extra[1],  (Type)i->extra[2],
                 (Type)i->extra[3], (Type)i->extra[4], (Type)i->extra[5]};
}

/* Reads a or b: a lane has neighbours along k in a register. Of two registers, the second is 8 rows
 * below, if there are as many (high: how many times 8), and the next ones are behind them. */
static void read_factor(Warp *w, const Instr *i, Type type, unsigned op, unsigned count,
                        unsigned high, double *to, unsigned line, unsigned step) {
  unsigned per = in_register(type);
  for (unsigned r = 0; r < count; ++r) {
    const uint64_t *from = ROW(op + r);
    double *first = to + r % high * 8 * line + r / high * 4 * per * step;
    for (unsigned l = 0; l < kLanes; ++l) {
      double found[8];
      values(type, from[l], found);
      for (unsigned at = 0; at < per; ++at)
        first[l / 4 * line + (l % 4 * per + at) * step] = found[at];
    }
  }
}

static void place_c(unsigned lane, unsigned at, unsigned *y, unsigned *x) {
  *y = lane / 4 + at / 2 * 8;
  *x = lane % 4 * 2 + at % 2;
}

/* How many elements a lane has, and how many registers. */
static unsigned a_count(const Shape *s) { return s->m * s->k / kLanes; }
static unsigned b_count(const Shape *s) { return s->k * kN / kLanes; }
static unsigned c_count(const Shape *s) { return s->m * kN / kLanes; }
static unsigned registers(Type type, unsigned count) {
  return (count + in_register(type) - 1) / in_register(type);
}

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

/* Scales of rows of a and of columns of b: one for each part of k. */
enum { kMostParts = 4 };
typedef struct Scales {
  unsigned parts;
  double a[kMaxM][kMostParts], b[kN][kMostParts];
} Scales;

static void multiply(Warp *w, const Instr *i, Shape s, const Scales *scales) {
  Operands o = operands_of(&s);
  double a[kMaxM][kMaxK], b[kMaxK][kN], c[kMaxM][kN];
  unsigned y, x, k;
  read_factor(w, i, s.a, o.a, o.b - o.a, s.m / 8, a[0], kMaxK, 1);
  read_factor(w, i, s.b, o.b, o.c - o.b, 1, b[0], 1, kN);
  for (unsigned l = 0; l < kLanes; ++l) {
    for (unsigned at = 0, per = in_register(s.c); at < c_count(&s); ++at) {
      place_c(l, at, &y, &x);
      c[y][x] = value(s.c, nth(s.c, ROW(o.c + at / per)[l], at % per));
    }
  }
  for (k = 0; scales != NULL && k < s.k; ++k) {
    unsigned part = k * scales->parts / s.k;
    for (y = 0; y < s.m; ++y)
      a[y][k] *= scales->a[y][part];
    for (x = 0; x < kN; ++x)
      b[k][x] *= scales->b[x][part];
  }
  for (y = 0; y < s.m; ++y) {
    for (k = 0; k < s.k; ++k) {
      for (x = 0; x < kN; ++x)
        c[y][x] += a[y][k] * b[k][x];
    }
  }
  for (unsigned l = 0; l < kLanes; ++l) {
    uint64_t made[4] = {0};
    for (unsigned at = 0, per = in_register(s.d); at < c_count(&s); ++at) {
      place_c(l, at, &y, &x);
      made[at / per] |= rounded(s.d, c[y][x], i->flags & kSatFinite) << (at % per * kBits[s.d]);
    }
    for (unsigned r = 0; r < o.a; ++r)
      ROW(r)[l] = made[r];
  }
}

OP(mma) {
  if (whole_warp(w, i, mask))
    multiply(w, i, shape_of(i), NULL);
}

/* A scale is a power of two, or an e4m3 without a sign. */
static double scale(bool power, uint32_t bits) {
  if (!power)
    return decoded(kE4m3, bits & 0x7f);
  return bits == 0xff ? NAN : ldexp(1, (int)bits - 127);
}

/* op: d, a, b, c; scales of a, a byte and which lanes of four have them, and those of b. Of two
 * lanes, the second has the scales of the rows below. extra: parts of k, a fourth of k, types,
 * whether scales are powers. */
OP(mma_scaled) {
  if (!whole_warp(w, i, mask))
    return;
  Shape s = {16, 4u * i->extra[1], i->extra[2], i->extra[3], kF32, kF32};
  Scales scales = {.parts = i->extra[0]};
  Operands o = operands_of(&s);
  unsigned first = o.c + 4, most = kMostParts - scales.parts;
  uint32_t byte_a = (uint16_t)ROW(first + 1)[0], pair = (uint16_t)ROW(first + 2)[0];
  uint32_t byte_b = (uint16_t)ROW(first + 4)[0], lane = (uint16_t)ROW(first + 5)[0];
  if (byte_a > most || byte_b > most || byte_a % scales.parts != 0 || byte_b % scales.parts != 0 ||
      pair > 1 || lane > 3) {
    fault(w, i, 0, kWrong, "scales from bytes %u and %u of lanes %u and %u, which there are not",
          byte_a, byte_b, pair, lane);
  }
  for (unsigned part = 0; part < scales.parts; ++part) {
    for (unsigned y = 0; y < s.m; ++y) {
      uint64_t bits = ROW(first)[y % 8 * 4 + 2 * pair + y / 8];
      scales.a[y][part] = scale(i->extra[4], bits >> (8 * (byte_a + part)) & 0xff);
    }
    for (unsigned x = 0; x < kN; ++x) {
      uint64_t bits = ROW(first + 3)[x * 4 + lane];
      scales.b[x][part] = scale(i->extra[4], bits >> (8 * (byte_b + part)) & 0xff);
    }
  }
  multiply(w, i, s, &scales);
}

/* Each product is added with one rounding, k in order. */
OP(mma_f64) {
  if (!whole_warp(w, i, mask))
    return;
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
    for (unsigned at = 0; at < c_count(&s); ++at)
      ROW(at)[l] = bits_of_f64(made[l][at]);
  }
}

/* Counts the bits that are in both (.and), or in one of them (.xor). extra: m, and a fourth of k.
 */
OP(mma_b1) {
  if (!whole_warp(w, i, mask))
    return;
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
    for (unsigned at = 0; at < count; ++at)
      ROW(at)[l] = made[l][at];
  }
}

/* Four products of 8 by 8 by 4: each is of four lanes, and of those 16 above, which have the rows
 * and columns from 4 on. */
static void place_quad(Type type, unsigned l, unsigned at, unsigned *y, unsigned *x) {
  bool half = type == kF16;
  *y = l / 16 * 4 + (half ? l % 4 : (l & 1) + (at & 2));
  *x = half ? at : (at & 4) + (l & 2) + (at & 1);
}

/* extra: whether a and b are by columns, the types of c and d. */
OP(mma_quads) {
  if (!whole_warp(w, i, mask))
    return;
  bool a_by_column = i->extra[0], b_by_column = i->extra[1];
  Type type_c = i->extra[2], type_d = i->extra[3];
  unsigned op_a = registers(type_d, 8), op_b = op_a + 2, op_c = op_b + 2, y, x;
  double a[4][8][4], b[4][4][8], c[4][8][8];
  for (unsigned l = 0; l < kLanes; ++l) {
    unsigned quad = l % 16 / 4, own = l % 4, upper = l / 16 * 4;
    for (unsigned at = 0; at < 4; ++at) {
      double of_a = f16_value(nth(kF16, ROW(op_a + at / 2)[l], at % 2)),
             of_b = f16_value(nth(kF16, ROW(op_b + at / 2)[l], at % 2));
      if (a_by_column)
        a[quad][upper + at][own] = of_a;
      else
        a[quad][upper + own][at] = of_a;
      if (b_by_column)
        b[quad][at][upper + own] = of_b;
      else
        b[quad][own][upper + at] = of_b;
    }
    for (unsigned at = 0, per = in_register(type_c); at < 8; ++at) {
      place_quad(type_c, l, at, &y, &x);
      c[quad][y][x] = value(type_c, nth(type_c, ROW(op_c + at / per)[l], at % per));
    }
  }
  for (unsigned l = 0; l < kLanes; ++l) {
    unsigned quad = l % 16 / 4, per = in_register(type_d);
    uint64_t made[8] = {0};
    for (unsigned at = 0; at < 8; ++at) {
      place_quad(type_d, l, at, &y, &x);
      double sum = c[quad][y][x];
      for (unsigned k = 0; k < 4; ++k)
        sum += a[quad][y][k] * b[quad][k][x];
      made[at / per] |= rounded(type_d, sum, false) << (at % per * kBits[type_d]);
    }
    for (unsigned r = 0; r < op_a; ++r)
      ROW(r)[l] = made[r];
  }
}
