/* Bits: moves, logic, shifts, fields, permutations. */
#include "engine.h"

OP(mov) {
  uint64_t *d = ROW(0);
  const uint64_t *a = ROW(1);
  LANES(d[l] = a[l];);
}

OP(mov_pred) { SET_PRED(0, PRED(1)); }
OP(and_pred) { SET_PRED(0, PRED(1) & PRED(2)); }
OP(or_pred) { SET_PRED(0, PRED(1) | PRED(2)); }
OP(xor_pred) { SET_PRED(0, PRED(1) ^ PRED(2)); }
OP(not_pred) { SET_PRED(0, ~PRED(1)); }

/* Into count registers, of size bytes together. */
OP(mov_unpack) {
  unsigned count = i->count, bits = 8u * i->size / count;
  const uint64_t *a = ROW(count);
  uint64_t ones = ~0ull >> (64 - bits);
  LANES(uint64_t v = a[l];
        for (unsigned k = 0; k < count; ++k) ROW(k)[l] = v >> (bits * k) & ones;);
}
OP(mov_pack) {
  uint64_t *d = ROW(0);
  unsigned count = i->count, bits = 8u * i->size / count;
  LANES(uint64_t v = 0; for (unsigned k = 0; k < count; ++k) v |= ROW(1 + k)[l] << (bits * k);
        d[l] = v;);
}

/* 128 bits are two rows. */
OP(mov_b128) {
  uint64_t *d = ROW(0);
  const uint64_t *a = ROW(1);
  LANES(d[l] = a[l]; d[l + kLanes] = a[l + kLanes];);
}
OP(mov_unpack_b128) {
  const uint64_t *a = ROW(2);
  LANES(uint64_t low = a[l]; uint64_t high = a[l + kLanes]; ROW(0)[l] = low; ROW(1)[l] = high;);
}
OP(mov_pack_b128) {
  uint64_t *d = ROW(0);
  LANES(uint64_t low = ROW(1)[l]; uint64_t high = ROW(2)[l]; d[l] = low; d[l + kLanes] = high;);
}

#define LOGIC(name, T)                                                                             \
  OP(and_##name){BINARY(T, a & b)} OP(or_##name){BINARY(T, a | b)} OP(xor_##name){                 \
      BINARY(T, a ^ b)} OP(not_##name){UNARY(T, (T)~a)} OP(cnot_##name) {                          \
    UNARY(T, a == 0)                                                                               \
  }
LOGIC(b16, uint16_t)
LOGIC(b32, uint32_t)
LOGIC(b64, uint64_t)

/* By more than the size: as by the size. The amount is 32 bits whatever the type. */
#define SHIFT(name, T, S)                                                                          \
  OP(shl_##name) {                                                                                 \
    uint64_t *d_ = ROW(0);                                                                         \
    const uint64_t *a_ = ROW(1), *b_ = ROW(2);                                                     \
    LANES(uint32_t by = (uint32_t)b_[l]; d_[l] = by >= 8 * sizeof(T) ? 0 : BITS(T, a_[l] << by);); \
  }                                                                                                \
  OP(shr_u_##name) {                                                                               \
    uint64_t *d_ = ROW(0);                                                                         \
    const uint64_t *a_ = ROW(1), *b_ = ROW(2);                                                     \
    LANES(uint32_t by = (uint32_t)b_[l];                                                           \
          d_[l] = by >= 8 * sizeof(T) ? 0 : BITS(T, (T)a_[l] >> by););                             \
  }                                                                                                \
  OP(shr_s_##name) {                                                                               \
    uint64_t *d_ = ROW(0);                                                                         \
    const uint64_t *a_ = ROW(1), *b_ = ROW(2);                                                     \
    LANES(uint32_t by = (uint32_t)b_[l]; if (by >= 8 * sizeof(T)) by = 8 * sizeof(T) - 1;          \
          d_[l] = BITS(T, (S)a_[l] >> by););                                                       \
  }
SHIFT(b16, uint16_t, int16_t)
SHIFT(b32, uint32_t, int32_t)
SHIFT(b64, uint64_t, int64_t)

/* What is as much as an amount says. clamp: more than 32 is 32; or it is taken modulo 32. */
static unsigned limited(bool clamp, uint64_t amount) {
  return clamp ? (amount > 32 ? 32 : (unsigned)amount) : (unsigned)amount & 31;
}

/* Through 64 bits; extra: whether the amount is clamped. */
#define FUNNEL(name, expression)                                                                   \
  OP(shf_##name) {                                                                                 \
    TERNARY(uint64_t, ({                                                                           \
              unsigned by = limited(i->extra[0], c);                                               \
              uint64_t both = b << 32 | a;                                                         \
              (uint32_t)(expression);                                                              \
            }))                                                                                    \
  }
FUNNEL(l, (both << by) >> 32)
FUNNEL(r, both >> by)

/* Of three operands, by a table of eight bits: each of them becomes a mask. */
typedef struct Lookup {
  uint32_t all[8];
} Lookup;
static Lookup lookup(uint32_t table) {
  Lookup made;
  for (unsigned at = 0; at < 8; ++at)
    made.all[at] = 0 - (table >> at & 1);
  return made;
}
static inline uint32_t looked_up(const Lookup *t, uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t *all = t->all;
  uint32_t of_b[] = {(~c & all[0]) | (c & all[1]), (~c & all[2]) | (c & all[3])};
  uint32_t of_ab[] = {(~c & all[4]) | (c & all[5]), (~c & all[6]) | (c & all[7])};
  return (~a & ((~b & of_b[0]) | (b & of_b[1]))) | (a & ((~b & of_ab[0]) | (b & of_ab[1])));
}
OP(lop3) {
  Lookup table = lookup(i->op[4]);
  TERNARY(uint32_t, looked_up(&table, a, b, c))
}
/* op: result, predicate, a, b, c, table, predicate. */
OP(lop3_pred) {
  uint64_t *d = ROW(0);
  const uint64_t *a = ROW(2), *b = ROW(3), *c = ROW(4);
  uint32_t set = 0, with = PRED(6);
  Lookup table = lookup(i->op[5]);
  LANES(uint32_t v = looked_up(&table, (uint32_t)a[l], (uint32_t)b[l], (uint32_t)c[l]); d[l] = v;
        set |= (uint32_t)(v != 0) << l;);
  SET_PRED(1, i->combine == kAnd ? set & with : set | with);
}

/* Fields: where they begin and how long they are is in the low 8 bits of b and c. */
#define EXTRACT(name, T)                                                                           \
  OP(bfe_##name) {                                                                                 \
    TERNARY(T, ({                                                                                  \
              const unsigned last = 8 * sizeof(T) - 1;                                             \
              unsigned at = b & 0xff, size = c & 0xff;                                             \
              unsigned top = at + size - 1 < last ? at + size - 1 : last;                          \
              T moved = (T)((uint64_t)a << (last - top));                                          \
              unsigned by = last - top + at;                                                       \
              size == 0 ? 0 : by > last ? (T)(moved >> last >> 1) : (T)(moved >> by);              \
            }))                                                                                    \
  }
EXTRACT(u32, uint32_t)
EXTRACT(s32, int32_t)
EXTRACT(u64, uint64_t)
EXTRACT(s64, int64_t)
#define FIELD(name, T)                                                                             \
  OP(brev_##name){UNARY(T, ({                                                                      \
                          T turned = 0;                                                            \
                          for (unsigned at = 0; at < 8 * sizeof(T); ++at)                          \
                            turned = (T)(turned << 1 | (a >> at & 1));                             \
                          turned;                                                                  \
                        }))} OP(bfi_##name) {                                                      \
    uint64_t *d_ = ROW(0);                                                                         \
    const uint64_t *a_ = ROW(1), *b_ = ROW(2), *c_ = ROW(3), *e_ = ROW(4);                         \
    LANES(unsigned at = c_[l] & 0xff; unsigned size = e_[l] & 0xff;                                \
          T ones = size < 8 * sizeof(T) ? ((T)1 << size) - 1 : (T) - 1;                            \
          ones = at < 8 * sizeof(T) ? (T)(ones << at) : 0;                                         \
          d_[l] = ((at < 8 * sizeof(T) ? a_[l] << at : 0) & ones) | ((T)b_[l] & (T)~ones););       \
  }
FIELD(b32, uint32_t)
FIELD(b64, uint64_t)

/* From bit a on, b ones. extra: whether both are clamped. */
OP(bmsk){BINARY(uint32_t, ({
                  uint64_t ones = (1ull << limited(i->extra[0], b)) - 1;
                  (uint32_t)(ones << limited(i->extra[0], a));
                }))}

/* Of the lower b bits, to 32. extra: as bmsk, and whether they are signed. */
OP(szext){BINARY(uint32_t, ({
                   unsigned size = limited(i->extra[0], b);
                   unsigned room = 64 - size;
                   uint64_t top = size == 0 ? 0 : (uint64_t)a << room;
                   size == 0     ? 0
                   : i->extra[1] ? (uint32_t)((int64_t)top >> room)
                                 : (uint32_t)(top >> room);
                 }))}

/* Bytes of b:a. A selector has four bits for a byte of the result: which, and whether its sign. */
OP(prmt){TERNARY(uint32_t, ({
                   uint64_t both = (uint64_t)b << 32 | a;
                   uint32_t made = 0;
                   for (unsigned k = 0; k < 4; ++k) {
                     uint32_t which = c >> (4 * k) & 15, byte = both >> (8 * (which & 7)) & 0xff;
                     made |= (which & 8 ? (byte >> 7) * 0xff : byte) << (8 * k);
                   }
                   made;
                 }))}
/* extra: forward, backward, one byte for all, clamped to the left, clamped to the right, halves. */
OP(prmt_mode) {
  TERNARY(uint32_t, ({
            uint64_t both = (uint64_t)b << 32 | a;
            uint32_t made = 0, s = c & 3;
            for (unsigned k = 0; k < 4; ++k) {
              const unsigned from[] = {s + k,         (s + 8 - k) & 7, s,
                                       k > s ? k : s, k < s ? k : s,   (s & 1) * 2 + (k & 1)};
              made |= (uint32_t)(both >> (8 * from[i->extra[0]]) & 0xff) << (8 * k);
            }
            made;
          }))
}
