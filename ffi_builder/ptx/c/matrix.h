/* Matrices of a warp: their elements. */
#ifndef MATRIX_H
#define MATRIX_H

#include "floats.h"

/* Whether the whole warp is at an instruction of it; if not, the lanes wait. */
static inline bool whole_warp(Warp *w, const Instr *i, uint32_t mask) {
  if (!warp_all(w, mask))
    return false;
  if (mask != 0xffffffffu) {
    unsigned lane = (unsigned)__builtin_ctz(mask);
    fault(w, i, lane, kWrong,
          "an instruction of a whole warp, of which only the lanes %#x are left", mask);
  }
  return true;
}

/* What elements are: a FormatNumber, or one of these; the order of BITS in forms/matrix.py. */
enum { kF64 = kE2m1 + 1, kF32, kS8, kU8, kS4, kU4, kB1, kS32, kPackedE2m1 };
typedef unsigned Type;
static const uint8_t kBits[] = {16, 16, 32, 8, 8, 8, 8, 8, 64, 32, 8, 8, 4, 4, 1, 32, 4};

static inline int64_t integer(Type type, uint64_t bits) {
  switch (type) {
  case kS8:
    return (int8_t)bits;
  case kS4:
    return (int64_t)(bits << 60) >> 60;
  case kS32:
    return (int32_t)bits;
  default:
    return (int64_t)bits;
  }
}

/* Of tf32, the last digits are not read; e2m1 is in the middle of 8 bits. Doubles have all products
 * and sums of integers exactly. */
__attribute__((always_inline)) static inline double value(Type type, uint64_t bits) {
  if (type == kF64)
    return f64_of(bits);
  if (type == kF32)
    return f32_of(bits);
  if (type == kPackedE2m1)
    return decoded(kE2m1, (uint32_t)bits);
  if (type >= kS8)
    return (double)integer(type, bits);
  unsigned below = type == kTf32 ? 13 : type == kE2m1 ? 2 : 0;
  return decoded((FormatNumber)type, (uint32_t)bits >> below);
}

/* How many elements of a type a register has. */
static inline unsigned in_register(Type type) { return kBits[type] > 32 ? 1 : 32 / kBits[type]; }
__attribute__((always_inline)) static inline uint64_t nth(Type type, uint64_t bits, unsigned at) {
  return kBits[type] == 64 ? bits : bits >> (at * kBits[type]) & ((1ull << kBits[type]) - 1);
}

/* The elements of a register. What each value is, is known to the compiler. */
#define VALUES(type, count)                                                                        \
  case type:                                                                                       \
    for (unsigned at = 0; at < (count); ++at)                                                      \
      to[at] = value(type, nth(type, bits, at));                                                   \
    break;
static inline void values(Type type, uint64_t bits, double *to) {
  switch (type) {
    VALUES(kF16, 2)
    VALUES(kBf16, 2)
    VALUES(kTf32, 1)
    VALUES(kE4m3, 4)
    VALUES(kE5m2, 4)
    VALUES(kS8, 4)
    VALUES(kU8, 4)
  default:
    for (unsigned at = 0, per = in_register(type); at < per; ++at)
      to[at] = value(type, nth(type, bits, at));
  }
}

/* Products and sums are of doubles, and rounded at the end: NVIDIA leaves the order of sums open.
 * Integers are cut to 32 bits, or clamped to them. */
static inline uint64_t rounded(Type type, double x, bool clamps) {
  if (type == kF16)
    return f16_bits(x);
  if (type != kS32)
    return isnan(x) ? kNan32 : bits_of_f32((float)x);
  if (clamps)
    x = fmax(fmin(x, INT32_MAX), INT32_MIN);
  return (uint32_t)(int64_t)x;
}

#endif
