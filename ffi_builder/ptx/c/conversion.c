/* cvt, and what goes with it. */
#include "floats.h"

/* The low bytes of a register as a number of 64 bits. */
static inline uint64_t extended(uint64_t a, unsigned bytes, bool is_signed) {
  unsigned unused = 64 - 8 * bytes;
  return is_signed ? (uint64_t)((int64_t)(a << unused) >> unused) : a << unused >> unused;
}

/* What is nearest to a number of 64 bits, signed or not, among those of a type. */
static uint64_t clamped(uint64_t v, bool from_signed, unsigned bytes, bool is_signed) {
  bool negative = from_signed && (int64_t)v < 0;
  uint64_t most = (is_signed ? INT64_MAX : UINT64_MAX) >> (64 - 8 * bytes);
  if (!negative)
    return v > most ? most : v;
  int64_t least = is_signed ? -(int64_t)most - 1 : 0;
  return (int64_t)v < least ? (uint64_t)least : v;
}

/* extra: bytes and sign of the result. size and sign are those of the operand. */
OP(cvt_integer) {
  uint64_t *d = ROW(0);
  const uint64_t *a = ROW(1);
  unsigned bytes = i->extra[0];
  bool is_signed = i->extra[1], sat = (i->flags & kSat) != 0;
  LANES(uint64_t v = extended(a[l], i->size, i->sign);
        if (sat) v = clamped(v, i->sign, bytes, is_signed);
        d[l] = extended(extended(v, bytes, is_signed), i->dsize, false););
}

/* The order of _KINDS in forms/conversion.py. */
typedef enum Kind { kKindF16, kKindBf16, kKindF32, kKindF64 } Kind;

static inline double number(const Instr *i, Kind kind, uint64_t bits) {
  if (kind == kKindF32)
    return flushed(i, f32_of(bits));
  return kind == kKindF64 ? f64_of(bits) : decoded(kind == kKindF16 ? kF16 : kBf16, (uint32_t)bits);
}

static inline uint32_t sixteen(Kind kind, double x, Round round, bool finite) {
  return encoded(kind == kKindF16 ? kF16 : kBf16, x, round, finite);
}

static inline double whole(double x, Round round) {
  return round == kRn ? rint(x) : round == kRz ? trunc(x) : round == kRm ? floor(x) : ceil(x);
}

/* extra: kind of the operand, bytes and sign of the result. A NaN is 0, or, with 64 bits on either
   side, the bit of the sign alone. */
OP(cvt_to_integer) {
  uint64_t *d = ROW(0);
  const uint64_t *a = ROW(1);
  Kind kind = (Kind)i->extra[0];
  unsigned bits = 8u * i->extra[1], bytes = i->extra[1];
  bool is_signed = i->extra[2];
  uint64_t nan = kind == kKindF64 || bytes == 8 ? 1ull << (bits - 1) : 0;
  uint64_t most = (is_signed ? INT64_MAX : UINT64_MAX) >> (64 - bits);
  uint64_t least = is_signed ? most + 1 : 0;
  double above = f64_of((uint64_t)(1023 + bits - is_signed) << 52), below = is_signed ? -above : 0;
  LANES(double x = whole(number(i, kind, a[l]), (Round)i->round);
        uint64_t v = isnan(x)     ? nan
                     : x >= above ? most
                     : x < below  ? least
                     : x < 0      ? (uint64_t)(int64_t)x
                                  : (uint64_t)x;
        d[l] = extended(extended(v, bytes, is_signed), i->dsize, false););
}

/* extra: kind of the result. */
OP(cvt_from_integer) {
  uint64_t *d = ROW(0);
  const uint64_t *a = ROW(1);
  Kind kind = (Kind)i->extra[0];
  begin(i);
  LANES(uint64_t v = extended(a[l], i->size, i->sign); bool negative = i->sign && (int64_t)v < 0;
        if (i->flags & kSat) v = negative ? 0 : v != 0, negative = false;
        if (kind == kKindF32) d[l] = bits_of_f32(i->sign ? (float)(int64_t)v : (float)v);
        else if (kind == kKindF64) d[l] = bits_of_f64(i->sign ? (double)(int64_t)v : (double)v);
        else d[l] = sixteen(kind, odd_of(negative ? 0 - v : v, negative), (Round)i->round, false););
  end(i);
}

static inline double limited(const Instr *i, double x) {
  if (i->flags & kSat)
    x = x > 0 ? fmin(x, 1) : 0;
  if ((i->flags & kRelu) && !isnan(x))
    x = x > 0 ? x : 0;
  return x;
}

/* extra: kinds of result and operand, and whether it becomes a whole number. */
OP(cvt_float) {
  uint64_t *d = ROW(0);
  const uint64_t *a = ROW(1);
  Kind to = (Kind)i->extra[0], from = (Kind)i->extra[1];
  bool is_whole = i->extra[2], finite = (i->flags & kSatFinite) != 0;
  Round round = (Round)i->round;
  if (to == kKindF32 && !is_whole)
    begin(i);
  LANES(double x = number(i, from, a[l]); if (is_whole) x = whole(x, round); x = limited(i, x);
        if (to == kKindF32) d[l] = isnan(x) ? kNan32 : bits_of_f32(flushed(i, (float)x));
        else if (to == kKindF64) d[l] = isnan(x) ? nan64(x, x, x) : bits_of_f64(x);
        else d[l] = sixteen(to, x, round, finite););
  if (to == kKindF32 && !is_whole)
    end(i);
}

/* The last 13 bits of f32 are zeros. */
OP(cvt_tf32) {
  UNARY(uint32_t, ({
          float x = (float)limited(i, f32_of(a));
          uint32_t kept = encoded(kTf32, x, (Round)i->round, i->flags & kSatFinite);
          isnan(x) ? kNan32 : (uint64_t)kept << 13;
        }))
}

/* A pair of a format, which extra has, and how many bits it has. */
static inline uint32_t paired(const Instr *i, double upper, double lower) {
  bool finite = (i->flags & kSatFinite) != 0;
  FormatNumber to = (FormatNumber)i->extra[0];
  uint32_t above = encoded(to, limited(i, upper), (Round)i->round, finite);
  return above << i->extra[1] | encoded(to, limited(i, lower), (Round)i->round, finite);
}
OP(cvt_pair){BINARY(uint32_t, paired(i, f32_of(a), f32_of(b)))}
/* extra: the format and the bits of the operand, too. */
OP(cvt_repaired) {
  FormatNumber from = (FormatNumber)i->extra[2];
  UNARY(uint32_t, paired(i, decoded(from, a >> i->extra[3]), decoded(from, a)))
}

/* Powers of two, which have an exponent alone: 0 is 2**-127, and 255 a NaN. The sign is lost. */
static uint32_t to_power(const Instr *i, double x) {
  if (isnan(x))
    return 255;
  if (fabs(x) <= 0x1p-127)
    return 0;
  uint64_t bits = bits_of_f64(fabs(x));
  int power = (int)(bits >> 52) - 1023 + (i->round == kRp && bits << 12 != 0) + 127;
  if (isinf(x) || power > 254)
    return i->flags & kSatFinite ? 254 : 255;
  return (uint32_t)power;
}
OP(cvt_power){
    BINARY(uint32_t, to_power(i, f32_of(a)) << 8 | to_power(i, f32_of(b)))} OP(cvt_power_bf16x2) {
  UNARY(uint32_t, to_power(i, bf16_value(a >> 16)) << 8 | to_power(i, bf16_value(a)))
}
static uint32_t of_power(uint32_t code) {
  return code == 255 ? 0x7fff : code == 0 ? 0x0040 : code << 7;
}
OP(cvt_of_power) { UNARY(uint32_t, of_power(a >> 8 & 255) << 16 | of_power(a & 255)) }

/* Two integers, saturated, and above them what else the result has room for. extra: bits, sign. */
static uint32_t saturated(const Instr *i, int32_t x) {
  int64_t ones = (1 << i->extra[0]) - 1, most = i->extra[1] ? ones >> 1 : ones;
  int64_t least = i->extra[1] ? -most - 1 : 0;
  return (uint32_t)((x < least ? least : x > most ? most : x) & ones);
}
static uint32_t packed(const Instr *i, uint32_t a, uint32_t b) {
  return saturated(i, (int32_t)a) << i->extra[0] | saturated(i, (int32_t)b);
}
OP(cvt_pack){BINARY(uint32_t, packed(i, a, b))} OP(cvt_pack_more) {
  TERNARY(uint32_t, c << (2 * i->extra[0]) | packed(i, a, b))
}
