/* Floats of 16 bits and fewer. */
#ifndef NARROW_H
#define NARROW_H

#include "engine.h"

/* x as a float of so many bits of mantissa and exponent, rounded as the host is set to; without its
 * sign. Infinities and what is too large become the largest exponent with a mantissa of zeros; NaNs are
 * the caller's. */
static inline uint32_t narrowed(double x, int mantissa, int exponent) {
  int bias = (1 << (exponent - 1)) - 1;
  uint32_t infinity = ((1u << exponent) - 1) << mantissa;
  x = fabs(x);
  if (isinf(x)) return infinity;
  int e;
  frexp(x, &e); /* x = f * 2^e, f from 0.5 on */
  int power = x == 0 || e - 1 < 1 - bias ? 1 - bias : e - 1;
  double whole = nearbyint(ldexp(x, mantissa - power)); /* exact but for this rounding */
  uint32_t bits = (uint32_t)whole + ((uint32_t)(power + bias - 1) << mantissa);
  return bits < infinity ? bits : infinity;
}

static inline double widened(uint32_t bits, int mantissa, int exponent) {
  int bias = (1 << (exponent - 1)) - 1;
  uint32_t power = bits >> mantissa & ((1u << exponent) - 1), rest = bits & ((1u << mantissa) - 1);
  double sign = bits >> (mantissa + exponent) & 1 ? -1 : 1;
  if (power == (1u << exponent) - 1) return rest == 0 ? sign * INFINITY : NAN;
  if (power == 0) return sign * ldexp(rest, 1 - bias - mantissa);
  return sign * ldexp(rest + (1u << mantissa), (int)power - bias - mantissa);
}

static inline double f16_value(uint64_t bits) { return widened((uint16_t)bits, 10, 5); }
static inline double bf16_value(uint64_t bits) { return f32_of((uint64_t)(uint16_t)bits << 16); }
static inline uint64_t f16_bits(double x) {
  return isnan(x) ? 0x7fff : narrowed(x, 10, 5) | (signbit(x) ? 0x8000u : 0);
}
static inline uint64_t bf16_bits(double x) {
  return isnan(x) ? 0x7fff : narrowed(x, 7, 8) | (signbit(x) ? 0x8000u : 0);
}

#endif
