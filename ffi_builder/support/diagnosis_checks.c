// Checks the value that was read, and binds or compares symbols.

static bool check_equal(State *s, int64_t expected) {
  s->expected = expected;
  return check(s, s->value == expected, read_u8(s));
}

static bool check_count(State *s) {
  s->expected = read_u16(s);
  return s->value >= s->expected || fail(s, WORDS_CHECK_LEAST_COUNT);
}

static bool check_nonzero(State *s) { return check(s, s->value, read_u8(s)); }

static bool check_nonnegative(State *s) {
  const bool negative = s->big == BIG_NEGATIVE || (s->big == BIG_NONE && s->value < 0);
  return !negative || fail(s, WORDS_NOT_NEGATIVE);
}

static bool check_bool(State *s) {
  return s->value == 0 || s->value == 1 || fail(s, WORDS_CHECK_BOOL);
}

// Check that the value fits its dtype. This applies to free strides, too: no value is truncated.
static bool check_fits(State *s) {
  const uint8_t bits = read_u8(s), is_signed = read_u8(s);
  // The dtype as a DLDataType of one lane.
  s->expected = (is_signed ? kDLInt : kDLUInt) | bits << 8 | 1 << 16;
  const uint64_t greatest = UINT64_MAX >> (64 - bits);
  // If the dtype is signed, value + 2^(bits - 1) as an unsigned number is at most 2^bits - 1.
  const uint64_t shifted = (uint64_t)s->value + (is_signed ? greatest / 2 + 1 : 0);
  bool fits = s->big == BIG_NONE && shifted <= greatest;
  if (!is_signed && bits == 64)
    fits = s->big == BIG_UNSIGNED || (s->big == BIG_NONE && s->value >= 0);
  return fits || fail(s, WORDS_FITS);
}

// Multiply the value, and check that the product fits. This applies to free strides, too.
static bool scale(State *s) {
  const int64_t factor = read_i64(s);
  s->expected = INT64_MAX / factor;
  if (s->value > s->expected || s->value < -s->expected)
    return fail(s, WORDS_CHECK_PACKED);
  s->value *= factor;
  return true;
}

// Read the symbol that an error names. The error shows values in the symbol's style.
static Slot *use_symbol(State *s) {
  s->symbol = read_u16(s);
  s->style = symbol_style(s, s->symbol);
  return &s->slots[s->symbol];
}

static bool is_less(const State *s, int64_t one, int64_t other) {
  return s->style == STYLE_UINT ? (uint64_t)one < (uint64_t)other : one < other;
}

static bool check_min(State *s) {
  s->expected = read_i64(s);
  use_symbol(s);
  return check(s, !is_less(s, s->value, s->expected), WORDS_AT_LEAST);
}

static bool check_max(State *s) {
  s->expected = read_i64(s);
  use_symbol(s);
  return check(s, !is_less(s, s->expected, s->value), WORDS_AT_MOST);
}

static bool check_divisible(State *s) {
  s->expected = read_i64(s);
  use_symbol(s);
  const bool right = s->style == STYLE_UINT ? (uint64_t)s->value % (uint64_t)s->expected == 0
                                            : s->value % s->expected == 0;
  return check(s, right, WORDS_DIVISIBLE);
}

static bool check_equal_float(State *s) {
  s->expected = read_i64(s);
  return same_float(as_float(s->value), as_float(s->expected)) || fail(s, WORDS_EQUAL_FLOAT);
}

// ---- symbols

static bool bind(State *s, Slot *slot, int16_t state) {
  *slot = (Slot){.value = s->value, .place = s->place, .state = state};
  slot->element = (int32_t)s->element;
  slot->from_none = s->type == kTVMFFINone;
  return true;
}

static bool equals(State *s, const Slot *slot) {
  s->expected = slot->value;
  if (s->style == STYLE_FLOAT)
    return same_float(as_float(s->value), as_float(s->expected));
  return s->value == s->expected;
}

static bool check_symbol(State *s) {
  const Slot *slot = use_symbol(s);
  const bool right = equals(s, slot);
  return check(s, right, read_u8(s));
}

static bool bind_or_check(State *s) {
  Slot *slot = use_symbol(s);
  const uint8_t words = read_u8(s);
  if (slot->state == BOUND)
    return check(s, equals(s, slot), words);
  const bool applies = !is_free(s);
  if (applies || slot->state == UNBOUND)
    bind(s, slot, applies ? BOUND : PROVISIONAL);
  return true;
}

// Solve `factor * symbol + offset` for the symbol: the solution is then the value that was read.
static bool solve(State *s) {
  s->symbol = read_u16(s);
  const int64_t factor = read_i64(s), offset = read_i64(s);
  s->text = read_text(s);
  int64_t difference;
  bool solved = !__builtin_sub_overflow(s->value, offset, &difference);
  // The quotient -2^63 / -1 does not fit, and the division traps on it.
  if (factor == -1 && difference == INT64_MIN)
    solved = false;
  solved = solved && difference % factor == 0;
  if (!check(s, solved, WORDS_SOLVE))
    return false;
  s->value = solved ? difference / factor : 0;
  s->place.solved = true;
  return true;
}
