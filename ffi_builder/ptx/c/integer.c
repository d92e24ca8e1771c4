/* Integers: arithmetic, comparisons, selections, counts of bits. */
#include "engine.h"

#define FOR_SIGNED(M) M(s16, int16_t) M(s32, int32_t) M(s64, int64_t)
#define FOR_UNSIGNED(M) M(u16, uint16_t) M(u32, uint32_t) M(u64, uint64_t)
#define FOR_ALL(M) FOR_SIGNED(M) FOR_UNSIGNED(M)

/* The unsigned type of the same size computes without overflow. */
#define ARITHMETIC(name, T)                                                                        \
  OP(add_##name){BINARY(T, (T)(a + b))} OP(sub_##name){BINARY(T, (T)(a - b))} OP(mul_lo_##name){   \
      BINARY(T, (T)((uint64_t)a * b))} OP(mad_lo_##name) {                                         \
    TERNARY(T, (T)((uint64_t)a * b + c))                                                           \
  }
FOR_UNSIGNED(ARITHMETIC)

#define WIDE(name, T, D)                                                                           \
  OP(mul_wide_##name){BINARY(D, (D)((D)(T)a * (D)(T)b))} OP(mad_wide_##name) {                     \
    uint64_t *d_ = ROW(0);                                                                         \
    const uint64_t *a_ = ROW(1), *b_ = ROW(2), *c_ = ROW(3);                                       \
    LANES(d_[l] = BITS(D, (uint64_t)((D)(T)a_[l] * (D)(T)b_[l]) + c_[l]););                        \
  }
WIDE(u16, uint16_t, uint32_t)
WIDE(s16, int16_t, int32_t)
WIDE(u32, uint32_t, uint64_t)
WIDE(s32, int32_t, int64_t)

#define HIGH(name, T, D)                                                                           \
  OP(mul_hi_##name){BINARY(T, (T)(((D)a * (D)b) >> (8 * sizeof(T))))} OP(mad_hi_##name) {          \
    TERNARY(T, (uint64_t)(T)(((D)a * (D)b) >> (8 * sizeof(T))) + (uint64_t)c)                      \
  }
HIGH(u16, uint16_t, uint32_t)
HIGH(s16, int16_t, int32_t)
HIGH(u32, uint32_t, uint64_t)
HIGH(s32, int32_t, int64_t)
HIGH(u64, uint64_t, unsigned __int128)
HIGH(s64, int64_t, __int128)

static int32_t saturated(int64_t x) {
  return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : (int32_t)x;
}
OP(add_sat_s32){BINARY(int32_t, (uint32_t)saturated((int64_t)a + b))} OP(sub_sat_s32){
    BINARY(int32_t, (uint32_t)saturated((int64_t)a - b))} OP(mad_hi_sat_s32){
    TERNARY(int32_t, (uint32_t)saturated((((int64_t)a * b) >> 32) + c))}

/* 24 bits of each operand make 48; lo: the lower 32 of them, hi: the upper ones. */
#define LOW24(T, x) ((int64_t)((T)((uint32_t)(x) << 8) >> 8))
#define PRODUCT24(T) (LOW24(T, a) * LOW24(T, b))
#define BY24(name, T)                                                                              \
  OP(mul24_lo_##name){BINARY(T, (uint32_t)PRODUCT24(T))} OP(mul24_hi_##name){                      \
      BINARY(T, (uint32_t)(PRODUCT24(T) >> 16))} OP(mad24_lo_##name){                              \
      TERNARY(T, (uint32_t)(PRODUCT24(T) + c))} OP(mad24_hi_##name) {                              \
    TERNARY(T, (uint32_t)((PRODUCT24(T) >> 16) + c))                                               \
  }
BY24(u32, uint32_t) BY24(s32, int32_t)
    OP(mad24_hi_sat_s32){TERNARY(int32_t, (uint32_t)saturated((PRODUCT24(int32_t) >> 16) + c))}

/* What PTX leaves open, division by zero, is all ones, as devices have it. The least number by -1
   wraps; 0, which has been asked for, stands for -1 where there is none. */
#define MINUS_ONE(T) ((T) - 1 < 0 ? (T) - 1 : 0)
#define DIVISION(name, T)                                                                          \
  OP(div_##name){BINARY(T, b == 0              ? (T) - 1                                           \
                           : b == MINUS_ONE(T) ? (T)(0 - (uint64_t)a)                              \
                                               : (T)(a / b))} OP(rem_##name){                      \
      BINARY(T, b == 0              ? a                                                            \
                : b == MINUS_ONE(T) ? 0                                                            \
                                    : (T)(a % b))} OP(min_##name){                                 \
      BINARY(T, a < b ? a : b)} OP(max_##name){BINARY(T, a > b ? a : b)} OP(sad_##name) {          \
    TERNARY(T, (uint64_t)c + (a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b))      \
  }
FOR_ALL(DIVISION)

#define SIGNED(name, T)                                                                            \
  OP(abs_##name){UNARY(T, a < 0 ? (T)(0 - (uint64_t)a) : a)} OP(neg_##name) {                      \
    UNARY(T, (T)(0 - (uint64_t)a))                                                                 \
  }
    FOR_SIGNED(SIGNED) OP(min_relu_s32){BINARY(int32_t, (uint32_t)(a < 0 || b < 0 ? 0
                                                                   : a < b ? a
                                                                           : b))} OP(max_relu_s32){
        BINARY(int32_t, (uint32_t)(a < 0 && b < 0 ? 0
                                   : a > b        ? a
                                                  : b))}

/* Two halves of 16 bits. */
#define HALVES(name, T, expression)                                                                \
  static uint16_t half_##name(T a, T b) { return (uint16_t)(expression); }                         \
  static uint32_t upper_##name(uint32_t a, uint32_t b) {                                           \
    return (uint32_t)half_##name((T)(a >> 16), (T)(b >> 16)) << 16;                                \
  }                                                                                                \
  OP(name) { BINARY(uint32_t, half_##name((T)a, (T)b) | upper_##name(a, b)) }
HALVES(add_u16x2, uint16_t, a + b) HALVES(min_u16x2, uint16_t, a < b ? a : b)
    HALVES(max_u16x2, uint16_t, a > b ? a : b) HALVES(min_s16x2, int16_t, a < b ? a : b)
        HALVES(max_s16x2, int16_t, a > b ? a : b) HALVES(min_relu_s16x2, int16_t,
                                                         a < 0 || b < 0 ? 0
                                                         : a < b        ? a
                                                                        : b)
            HALVES(max_relu_s16x2, int16_t,
                   a < 0 && b < 0 ? 0
                   : a > b        ? a
                                  : b)

    /* With carry: extra is 1 to take it in, 2 to give it out, or 3. A borrow is a carry too. */
    enum {
      kTakes = 1,
      kGives = 2
    };
#define CARRIED(rows, T, ...)                                                                      \
  uint64_t *d_ = ROW(0);                                                                           \
  rows;                                                                                            \
  uint32_t out = 0;                                                                                \
  LANES(uint64_t with = i->extra[0] & kTakes ? w->carry >> l & 1 : 0; __VA_ARGS__;                 \
        d_[l] = BITS(T, sum); out |= (uint32_t)(sum >> (8 * sizeof(T)) & 1) << l;);                \
  if (i->extra[0] & kGives)                                                                        \
    w->carry = (w->carry & ~mask) | (out & mask);
#define TWO const uint64_t *a_ = ROW(1), *b_ = ROW(2)
#define THREE const uint64_t *a_ = ROW(1), *b_ = ROW(2), *c_ = ROW(3)
#define CARRY(name, T, D, S, W)                                                                    \
  OP(addc_##name){CARRIED(TWO, T, D sum = (D)a_[l] + b_[l] + with)} OP(subc_##name){               \
      CARRIED(TWO, T, D sum = (D)a_[l] - b_[l] - with)} OP(madc_lo_##name){                        \
      CARRIED(THREE, T, D sum = (D)(T)(a_[l] * b_[l]) + c_[l] + with)} OP(madc_hi_u##name){        \
      CARRIED(THREE, T,                                                                            \
              D sum =                                                                              \
                  (((D)a_[l] * b_[l]) >> (8 * sizeof(T))) + c_[l] + with)} OP(madc_hi_s##name) {   \
    CARRIED(THREE, T, W product = (W)(S)a_[l] * (S)b_[l];                                          \
            D sum = (D)(T)(product >> (8 * sizeof(T))) + c_[l] + with)                             \
  }
CARRY(b32, uint32_t, uint64_t, int32_t, int64_t)
CARRY(b64, uint64_t, unsigned __int128, int64_t, __int128)

/* With combine, a result and the predicate of operand `with`. */
uint32_t combined(Warp *w, const Instr *i, uint32_t found, unsigned with) {
  switch (i->combine) {
  case kAnd:
    return found & PRED(with);
  case kOr:
    return found | PRED(with);
  case kXor:
    return found ^ PRED(with);
  default:
    return found;
  }
}

/* op: result, its complement, a, b, and with combine a predicate. */
void set_compared(Warp *w, const Instr *i, uint32_t mask, uint32_t found) {
  uint32_t first = combined(w, i, found, 4), other = combined(w, i, ~found, 4);
  SET_PRED(0, first);
  SET_PRED(1, other);
}

/* op: result, a, b, and with combine a predicate. extra: whether the result is a float. */
void set_number(Warp *w, const Instr *i, uint32_t mask, uint32_t found) {
  uint32_t set = combined(w, i, found, 3);
  uint64_t *d = ROW(0), yes = i->extra[0] ? 0x3f800000 : 0xffffffff;
  LANES(d[l] = set >> l & 1 ? yes : 0;);
}

#define IF(T, comparison, operator)                                                                \
  case comparison:                                                                                 \
    LANES(found |= (uint32_t)((T)a_[l] operator(T) b_[l]) << l;);                                  \
    return found;
#define COMPARE(name, T)                                                                           \
  static uint32_t compared_##name(const Instr *i, uint32_t mask, const uint64_t *a_,               \
                                  const uint64_t *b_) {                                            \
    uint32_t found = 0;                                                                            \
    switch ((Compare)i->compare) {                                                                 \
      IF(T, kEq, ==)                                                                               \
      IF(T, kNe, !=)                                                                               \
      IF(T, kLt, <)                                                                                \
      IF(T, kLe, <=)                                                                               \
      IF(T, kGt, >)                                                                                \
    default:                                                                                       \
      IF(T, kGe, >=)                                                                               \
    }                                                                                              \
  }                                                                                                \
  OP(setp_##name) { set_compared(w, i, mask, compared_##name(i, mask, ROW(2), ROW(3))); }          \
  OP(set_##name) { set_number(w, i, mask, compared_##name(i, mask, ROW(1), ROW(2))); }
FOR_ALL(COMPARE)

OP(selp) {
  uint64_t *d = ROW(0);
  const uint64_t *a = ROW(1), *b = ROW(2);
  uint32_t which = PRED(3);
  LANES(d[l] = which >> l & 1 ? a[l] : b[l];);
}
OP(slct_s32) {
  uint64_t *d = ROW(0);
  const uint64_t *a = ROW(1), *b = ROW(2), *c = ROW(3);
  LANES(d[l] = (int32_t)c[l] >= 0 ? a[l] : b[l];);
}

/* Counts and places of bits. The places of none are all ones. */
OP(popc){UNARY(uint64_t, (unsigned)__builtin_popcountll(a))} OP(clz_b32){
    UNARY(uint32_t, (unsigned)(a == 0 ? 32 : __builtin_clz(a)))} OP(clz_b64){
    UNARY(uint64_t, (unsigned)(a == 0 ? 64 : __builtin_clzll(a)))}
#define FIND(name, T, M)                                                                           \
  static uint32_t found_##name(T a, bool amount) {                                                 \
    M bits = (M)(a < 0 ? ~a : a);                                                                  \
    unsigned at = 63 - (unsigned)__builtin_clzll(bits | 1);                                        \
    return bits == 0 ? UINT32_MAX : amount ? (unsigned)(8 * sizeof(T) - 1) - at : at;              \
  }                                                                                                \
  OP(bfind_##name) {                                                                               \
    uint64_t *d = ROW(0);                                                                          \
    const uint64_t *a = ROW(1);                                                                    \
    LANES(d[l] = found_##name((T)a[l], i->extra[0]););                                             \
  }
FIND(u32, uint32_t, uint32_t) FIND(s32, int32_t, uint32_t) FIND(u64, uint64_t, uint64_t)
    FIND(s64, int64_t, uint64_t)

    /* The bit number `offset` from the bit `base` on: upwards, or downwards if it is negative. */
    static uint32_t nth_set(uint32_t mask, uint32_t base, int32_t offset) {
  if (base > 31)
    return UINT32_MAX;
  if (offset == 0)
    return mask >> base & 1 ? base : UINT32_MAX;
  int64_t left = offset < 0 ? -(int64_t)offset : offset;
  for (uint32_t at = base; at < 32; at += offset < 0 ? -1u : 1u) {
    if ((mask >> at & 1) != 0 && --left == 0)
      return at;
  }
  return UINT32_MAX;
}
OP(fns) { TERNARY(uint32_t, nth_set(a, b, (int32_t)c)) }

/* extra: whether the parts of a and of b are signed; of dp2a, whether b's upper ones count. */
static int64_t part(uint64_t from, unsigned at, unsigned bits, bool is_signed) {
  int64_t top = (int64_t)(from << (64 - bits * (at + 1)));
  return is_signed ? top >> (64 - bits) : (int64_t)((uint64_t)top >> (64 - bits));
}
OP(dp4a){TERNARY(uint32_t, ({
                   uint32_t sum = c;
                   for (unsigned k = 0; k < 4; ++k)
                     sum += (uint32_t)(part(a, k, 8, i->extra[0]) * part(b, k, 8, i->extra[1]));
                   sum;
                 }))} OP(dp2a){
    TERNARY(uint32_t, ({
              uint32_t sum = c;
              for (unsigned k = 0; k < 2; ++k)
                sum += (uint32_t)(part(a, k, 16, i->extra[0]) *
                                  part(b, k + 2u * i->extra[2], 8, i->extra[1]));
              sum;
            }))}

/* The distances of the four bytes; extra: whether their sum is added to c. */
OP(vabsdiff4) {
  TERNARY(uint32_t, ({
            uint32_t each = 0, sum = c;
            for (unsigned k = 0; k < 4; ++k) {
              int64_t apart = part(a, k, 8, i->sign) - part(b, k, 8, i->sign);
              uint32_t distance = (uint32_t)(apart < 0 ? -apart : apart);
              each |= distance << (8 * k), sum += distance;
            }
            i->extra[0] ? sum : each;
          }))
}
