// Reads BigInts, and rounds to floats of 16 bits.

// A BigInt object, which c_api.h does not declare: a signed number in two's complement, with its
// least significant word first.
typedef struct {
  TVMFFIObject header;
  int64_t count;
  int64_t words[];
} BigInt;

// Store the low word as a uint64_t, and return whether it is the whole number.
RARE bool SHARED(big_uint64)(const BigInt *big, uint64_t *value) {
  *value = 0;
  if (big->count <= 0)
    return true;
  *value = (uint64_t)big->words[0];
  // The first bit of the last word is the sign.
  if (big->words[big->count - 1] < 0)
    return false;
  for (int64_t index = 1; index < big->count; ++index)
    if (big->words[index] != 0)
      return false;
  return true;
}

// ---- rounding

enum { FRACTION = 52, BIAS = 1023 }; // of a double

// Return `number >> distance`, rounded to nearest, ties to even; the distance is 1 to 62.
static int64_t shift_to_even(int64_t number, int64_t distance) {
  int64_t half = (int64_t)1 << (distance - 1);
  int64_t odd = number >> distance & 1;
  return (number + (half - 1) + odd) >> distance;
}

// Round the bits of a double without its sign to a format of 16 bits. The format has `fraction`
// bits of fraction, and `bias` is added to its exponents.
static int64_t round_magnitude(int64_t bits, int32_t fraction, int32_t bias) {
  int64_t infinity = 0x7FFF >> fraction << fraction;
  int64_t dropped = FRACTION - fraction;
  int64_t exponent = bits >> FRACTION;
  // The double's exponent for the smallest value that is normal in the format.
  int64_t smallest = BIAS - bias + 1;
  if (bits > (int64_t)0x7FF << FRACTION)
    return infinity | 1 << (fraction - 1); // a quiet NaN
  if (exponent < smallest) {
    // The fraction with its hidden bit is shifted by as much as the exponent is too small.
    int64_t distance = smallest - exponent + dropped;
    if (distance > 62)
      return 0; // less than half the smallest value
    int64_t hidden = (int64_t)1 << FRACTION;
    return shift_to_even((bits & (hidden - 1)) | hidden, distance);
  }
  // A carry out of the fraction increments the exponent, as it should. Beyond the greatest exponent
  // the result is infinity.
  int64_t rounded = shift_to_even(bits - ((int64_t)(BIAS - bias) << FRACTION), dropped);
  return rounded > infinity ? infinity : rounded;
}

// Round once, to nearest, ties to even, by arithmetic on the bits. Hardware would round to float
// first. Compilers would call __truncdfhf2 or __truncdfbf2, which are in a library that modules do
// not link.
static int16_t round_to_16_bits(double value, int32_t fraction, int32_t bias) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  int64_t rounded = round_magnitude((int64_t)(bits & INT64_MAX), fraction, bias);
  return (int16_t)(rounded | (int64_t)(bits >> 63 << 15));
}

RARE int16_t SHARED(round_float16)(double value) { return round_to_16_bits(value, 10, 15); }

RARE int16_t SHARED(round_bfloat16)(double value) { return round_to_16_bits(value, 7, 127); }
