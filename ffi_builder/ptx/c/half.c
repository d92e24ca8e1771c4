/* f16, bf16, and pairs of them. A double has each sum and product of two exactly; what has more
 * digits is rounded to odd first, so that rounding it to 16 bits is the only rounding. */
#include "floats.h"

enum { kSign = 0x8000, kNan16 = 0x7fff };

static inline double value(bool brain, uint32_t a) { return brain ? bf16_value(a) : f16_value(a); }
static inline uint32_t bits(bool brain, double x) {
  return (uint32_t)(brain ? bf16_bits(x) : f16_bits(x));
}
static inline bool is_nan(bool brain, uint32_t a) {
  return (a & 0x7fff) > (brain ? 0x7f80 : 0x7c00);
}

/* With .ftz, a subnormal is a zero of its sign. */
static inline uint32_t flush(const Instr *i, bool brain, uint32_t a) {
  return (i->flags & kFtz) != 0 && (a & (brain ? 0x7f80 : 0x7c00)) == 0 ? a & kSign : a;
}
static inline double operand(const Instr *i, bool brain, uint32_t a) {
  return value(brain, flush(i, brain, a));
}

/* Rounds; what .sat and .relu clamp to zero is +0. */
static inline uint32_t result(const Instr *i, bool brain, double x) {
  if ((i->flags & kSat) != 0)
    x = x > 0 ? fmin(x, 1) : 0;
  if ((i->flags & kRelu) != 0 && x <= 0)
    x = 0;
  return flush(i, brain, bits(brain, x));
}

/* a + b; if it has more digits than a double, its last one is odd. */
static inline double odd_sum(double a, double b) {
  double sum = a + b, rest = sum - a, lost = (a - (sum - rest)) + (b - rest);
  if (lost == 0 || isnan(lost) || (bits_of_f64(sum) & 1) != 0)
    return sum;
  return f64_of(bits_of_f64(sum) + ((lost > 0) == (sum > 0) ? 1 : -1));
}

static inline uint32_t add(const Instr *i, bool brain, uint32_t a, uint32_t b) {
  return result(i, brain, operand(i, brain, a) + operand(i, brain, b));
}
static inline uint32_t sub(const Instr *i, bool brain, uint32_t a, uint32_t b) {
  return result(i, brain, operand(i, brain, a) - operand(i, brain, b));
}
static inline uint32_t mul(const Instr *i, bool brain, uint32_t a, uint32_t b) {
  return result(i, brain, operand(i, brain, a) * operand(i, brain, b));
}
static inline uint32_t fma_(const Instr *i, bool brain, uint32_t a, uint32_t b, uint32_t c) {
  return result(i, brain,
                odd_sum(operand(i, brain, a) * operand(i, brain, b), operand(i, brain, c)));
}

static inline uint32_t neg(const Instr *i, bool brain, uint32_t a) {
  return flush(i, brain, a) ^ kSign;
}
static inline uint32_t abs_(const Instr *i, bool brain, uint32_t a) {
  return flush(i, brain, a) & ~(uint32_t)kSign;
}

/* Where a float is among all of them; -0 is before +0. */
static inline int32_t place(uint32_t a) {
  return a & kSign ? -1 - (int32_t)(a & 0x7fff) : (int32_t)a;
}

static inline uint32_t extreme(const Instr *i, bool brain, uint32_t a, uint32_t b, bool largest) {
  a = flush(i, brain, a);
  b = flush(i, brain, b);
  uint32_t sign = i->flags & kXorSign ? (a ^ b) & kSign : 0;
  if ((i->flags & kXorSign) != 0)
    a &= 0x7fff, b &= 0x7fff;
  bool no_a = is_nan(brain, a), no_b = is_nan(brain, b);
  if ((no_a && no_b) || ((i->flags & kNanWins) != 0 && (no_a || no_b)))
    return kNan16;
  if (no_a || no_b)
    return (no_a ? b : a) | sign;
  return ((place(a) > place(b)) == largest ? a : b) | sign;
}
static inline uint32_t min(const Instr *i, bool brain, uint32_t a, uint32_t b) {
  return extreme(i, brain, a, b, false);
}
static inline uint32_t max(const Instr *i, bool brain, uint32_t a, uint32_t b) {
  return extreme(i, brain, a, b, true);
}

/* PTX leaves some digits open: these are the nearest ones. */
static inline uint32_t ex2(const Instr *i, bool brain, uint32_t a) {
  return result(i, brain, exp2(operand(i, brain, a)));
}
static inline uint32_t tanh_(const Instr *i, bool brain, uint32_t a) {
  return result(i, brain, tanh(value(brain, a)));
}

#define LOW(x) ((uint32_t)(x) & 0xffff)
#define HIGH(x) ((uint32_t)(x) >> 16)
#define UNARIES(name, f)                                                                           \
  OP(name##_f16){UNARY(uint16_t, f(i, false, a))} OP(name##_bf16){                                 \
      UNARY(uint16_t, f(i, true, a))} OP(name##_f16x2){                                            \
      UNARY(uint32_t, f(i, false, LOW(a)) | f(i, false, HIGH(a)) << 16)} OP(name##_bf16x2) {       \
    UNARY(uint32_t, f(i, true, LOW(a)) | f(i, true, HIGH(a)) << 16)                                \
  }
#define BINARIES(name, f)                                                                          \
  OP(name##_f16){BINARY(uint16_t, f(i, false, a, b))} OP(name##_bf16){                             \
      BINARY(uint16_t, f(i, true, a, b))} OP(name##_f16x2){                                        \
      BINARY(uint32_t, f(i, false, LOW(a), LOW(b)) | f(i, false, HIGH(a), HIGH(b))                 \
                                                         << 16)} OP(name##_bf16x2) {               \
    BINARY(uint32_t, f(i, true, LOW(a), LOW(b)) | f(i, true, HIGH(a), HIGH(b)) << 16)              \
  }
#define TERNARIES(name, f)                                                                         \
  OP(name##_f16){TERNARY(uint16_t, f(i, false, a, b, c))} OP(name##_bf16){                         \
      TERNARY(uint16_t, f(i, true, a, b, c))} OP(name##_f16x2){                                    \
      TERNARY(uint32_t, f(i, false, LOW(a), LOW(b), LOW(c)) |                                      \
                            f(i, false, HIGH(a), HIGH(b), HIGH(c)) << 16)} OP(name##_bf16x2) {     \
    TERNARY(uint32_t, f(i, true, LOW(a), LOW(b), LOW(c)) | f(i, true, HIGH(a), HIGH(b), HIGH(c))   \
                                                               << 16)                              \
  }

UNARIES(neg, neg)
UNARIES(abs, abs_)
UNARIES(ex2, ex2)
UNARIES(tanh, tanh_)
BINARIES(add, add)
BINARIES(sub, sub)
BINARIES(mul, mul)
BINARIES(min, min)
BINARIES(max, max)
TERNARIES(fma, fma_)

/* The lanes of which a and b compare so, of the low halves or the high ones. */
static uint32_t compared(const Instr *i, uint32_t mask, bool brain, bool high, const uint64_t *a,
                         const uint64_t *b) {
  uint32_t found = 0;
  unsigned by = high ? 16 : 0;
  LANES(double x = operand(i, brain, LOW(a[l] >> by));
        double y = operand(i, brain, LOW(b[l] >> by)); if (compares(i, x, y)) found |= 1u << l;);
  return found;
}

/* op: result, that of the high half, a, b, and with combine a predicate. */
static void setp(Warp *w, const Instr *i, uint32_t mask, bool brain, bool pair) {
  const uint64_t *a = ROW(2), *b = ROW(3);
  uint32_t found = compared(i, mask, brain, false, a, b);
  uint32_t other = pair ? compared(i, mask, brain, true, a, b) : 0;
  uint32_t first = combined(w, i, found, 4), second = combined(w, i, other, 4);
  SET_PRED(0, first);
  SET_PRED(1, second);
}
OP(setp_f16) { setp(w, i, mask, false, false); }
OP(setp_bf16) { setp(w, i, mask, true, false); }
OP(setp_f16x2) { setp(w, i, mask, false, true); }
OP(setp_bf16x2) { setp(w, i, mask, true, true); }

/* op: result, a, b, and with combine a predicate. extra: whether true is 1 as a float, not all
 * ones. */
static void set(Warp *w, const Instr *i, uint32_t mask, bool brain, bool pair) {
  uint64_t *d = ROW(0), one = brain ? 0x3f80 : 0x3c00;
  uint64_t yes = i->extra[0] ? one : pair || i->dsize == 2 ? 0xffff : 0xffffffff;
  const uint64_t *a = ROW(1), *b = ROW(2);
  uint32_t low = combined(w, i, compared(i, mask, brain, false, a, b), 3);
  uint32_t high = pair ? combined(w, i, compared(i, mask, brain, true, a, b), 3) : 0;
  LANES(d[l] = (low >> l & 1 ? yes : 0) | (high >> l & 1 ? yes << 16 : 0););
}
OP(set_f16) { set(w, i, mask, false, false); }
OP(set_bf16) { set(w, i, mask, true, false); }
OP(set_f16x2) { set(w, i, mask, false, true); }
OP(set_bf16x2) { set(w, i, mask, true, true); }

/* Mixed with f32, which all values of 16 bits are. */
#define MIXED(brain, ...)                                                                          \
  uint64_t *d = ROW(0);                                                                            \
  const uint64_t *a_ = ROW(1), *b_ = ROW(2);                                                       \
  begin(i);                                                                                        \
  LANES(float a = (float)value(brain, LOW(a_[l])); d[l] = finished(i, __VA_ARGS__););              \
  end(i);
#define MIXES(brain, name)                                                                         \
  OP(add_f32_##name){MIXED(brain, a + f32_of(b_[l]))} OP(sub_f32_##name){                          \
      MIXED(brain, a - f32_of(b_[l]))} OP(fma_f32_##name) {                                        \
    const uint64_t *c_ = ROW(3);                                                                   \
    MIXED(brain, fmaf(a, (float)value(brain, LOW(b_[l])), f32_of(c_[l])))                          \
  }
MIXES(false, f16)
MIXES(true, bf16)
