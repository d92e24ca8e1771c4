/* wmma. PTX leaves it open which lane has which element of a fragment: here lane l has those from
 * l * n / 32 on, of n that are counted row by row, or of b column by column. What registers are
 * left over has them again. */
#include "matrix.h"

typedef struct Fragment {
  unsigned rows, columns;
  Type type;
  bool by_column;
  unsigned op, registers;
} Fragment;

static Fragment fragment(unsigned rows, unsigned columns, Type type, bool by_column, unsigned op,
                         bool factor) {
  unsigned count = rows * columns / kLanes / in_register(type);
  return (Fragment){rows, columns, type, by_column, op, factor && type == kF16 ? 8 : count};
}

/* Which element of all a lane's one is. */
static unsigned number_of(const Fragment *f, unsigned lane, unsigned at) {
  unsigned each = f->rows * f->columns / kLanes;
  return lane * each + at % each;
}

static uint64_t get(Warp *w, const Instr *i, const Fragment *f, unsigned row_at, unsigned column) {
  unsigned number = f->by_column ? column * f->rows + row_at : row_at * f->columns + column;
  unsigned each = f->rows * f->columns / kLanes, at = number % each, per = in_register(f->type);
  return nth(f->type, ROW(f->op + at / per)[number / each], at % per);
}

/* extra: rows, columns, type, whether memory is by columns, 1 for a and 3 for b, whether there is a
 * stride. */
static Fragment moved(const Instr *i, unsigned op) {
  return fragment(i->extra[0], i->extra[1], (Type)i->extra[2], i->extra[4] == 3, op,
                  i->extra[4] != 0);
}

/* The address of a register's first element: the others are next to it, if there are any of them.
 */
static char *element_at(Warp *w, const Instr *i, const Fragment *f, unsigned lane, unsigned at,
                        unsigned op, unsigned bits, Access access) {
  unsigned behind = access == kRead ? op + 2 : op + 2 + f->registers;
  unsigned number = number_of(f, lane, at);
  unsigned y = f->by_column ? number % f->rows : number / f->columns;
  unsigned x = f->by_column ? number / f->rows : number % f->columns;
  bool by_column = i->extra[3];
  uint64_t stride = i->extra[5] ? (uint32_t)ROW(behind)[lane] : by_column ? f->rows : f->columns;
  uint64_t offset = by_column ? x * stride + y : y * stride + x;
  uint64_t address = ADDRESS(op, lane) + offset * kBits[f->type] / 8;
  unsigned size = bits / 8;
  if (address % size != 0) {
    fault(w, i, lane, kMisaligned,
          "an element of a matrix at %#llx, which is not aligned to %u bytes",
          (unsigned long long)address, size);
  }
  return memory_at(w, i, lane, (Space)i->space, address, size, access);
}

/* op: registers, an address, and perhaps a stride. */
OP(wmma_load) {
  if (!whole_warp(w, i, mask))
    return;
  Fragment f = moved(i, 0);
  unsigned per = in_register(f.type), bits = kBits[f.type] < 8 ? 32 : kBits[f.type];
  uint64_t made[kLanes][8] = {{0}};
  for (unsigned l = 0; l < kLanes; ++l) {
    for (unsigned at = 0; at < f.registers * per; at += bits / kBits[f.type]) {
      uint64_t found = 0;
      memcpy(&found, element_at(w, i, &f, l, at, f.registers, bits, kRead), bits / 8);
      made[l][at / per] |= found << at % per * kBits[f.type];
    }
  }
  for (unsigned l = 0; l < kLanes; ++l) {
    for (unsigned r = 0; r < f.registers; ++r)
      ROW(r)[l] = made[l][r];
  }
}

/* op: an address, registers, and perhaps a stride. */
OP(wmma_store) {
  if (!whole_warp(w, i, mask))
    return;
  Fragment f = moved(i, 2);
  unsigned per = in_register(f.type), bits = kBits[f.type];
  for (unsigned l = 0; l < kLanes; ++l) {
    for (unsigned at = 0; at < f.registers * per; ++at) {
      uint64_t value = nth(f.type, ROW(f.op + at / per)[l], at % per);
      memcpy(element_at(w, i, &f, l, at, 0, bits, kWrite), &value, bits / 8);
    }
  }
  w->block->m->progress = w->block->m->steps;
}

/* extra: m, n, k, the types of a and b, and those of c and (4 bits above) of d. */
typedef struct Product {
  unsigned m, n, k;
  Fragment a, b, c, d;
} Product;
enum { kMost = 32, kMostK = 128 };

static Product product_of(const Instr *i) {
  Product p = {.m = i->extra[0], .n = i->extra[1], .k = i->extra[2]};
  p.d = fragment(p.m, p.n, (Type)(i->extra[5] >> 4), false, 0, false);
  p.a = fragment(p.m, p.k, (Type)i->extra[3], false, p.d.registers, true);
  p.b = fragment(p.k, p.n, (Type)i->extra[4], true, p.a.op + p.a.registers, true);
  p.c = fragment(p.m, p.n, (Type)(i->extra[5] & 15), false, p.b.op + p.b.registers, false);
  return p;
}

static void put(Warp *w, const Instr *i, const Product *p, uint64_t made[kMost][kMost]) {
  unsigned per = in_register(p->d.type);
  for (unsigned l = 0; l < kLanes; ++l) {
    for (unsigned r = 0; r < p->d.registers; ++r) {
      uint64_t found = 0;
      for (unsigned k = 0; k < per; ++k) {
        unsigned number = number_of(&p->d, l, r * per + k);
        found |= made[number / p->n][number % p->n] << k * kBits[p->d.type];
      }
      ROW(r)[l] = found;
    }
  }
}

OP(wmma_float) {
  if (!whole_warp(w, i, mask))
    return;
  Product p = product_of(i);
  double a[kMost][16], b[16][kMost];
  uint64_t made[kMost][kMost];
  for (unsigned k = 0; k < p.k; ++k) {
    for (unsigned y = 0; y < p.m; ++y)
      a[y][k] = value(p.a.type, get(w, i, &p.a, y, k));
    for (unsigned x = 0; x < p.n; ++x)
      b[k][x] = value(p.b.type, get(w, i, &p.b, k, x));
  }
  for (unsigned y = 0; y < p.m; ++y) {
    for (unsigned x = 0; x < p.n; ++x) {
      double sum = value(p.c.type, get(w, i, &p.c, y, x));
      for (unsigned k = 0; k < p.k; ++k)
        sum += a[y][k] * b[k][x];
      made[y][x] = rounded(p.d.type, sum, false);
    }
  }
  put(w, i, &p, made);
}

/* Each product is added with one rounding, k in order. */
OP(wmma_f64) {
  if (!whole_warp(w, i, mask))
    return;
  Product p = product_of(i);
  uint64_t made[kMost][kMost];
  begin(i);
  for (unsigned y = 0; y < p.m; ++y) {
    for (unsigned x = 0; x < p.n; ++x) {
      double sum = f64_of(get(w, i, &p.c, y, x));
      for (unsigned k = 0; k < p.k; ++k)
        sum = fma(f64_of(get(w, i, &p.a, y, k)), f64_of(get(w, i, &p.b, k, x)), sum);
      made[y][x] = bits_of_f64(sum);
    }
  }
  end(i);
  put(w, i, &p, made);
}

/* The exact sum; it is cut to 32 bits, or with .satfinite clamped to them. Bits are compared, and
 * counted. */
OP(wmma_integer) {
  if (!whole_warp(w, i, mask))
    return;
  Product p = product_of(i);
  int a[kMost][kMostK], b[kMostK][kMost];
  uint64_t made[kMost][kMost];
  for (unsigned k = 0; k < p.k; ++k) {
    for (unsigned y = 0; y < p.m; ++y)
      a[y][k] = (int)integer(p.a.type, get(w, i, &p.a, y, k));
    for (unsigned x = 0; x < p.n; ++x)
      b[k][x] = (int)integer(p.b.type, get(w, i, &p.b, k, x));
  }
  for (unsigned y = 0; y < p.m; ++y) {
    for (unsigned x = 0; x < p.n; ++x) {
      int64_t sum = integer(kS32, get(w, i, &p.c, y, x));
      for (unsigned k = 0; k < p.k; ++k)
        sum += i->combine == kXor ? a[y][k] ^ b[k][x] : a[y][k] * b[k][x];
      if ((i->flags & kSatFinite) != 0)
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
      made[y][x] = (uint32_t)sum;
    }
  }
  put(w, i, &p, made);
}
