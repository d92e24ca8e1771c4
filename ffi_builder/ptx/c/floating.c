/* f32, f64, and pairs of f32. */
#include "floats.h"

#define UNARY32(expression)                                                                        \
  uint64_t *d_ = ROW(0);                                                                           \
  const uint64_t *a_ = ROW(1);                                                                     \
  begin(i);                                                                                        \
  LANES(float a = flushed(i, f32_of(a_[l])); d_[l] = finished(i, expression););                    \
  end(i);
#define BINARY32(expression)                                                                       \
  uint64_t *d_ = ROW(0);                                                                           \
  const uint64_t *a_ = ROW(1), *b_ = ROW(2);                                                       \
  begin(i);                                                                                        \
  LANES(float a = flushed(i, f32_of(a_[l])); float b = flushed(i, f32_of(b_[l]));                  \
        d_[l] = finished(i, expression););                                                         \
  end(i);
#define TERNARY32(expression)                                                                      \
  uint64_t *d_ = ROW(0);                                                                           \
  const uint64_t *a_ = ROW(1), *b_ = ROW(2), *c_ = ROW(3);                                         \
  begin(i);                                                                                        \
  LANES(float a = flushed(i, f32_of(a_[l])); float b = flushed(i, f32_of(b_[l]));                  \
        float c = flushed(i, f32_of(c_[l])); d_[l] = finished(i, expression););                    \
  end(i);

#define OF64(expression, ...)                                                                      \
  double made_ = expression;                                                                       \
  d_[l] = isnan(made_) ? nan64(__VA_ARGS__) : bits_of_f64(made_);
#define UNARY64(expression)                                                                        \
  uint64_t *d_ = ROW(0);                                                                           \
  const uint64_t *a_ = ROW(1);                                                                     \
  begin(i);                                                                                        \
  LANES(double a = f64_of(a_[l]); OF64(expression, a, a, a))                                       \
  end(i);
#define BINARY64(expression)                                                                       \
  uint64_t *d_ = ROW(0);                                                                           \
  const uint64_t *a_ = ROW(1), *b_ = ROW(2);                                                       \
  begin(i);                                                                                        \
  LANES(double a = f64_of(a_[l]); double b = f64_of(b_[l]); OF64(expression, a, b, b))             \
  end(i);
#define TERNARY64(expression)                                                                      \
  uint64_t *d_ = ROW(0);                                                                           \
  const uint64_t *a_ = ROW(1), *b_ = ROW(2), *c_ = ROW(3);                                         \
  begin(i);                                                                                        \
  LANES(double a = f64_of(a_[l]); double b = f64_of(b_[l]); double c = f64_of(c_[l]);              \
        OF64(expression, a, b, c))                                                                 \
  end(i);

/* Of the halves of 64 bits. */
#define HALF32(at, expression)                                                                     \
  ({                                                                                               \
    float a = flushed(i, f32_of(a_[l] >> at)), b = flushed(i, f32_of(b_[l] >> at));                \
    float c = flushed(i, f32_of(c_[l] >> at));                                                     \
    (void)c;                                                                                       \
    finished(i, expression) << at;                                                                 \
  })
#define PAIR32(third, expression)                                                                  \
  uint64_t *d_ = ROW(0);                                                                           \
  const uint64_t *a_ = ROW(1), *b_ = ROW(2), *c_ = ROW(third);                                     \
  begin(i);                                                                                        \
  LANES(d_[l] = HALF32(0, expression) | HALF32(32, expression););                                  \
  end(i);

#define EXACT(name, expression)                                                                    \
  OP(name##_f32){BINARY32(expression)} OP(name##_f64){BINARY64(expression)} OP(name##_f32x2) {     \
    PAIR32(2, expression)                                                                          \
  }
EXACT(add, a + b)
EXACT(sub, a - b)
EXACT(mul, a *b)
OP(fma_f32){TERNARY32(fmaf(a, b, c))} OP(fma_f64){TERNARY64(fma(a, b, c))} OP(fma_f32x2) {
  PAIR32(3, fmaf(a, b, c))
}

/* div.full and div.approx may be 2 units of the last place away; they are exact here, but what
   div.approx loses is lost: quotients by more than 2**126. */
static float divided(float a, float b) {
  bool lost = fabsf(b) > 0x1p126f && !isinf(b) && !isnan(a);
  return !lost ? a / b : isinf(a) ? NAN : copysignf(0, a) * copysignf(1, b);
}
OP(div_f32){BINARY32(a / b)} OP(div_f64){BINARY64(a / b)} OP(div_approx_f32){
    BINARY32(divided(a, b))} OP(rcp_f32){UNARY32(1 / a)} OP(rcp_f64){UNARY64(1 / a)} OP(sqrt_f32){
    UNARY32(sqrtf(a))} OP(sqrt_f64){UNARY64(sqrt(a))}

/* Approximations: here they are at most a unit of the last place away. PTX allows about that to
   rcp, sqrt, rsqrt and ex2, an error of 2**-22 to lg2, of 2**-20.5 to sin and cos, and of 2**-11 of
   the value to tanh. */
OP(rsqrt_f32){UNARY32((float)(1 / sqrt((double)a)))} OP(rsqrt_f64){
    UNARY64(1 / sqrt(a))} OP(sin_f32){UNARY32((float)sin((double)a))} OP(cos_f32){
    UNARY32((float)cos((double)a))} OP(ex2_f32){UNARY32((float)exp2((double)a))} OP(lg2_f32){
    UNARY32((float)log2((double)a))} OP(tanh_f32) {
  UNARY32((float)tanh((double)a))
}

/* Of the upper 32 bits, which are all that the result has. */
static double coarse(double x) {
  uint64_t bits = bits_of_f64(x);
  if (fabs(x) < 0x1p-1022)
    bits &= 1ull << 63;
  return isnan(x) ? x : f64_of(bits & ~0xffffffffull);
}
OP(rcp_coarse_f64){UNARY64(coarse(1 / coarse(a)))} OP(rsqrt_coarse_f64) {
  UNARY64(coarse(1 / sqrt(coarse(a))))
}

/* The sign of a NaN changes too. */
static uint64_t flushed64(const Instr *i, uint64_t a) {
  return i->size == 4 ? bits_of_f32(flushed(i, f32_of(a))) : a;
}
OP(abs_float){UNARY(uint64_t, flushed64(i, a) & ~(1ull << (8 * i->size - 1)))} OP(neg_float){
    UNARY(uint64_t, flushed64(i, a) ^ 1ull << (8 * i->size - 1))} OP(copysign) {
  uint64_t sign = 1ull << (8 * i->size - 1);
  BINARY(uint64_t, (b & ~sign) | (a & sign))
}

#define SIGN(x) ((unsigned)(signbit(x) != 0))
/* -0 is less than 0. A NaN is no number to choose, unless .NaN has it win. */
#define EXTREME(name, T, isBetter)                                                                 \
  static T name(const Instr *i, T a, T b) {                                                        \
    if ((i->flags & kNanWins) != 0 && (isnan(a) || isnan(b)))                                      \
      return (T)NAN;                                                                               \
    if (isnan(a) || isnan(b))                                                                      \
      return isnan(a) ? b : a;                                                                     \
    return a == b ? (SIGN(a) isBetter SIGN(b) ? b : a) : a isBetter b ? a : b;                     \
  }
EXTREME(least32, float, <)
EXTREME(most32, float, >)
EXTREME(least64, double, <)
EXTREME(most64, double, >)

/* extra: whether absolute values are compared. */
static float signless(const Instr *i, float x) { return i->extra[0] ? fabsf(x) : x; }
static float signed_as(const Instr *i, float x, unsigned negative) {
  return (i->flags & kXorSign) != 0 && !isnan(x) && negative != 0 ? -x : x;
}
#define CHOICE(name, best)                                                                         \
  OP(name##_f32){BINARY32(signed_as(i, best##32(i, signless(i, a), signless(i, b)),                \
                                    SIGN(a) ^ SIGN(b)))} OP(name##3_f32){                          \
      TERNARY32(best##32(i, best##32(i, signless(i, a), signless(i, b)),                           \
                         signless(i, c)))} OP(name##_f64) {                                        \
    BINARY64(best##64(i, a, b))                                                                    \
  }
CHOICE(min, least)
CHOICE(max, most)

static double as_double(const Instr *i, uint64_t a) {
  return i->size == 4 ? flushed(i, f32_of(a)) : f64_of(a);
}
static uint32_t compared(const Instr *i, uint32_t mask, const uint64_t *a, const uint64_t *b) {
  uint32_t found = 0;
  LANES(found |= (uint32_t)compares(i, as_double(i, a[l]), as_double(i, b[l])) << l;);
  return found;
}
OP(setp_float) { set_compared(w, i, mask, compared(i, mask, ROW(2), ROW(3))); }
OP(set_float) { set_number(w, i, mask, compared(i, mask, ROW(1), ROW(2))); }
OP(slct_f32) {
  uint64_t *d = ROW(0);
  const uint64_t *a = ROW(1), *b = ROW(2), *c = ROW(3);
  LANES(d[l] = flushed(i, f32_of(c[l])) >= 0 ? a[l] : b[l];);
}

/* extra: finite, infinite, number, notanumber, normal, subnormal. */
OP(testp) {
  const uint64_t *a = ROW(1);
  uint32_t found = 0;
  LANES(int kind = i->size == 4 ? fpclassify(f32_of(a[l])) : fpclassify(f64_of(a[l]));
        const bool is[] = {kind != FP_NAN && kind != FP_INFINITE, kind == FP_INFINITE,
                           kind != FP_NAN, kind == FP_NAN, kind == FP_NORMAL, kind == FP_SUBNORMAL};
        found |= (uint32_t)is[i->extra[0]] << l;);
  SET_PRED(0, found);
}
