// Evaluates and checks expressions of symbols and conditions.

// The truth of a condition: whether it holds in each of four readings, a bit for each. Of the
// number of a bit, bit 0 says what an unknown comparison counts as, and bit 1 the same of an
// overflow. So `and` and `or` are those of bits. Negated, a comparison counts as the opposite.
enum { TRUTH_FALSE, TRUTH_UNKNOWN = 10, TRUTH_OVERFLOW = 12, TRUTH_TRUE = 15 };

// The readings that decide: an unknown comparison refuses no call, and an overflow does. If the
// condition holds in the second one alone, an overflow is what is wrong.
enum { READ_REFUSING = 1 << 1, READ_HOLDING = 1 << 3 };

enum { DOUBT_UNKNOWN = 1, DOUBT_OVERFLOW = 2 };

// The result of an expression or condition. The value of a condition is one of TRUTH_…. It is an
// overflow if an intermediate result, or a uint64 symbol, does not fit int64; the value then has no
// meaning.
typedef struct {
  int64_t value;
  uint8_t doubt; // bits: DOUBT_UNKNOWN if a symbol has no value, DOUBT_OVERFLOW after an overflow
} Result;

// Compare two values, and keep them for errors to show.
static void compare(State *s, int64_t *left, int64_t right, Result *result) {
  const uint8_t comparison = read_u8(s); // a bit each for less, equal and greater
  s->value = *left;
  s->expected = right;
  const uint32_t order = *left < right ? 0 : 1 + (*left > right);
  *left = comparison >> order & 1 ? TRUTH_TRUE : TRUTH_FALSE;
  if (result->doubt)
    *left = result->doubt & DOUBT_UNKNOWN ? TRUTH_UNKNOWN : TRUTH_OVERFLOW;
  result->doubt = 0;
}

static void apply(State *s, uint8_t code, int64_t *left, int64_t right, Result *result) {
  const int64_t a = *left, b = right;
  switch (code) {
  case CODE_ADD:
    result->doubt |= __builtin_add_overflow(a, b, left) ? DOUBT_OVERFLOW : 0;
    break;
  case CODE_SUB:
    result->doubt |= __builtin_sub_overflow(a, b, left) ? DOUBT_OVERFLOW : 0;
    break;
  case CODE_MUL:
    result->doubt |= __builtin_mul_overflow(a, b, left) ? DOUBT_OVERFLOW : 0;
    break;
  // Divisors are positive.
  case CODE_FLOORDIV:
    *left = a / b - (a % b < 0);
    break;
  case CODE_MOD:
    *left = a % b + (a % b < 0 ? b : 0);
    break;
  case CODE_CEILDIV:
    *left = a / b + (a % b > 0);
    break;
  case CODE_MAX:
    *left = a < b ? b : a;
    break;
  case CODE_MIN:
    *left = a < b ? a : b;
    break;
  case CODE_AND:
    *left = a & b;
    break;
  case CODE_OR:
    *left = a | b;
    break;
  case CODE_COMPARE:
    compare(s, left, right, result);
    break;
  }
}

static int64_t read_symbol(State *s, Result *result) {
  const Slot *slot = read_slot(s);
  const bool is_unsigned = read_u8(s);
  result->doubt |= slot->state == UNBOUND ? DOUBT_UNKNOWN : 0;
  result->doubt |= is_unsigned && slot->value < 0 ? DOUBT_OVERFLOW : 0;
  return slot->value;
}

// Return the truth of the negation: the bits in reverse, as readings become the opposite, inverted.
static int64_t negated(int64_t truth) {
  const int64_t swapped = (truth & 5) << 1 | (truth >> 1 & 5);
  return ((swapped & 3) << 2 | swapped >> 2) ^ TRUTH_TRUE;
}

// Read the text and the list of symbols, which errors show. Then evaluate the postfix code on a
// stack. After an overflow the rest of the code is evaluated, too.
static void evaluate(State *s, Result *result) {
  s->text = read_text(s);
  s->bindings = s->pc;
  const uint16_t count = read_u16(s);
  s->pc += 2 * count;
  int64_t stack[STACK_DEPTH];
  int32_t top = -1;
  for (uint8_t code = read_u8(s); code != CODE_END; code = read_u8(s)) {
    if (code == CODE_SYMBOL) {
      stack[++top] = read_symbol(s, result);
    } else if (code == CODE_CONSTANT) {
      stack[++top] = read_i64(s);
    } else if (code == CODE_NOT) {
      stack[top] = negated(stack[top]);
    } else {
      --top;
      apply(s, code, &stack[top], stack[top + 1], result);
    }
  }
  result->value = stack[0];
}

static bool check_expression(State *s) {
  const uint8_t words = read_u8(s);
  Result result = {0};
  evaluate(s, &result);
  s->expected = result.value;
  return result.doubt & DOUBT_UNKNOWN || (check(s, !result.doubt, WORDS_EQUAL_EXPR_OVERFLOW) &&
                                          check(s, s->value == s->expected, words));
}

// Check that a condition may hold. An error shows the place of a symbol: the first one in the
// condition's list that this call has bound. The list begins with the symbol that is bound last.
static bool check_condition(State *s) {
  const uint8_t words = read_u8(s);
  Result result = {0};
  evaluate(s, &result);
  const uint8_t count = read_u8(s);
  if (result.value & READ_REFUSING) {
    s->pc += 2 * count;
    return true;
  }
  const Slot *slot;
  do { // at least one symbol is bound, since the condition would be unknown otherwise
    s->symbol = read_u16(s);
    slot = &s->slots[s->symbol];
  } while (slot->state == UNBOUND);
  s->place = slot->place;
  s->element = slot->element;
  s->big = BIG_NONE;
  s->style = STYLE_INT;
  return fail(s, result.value & READ_HOLDING ? WORDS_CHECK_CONDITION_OVERFLOW : words);
}
