/* Integers: arithmetic, comparisons, selections. */
#include "engine.h"

#define FOR_SIGNED(M) M(s16, int16_t) M(s32, int32_t) M(s64, int64_t)
#define FOR_UNSIGNED(M) M(u16, uint16_t) M(u32, uint32_t) M(u64, uint64_t)
#define FOR_ALL(M) FOR_SIGNED(M) FOR_UNSIGNED(M)

/* The unsigned type of the same size computes without overflow. */
#define ARITHMETIC(name, T)                                                                    \
  OP(add_##name) { BINARY(T, (T)(a + b)) }                                                     \
  OP(sub_##name) { BINARY(T, (T)(a - b)) }                                                     \
  OP(mul_lo_##name) { BINARY(T, (T)((uint64_t)a * b)) }                                        \
  OP(mad_lo_##name) { TERNARY(T, (T)((uint64_t)a * b + c)) }
FOR_UNSIGNED(ARITHMETIC)

#define WIDE(name, T, D)                                                                       \
  OP(mul_wide_##name) { BINARY(D, (D)((D)(T)a * (D)(T)b)) }                                    \
  OP(mad_wide_##name) {                                                                        \
    uint64_t *d_ = ROW(0);                                                                     \
    const uint64_t *a_ = ROW(1), *b_ = ROW(2), *c_ = ROW(3);                                   \
    LANES(d_[l] = BITS(D, (uint64_t)((D)(T)a_[l] * (D)(T)b_[l]) + c_[l]););                    \
  }
WIDE(u16, uint16_t, uint32_t)
WIDE(s16, int16_t, int32_t)
WIDE(u32, uint32_t, uint64_t)
WIDE(s32, int32_t, int64_t)

#define HIGH(name, T, D) OP(mul_hi_##name) { BINARY(T, (T)(((D)a * (D)b) >> (8 * sizeof(T)))) }
HIGH(u16, uint16_t, uint32_t)
HIGH(s16, int16_t, int32_t)
HIGH(u32, uint32_t, uint64_t)
HIGH(s32, int32_t, int64_t)
HIGH(u64, uint64_t, unsigned __int128)
HIGH(s64, int64_t, __int128)

/* What PTX leaves open, division by zero, is all ones, as devices have it. */
#define DIVISION(name, T)                                                                      \
  OP(div_##name) { BINARY(T, b == 0 ? (T)-1 : b == (T)-1 && (T)-1 < 0 ? (T)(0 - (uint64_t)a) : (T)(a / b)) } \
  OP(rem_##name) { BINARY(T, b == 0 ? a : b == (T)-1 && (T)-1 < 0 ? 0 : (T)(a % b)) }          \
  OP(min_##name) { BINARY(T, a < b ? a : b) }                                                  \
  OP(max_##name) { BINARY(T, a > b ? a : b) }
FOR_ALL(DIVISION)

#define SIGNED(name, T)                                                                        \
  OP(abs_##name) { UNARY(T, a < 0 ? (T)(0 - (uint64_t)a) : a) }                                \
  OP(neg_##name) { UNARY(T, (T)(0 - (uint64_t)a)) }
FOR_SIGNED(SIGNED)

#define COMPARE(name, T)                                                                       \
  OP(setp_##name) {                                                                            \
    const uint64_t *a_ = ROW(2), *b_ = ROW(3);                                                 \
    uint32_t found = 0;                                                                        \
    switch ((Compare)i->compare) {                                                             \
    case kEq: LANES(found |= (uint32_t)((T)a_[l] == (T)b_[l]) << l;); break;                   \
    case kNe: LANES(found |= (uint32_t)((T)a_[l] != (T)b_[l]) << l;); break;                   \
    case kLt: LANES(found |= (uint32_t)((T)a_[l] < (T)b_[l]) << l;); break;                    \
    case kLe: LANES(found |= (uint32_t)((T)a_[l] <= (T)b_[l]) << l;); break;                   \
    case kGt: LANES(found |= (uint32_t)((T)a_[l] > (T)b_[l]) << l;); break;                    \
    default: LANES(found |= (uint32_t)((T)a_[l] >= (T)b_[l]) << l;); break;                    \
    }                                                                                          \
    set_compared(w, i, mask, found);                                                           \
  }

/* op: result, its complement, a, b, and with combine a predicate. */
void set_compared(Warp *w, const Instr *i, uint32_t mask, uint32_t found);
void set_compared(Warp *w, const Instr *i, uint32_t mask, uint32_t found) {
  uint32_t with = i->combine == 0 ? 0 : PRED(4), other = ~found;
  if (i->combine == kAnd) found &= with, other &= with;
  if (i->combine == kOr) found |= with, other |= with;
  if (i->combine == kXor) found ^= with, other ^= with;
  SET_PRED(0, found);
  SET_PRED(1, other);
}
FOR_ALL(COMPARE)

OP(selp) {
  uint64_t *d = ROW(0);
  const uint64_t *a = ROW(1), *b = ROW(2);
  uint32_t which = PRED(3);
  LANES(d[l] = which >> l & 1 ? a[l] : b[l];);
}
