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
  const uint64_t *a = ROW(i->count);
  unsigned bits = 8u * i->size / i->count;
  LANES(uint64_t v = a[l]; for (unsigned k = 0; k < i->count; ++k) ROW(k)[l] = v >> (bits * k) & (~0ull >> (64 - bits)););
}

OP(mov_pack) {
  uint64_t *d = ROW(0);
  unsigned bits = 8u * i->size / i->count;
  LANES(uint64_t v = 0; for (unsigned k = 0; k < i->count; ++k) v |= ROW(1 + k)[l] << (bits * k); d[l] = v;);
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

#define LOGIC(name, T)                                                                         \
  OP(and_##name) { BINARY(T, a & b) }                                                          \
  OP(or_##name) { BINARY(T, a | b) }                                                           \
  OP(xor_##name) { BINARY(T, a ^ b) }                                                          \
  OP(not_##name) { UNARY(T, (T)~a) }                                                           \
  OP(cnot_##name) { UNARY(T, a == 0) }
LOGIC(b16, uint16_t)
LOGIC(b32, uint32_t)
LOGIC(b64, uint64_t)

/* By more than the size: as by the size. The amount is 32 bits whatever the type. */
#define SHIFT(name, T, S)                                                                      \
  OP(shl_##name) {                                                                             \
    uint64_t *d_ = ROW(0);                                                                     \
    const uint64_t *a_ = ROW(1), *b_ = ROW(2);                                                 \
    LANES(uint32_t by = (uint32_t)b_[l]; d_[l] = by >= 8 * sizeof(T) ? 0 : BITS(T, a_[l] << by);); \
  }                                                                                            \
  OP(shr_u_##name) {                                                                           \
    uint64_t *d_ = ROW(0);                                                                     \
    const uint64_t *a_ = ROW(1), *b_ = ROW(2);                                                 \
    LANES(uint32_t by = (uint32_t)b_[l]; d_[l] = by >= 8 * sizeof(T) ? 0 : BITS(T, (T)a_[l] >> by);); \
  }                                                                                            \
  OP(shr_s_##name) {                                                                           \
    uint64_t *d_ = ROW(0);                                                                     \
    const uint64_t *a_ = ROW(1), *b_ = ROW(2);                                                 \
    LANES(uint32_t by = (uint32_t)b_[l]; if (by >= 8 * sizeof(T)) by = 8 * sizeof(T) - 1;      \
          d_[l] = BITS(T, (S)a_[l] >> by););                                                   \
  }
SHIFT(b16, uint16_t, int16_t)
SHIFT(b32, uint32_t, int32_t)
SHIFT(b64, uint64_t, int64_t)
