/* f32 and f64. */
#include "engine.h"

#include <fenv.h>

/* As PTX has it: every NaN that f32 arithmetic makes is this one. */
static const uint32_t kNan32 = 0x7fffffff;

static float flushed(const Instr *i, float x) {
  return (i->flags & kFtz) != 0 && fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}

static uint64_t finished(const Instr *i, float x) {
  x = flushed(i, x);
  if ((i->flags & kSat) != 0) x = isnan(x) || x < 0 ? 0 : x > 1 ? 1 : x;
  return isnan(x) ? kNan32 : bits_of_f32(x);
}

static const int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
static void begin(const Instr *i) {
  if (i->round != kRn) fesetround(kModes[i->round]);
}
static void end(const Instr *i) {
  if (i->round != kRn) fesetround(FE_TONEAREST);
}

#define BINARY32(expression)                                                                   \
  uint64_t *d_ = ROW(0);                                                                       \
  const uint64_t *a_ = ROW(1), *b_ = ROW(2);                                                   \
  begin(i);                                                                                    \
  LANES(float a = flushed(i, f32_of(a_[l])); float b = flushed(i, f32_of(b_[l]));              \
        d_[l] = finished(i, expression););                                                     \
  end(i);

#define TERNARY32(expression)                                                                  \
  uint64_t *d_ = ROW(0);                                                                       \
  const uint64_t *a_ = ROW(1), *b_ = ROW(2), *c_ = ROW(3);                                     \
  begin(i);                                                                                    \
  LANES(float a = flushed(i, f32_of(a_[l])); float b = flushed(i, f32_of(b_[l]));              \
        float c = flushed(i, f32_of(c_[l])); d_[l] = finished(i, expression););                \
  end(i);

OP(add_f32) { BINARY32(a + b) }
OP(sub_f32) { BINARY32(a - b) }
OP(mul_f32) { BINARY32(a * b) }
OP(fma_f32) { TERNARY32(fmaf(a, b, c)) }
