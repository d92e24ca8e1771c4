/* Floats of 16 bits and fewer. */
#ifndef NARROW_H
#define NARROW_H

#include "engine.h"

/* 2 to the power of e, which a double has. */
static inline double power_of_two(int e) { return f64_of((uint64_t)(e + 1023) << 52); }

/* x as a float of so many bits of mantissa and exponent, rounded as the host is set to; without its
 * sign. Infinities and what is too large become the largest exponent with a mantissa of zeros; NaNs are
 * the caller's. */
static inline uint32_t narrowed(double x, int mantissa, int exponent) {
  const double whole = 0x1p52; /* doubles from here on are whole numbers: adding it rounds */
  int bias = (1 << (exponent - 1)) - 1;
  uint32_t infinity = ((1u << exponent) - 1) << mantissa;
  x = fabs(x);
  if (isinf(x)) return infinity;
  int power = (int)(bits_of_f64(x) >> 52) - 1023;
  if (power < 1 - bias) power = 1 - bias;
  double scaled = x * power_of_two(mantissa - power);
  uint32_t bits = (uint32_t)((scaled + whole) - whole) + ((uint32_t)(power + bias - 1) << mantissa);
  return bits < infinity ? bits : infinity;
}

/* The value of a float whose largest exponent is as the others are. */
static inline double widened_finite(uint32_t bits, int mantissa, int exponent) {
  int bias = (1 << (exponent - 1)) - 1;
  uint32_t power = bits >> mantissa & ((1u << exponent) - 1), rest = bits & ((1u << mantissa) - 1);
  double sign = bits >> (mantissa + exponent) & 1 ? -1 : 1;
  if (power == 0) return sign * (rest * power_of_two(1 - bias - mantissa));
  return sign * ((rest + (1u << mantissa)) * power_of_two((int)power - bias - mantissa));
}

/* The value of a float whose largest exponent is that of infinities and NaNs. */
static inline double widened(uint32_t bits, int mantissa, int exponent) {
  uint32_t power = bits >> mantissa & ((1u << exponent) - 1), rest = bits & ((1u << mantissa) - 1);
  if (power < (1u << exponent) - 1) return widened_finite(bits, mantissa, exponent);
  return rest != 0 ? NAN : bits >> (mantissa + exponent) & 1 ? -INFINITY : INFINITY;
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
