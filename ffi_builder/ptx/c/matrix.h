/* Matrices of a warp: their elements. */
#ifndef MATRIX_H
#define MATRIX_H

#include "narrow.h"

/* Whether the whole warp is at an instruction of it; if not, the lanes wait. */
static inline bool whole_warp(Warp *w, const Instr *i, uint32_t mask) {
  if (!warp_all(w, mask)) return false;
  if (mask != 0xffffffffu) {
    unsigned lane = (unsigned)__builtin_ctz(mask);
    fault(w, i, lane, kWrong, "an instruction of a whole warp, of which only the lanes %#x are left", mask);
  }
  return true;
}

/* The order of BITS in forms/matrix.py. */
typedef enum Type {
  kF16, kBf16, kTf32, kE4m3, kE5m2, kE3m2, kE2m3, kE2m1, kF64, kF32, kS8, kU8, kS4, kU4, kB1, kS32
} Type;
static const uint8_t kBits[] = {16, 16, 32, 8, 8, 8, 8, 8, 64, 32, 8, 8, 4, 4, 1, 32};

static inline double value(Type type, uint64_t bits) {
  switch (type) {
  case kF16: return f16_value(bits);
  case kBf16: return bf16_value(bits);
  case kTf32: return f32_of(bits & ~0x1fffull); /* the other digits are not read */
  case kE4m3: return (bits & 0x7f) == 0x7f ? NAN : widened_finite((uint32_t)bits, 3, 4);
  case kE5m2: return widened((uint32_t)bits, 2, 5);
  case kE3m2: return widened_finite(bits & 0x3f, 2, 3);
  case kE2m3: return widened_finite(bits & 0x3f, 3, 2);
  case kE2m1: return widened_finite(bits >> 2 & 0xf, 1, 2); /* in the middle of 8 bits */
  case kF32: return f32_of(bits);
  default: return f64_of(bits);
  }
}

static inline int64_t integer(Type type, uint64_t bits) {
  switch (type) {
  case kS8: return (int8_t)bits;
  case kS4: return (int64_t)(bits << 60) >> 60;
  case kS32: return (int32_t)bits;
  default: return (int64_t)bits;
  }
}

/* How many elements of a type a register has. */
static inline unsigned in_register(Type type) { return kBits[type] > 32 ? 1 : 32 / kBits[type]; }
static inline uint64_t nth(Type type, uint64_t bits, unsigned at) {
  return kBits[type] == 64 ? bits : bits >> (at * kBits[type]) & ((1ull << kBits[type]) - 1);
}

/* Products and sums are of doubles, and rounded at the end: NVIDIA leaves the order of sums open. */
static inline uint64_t rounded(Type type, double x) {
  if (type == kF16) return f16_bits(x);
  return isnan(x) ? 0x7fffffff : bits_of_f32((float)x);
}

#endif
