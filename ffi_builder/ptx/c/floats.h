/* What the files of floating-point instructions share: NaNs, flushing, and formats below f32. */
#ifndef FLOATS_H
#define FLOATS_H

#include <fenv.h>

#include "engine.h"

/* Every NaN that f32 and narrower instructions make is one. */
static const uint64_t kNan32 = 0x7fffffff;

static inline float flushed(const Instr *i, float x) {
  return (i->flags & kFtz) != 0 && fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

/* The result of an instruction for f32. */
static inline uint64_t finished(const Instr *i, float x) {
  if ((i->flags & kSat) != 0)
    x = x > 0 ? fminf(x, 1) : 0; /* NaN too is 0 */
  return isnan(x) ? kNan32 : bits_of_f32(flushed(i, x));
}

/* The NaN of an instruction for f64: the first of its operands, or a new one. */
static inline uint64_t nan64(double a, double b, double c) {
  double found = isnan(a) ? a : isnan(b) ? b : c;
  return isnan(found) ? bits_of_f64(found) | 1ull << 51 : 0xfff8ull << 48;
}

/* Loops run between these in the mode of the instruction. */
static inline void begin(const Instr *i) {
  static const int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  if (i->round != kRn)
    fesetround(kModes[i->round]);
}
static inline void end(const Instr *i) {
  if (i->round != kRn)
    fesetround(FE_TONEAREST);
}

/* Which of less, equal, greater and unordered each comparison accepts. */
enum { kLess = 1, kSame = 2, kMore = 4, kUnordered = 8 };
static inline bool compares(const Instr *i, double a, double b) {
  static const uint8_t kAccepts[] = {
      kSame,
      kLess | kMore,
      kLess,
      kLess | kSame,
      kMore,
      kMore | kSame,
      kSame | 8,
      kLess | kMore | 8,
      kLess | 8,
      kLess | kSame | 8,
      kMore | 8,
      kMore | kSame | 8,
      kLess | kSame | kMore,
      kUnordered,
  };
  unsigned related = a < b ? kLess : a == b ? kSame : a > b ? kMore : kUnordered;
  return (kAccepts[i->compare] & related) != 0;
}

/* A format of floats below f32. top: the bits of its largest number. infinite: whether there is an
   infinity, which follows it. nan: its NaN; 0: it has none. */
typedef struct Format {
  int exponent, mantissa, bias;
  uint32_t top;
  bool infinite;
  uint32_t nan;
} Format;

/* The order of _FORMATS in forms/conversion.py. */
typedef enum FormatNumber { kF16, kBf16, kTf32, kE4m3, kE5m2, kE2m3, kE3m2, kE2m1 } FormatNumber;
static const Format kFormats[] = {
    {5, 10, 15, 0x7bff, true, 0x7fff},
    {8, 7, 127, 0x7f7f, true, 0x7fff},
    {8, 10, 127, 0x3fbff, true, 0x3ffff},
    {4, 3, 7, 0x7e, false, 0x7f},
    {5, 2, 15, 0x7b, true, 0x7f},
    {2, 3, 1, 0x1f, false, 0},
    {3, 2, 3, 0x1f, false, 0},
    {2, 1, 1, 0x7, false, 0},
};

/* The bits of a number in a format. It is exact, or an odd last bit says that more follows.
   finite: what is too large becomes the largest number, and NaN too if there is none. */
static inline uint32_t encoded(FormatNumber number, double x, Round round, bool finite) {
  const Format *f = &kFormats[number];
  uint64_t bits = bits_of_f64(x), whole = bits & ((1ull << 52) - 1);
  uint32_t sign = (uint32_t)(bits >> 63), at = (uint32_t)sign << (f->exponent + f->mantissa);
  int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
  if (exponent == 1024 && whole != 0)
    return f->nan != 0 ? f->nan : f->top;
  if (exponent == 1024)
    return at | (f->top + (f->infinite && !finite));
  whole |= exponent > -1023 ? 1ull << 52 : 0;
  int lowest = 1 - f->bias, below = exponent < lowest ? lowest - exponent : 0;
  int shift = 52 - f->mantissa + below;
  if (shift > 60)
    shift = 60;
  uint64_t kept = whole >> shift, rest = whole & ((1ull << shift) - 1), half = 1ull << (shift - 1);
  bool up = round == kRn    ? rest > half || (rest == half && (kept & 1) != 0)
            : round == kRna ? rest >= half
            : round == kRm  ? sign && rest != 0
            : round == kRp  ? !sign && rest != 0
                            : false;
  kept += up;
  uint64_t code = below > 0 ? kept : ((uint64_t)(exponent - lowest) << f->mantissa) + kept;
  if (code <= f->top)
    return at | (uint32_t)code;
  bool away = round == kRn || round == kRna || (round == kRm ? sign : round == kRp && !sign);
  return at | (f->top + (f->infinite && !finite && away));
}

/* The number that bits are in a format. */
static inline double decoded(FormatNumber number, uint32_t bits) {
  const Format *f = &kFormats[number];
  uint32_t code = bits & ((1u << (f->exponent + f->mantissa)) - 1);
  uint32_t whole = code & ((1u << f->mantissa) - 1);
  uint64_t exponent = code >> f->mantissa;
  double x;
  if (exponent == 0) {
    x = whole * f64_of((uint64_t)(1024 - f->bias - f->mantissa) << 52);
  } else if (code > f->top) {
    if (!f->infinite || code != f->top + 1)
      return NAN;
    x = INFINITY;
  } else {
    x = f64_of((exponent + 1023 - f->bias) << 52 | (uint64_t)whole << (52 - f->mantissa));
  }
  return bits >> (f->exponent + f->mantissa) & 1 ? -x : x;
}

static inline double f16_value(uint64_t bits) { return decoded(kF16, (uint32_t)bits); }
static inline double bf16_value(uint64_t bits) { return f32_of((uint64_t)(uint16_t)bits << 16); }
static inline uint64_t f16_bits(double x) { return encoded(kF16, x, kRn, false); }
static inline uint64_t bf16_bits(double x) { return encoded(kBf16, x, kRn, false); }

/* A 64-bit integer as a double that encoded() rounds as the integer: cut, with an odd last bit. */
static inline double odd_of(uint64_t magnitude, bool negative) {
  int extra = magnitude >> 53 != 0 ? 11 - __builtin_clzll(magnitude) : 0;
  uint64_t cut = magnitude >> extra;
  if (cut << extra != magnitude)
    cut |= 1;
  double x = (double)cut * f64_of((uint64_t)(1023 + extra) << 52);
  return negative ? -x : x;
}

#endif
