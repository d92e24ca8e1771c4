// Evaluates expressions of symbols, and checks them and relations of them.

// What an expression comes to. A part that does not fit int64, or a uint64 symbol that does not,
// is an overflow. The value then has no meaning.
typedef struct {
  int64_t value;
  bool overflow;
  bool unbound; // whether a symbol has no value
} Result;

static void apply(uint8_t code, int64_t *left, int64_t right, Result *result) {
  const int64_t a = *left, b = right;
  switch (code) {
  case CODE_ADD:
    result->overflow |= __builtin_add_overflow(a, b, left);
    break;
  case CODE_SUB:
    result->overflow |= __builtin_sub_overflow(a, b, left);
    break;
  case CODE_MUL:
    result->overflow |= __builtin_mul_overflow(a, b, left);
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
  }
}

static int64_t read_symbol(State *s, Result *result) {
  const Slot *slot = read_slot(s);
  const bool is_unsigned = read_u8(s);
  result->unbound |= slot->state == UNBOUND;
  result->overflow |= is_unsigned && slot->value < 0;
  return slot->value;
}

// Evaluate postfix code on a stack, to its end even after an overflow. What `result` notes beside
// the value stays noted.
static void evaluate(State *s, Result *result) {
  int64_t stack[STACK_DEPTH];
  int32_t top = -1;
  for (uint8_t code = read_u8(s); code != CODE_END; code = read_u8(s)) {
    if (code == CODE_SYMBOL) {
      stack[++top] = read_symbol(s, result);
    } else if (code == CODE_CONSTANT) {
      stack[++top] = read_i64(s);
    } else {
      --top;
      apply(code, &stack[top], stack[top + 1], result);
    }
  }
  result->value = stack[0];
}

// Read what errors show: the text, and the list of symbols.
static void read_shown(State *s) {
  s->text = read_text(s);
  s->bindings = s->pc;
  const uint16_t count = read_u16(s);
  s->pc += 2 * count;
}

static bool check_expression(State *s) {
  const uint8_t words = read_u8(s);
  read_shown(s);
  Result result = {0};
  evaluate(s, &result);
  s->expected = result.value;
  return result.unbound || (check(s, !result.overflow, WORDS_EQUAL_EXPR_OVERFLOW) &&
                            check(s, s->value == s->expected, words));
}

// ---- relations

static bool compare(uint8_t comparison, int64_t left, int64_t right) {
  switch (comparison) {
  case COMPARE_EQ:
    return left == right;
  case COMPARE_NE:
    return left != right;
  case COMPARE_LE:
    return left <= right;
  case COMPARE_LT:
    return left < right;
  case COMPARE_GE:
    return left >= right;
  default:
    return left > right;
  }
}

static bool is_one_of(State *s, int64_t value) {
  bool found = false;
  for (int32_t count = read_u8(s); count > 0; --count)
    found |= value == read_i64(s);
  return found;
}

static bool check_relation(State *s) {
  const uint8_t words = read_u8(s);
  const uint16_t symbol = read_u16(s);
  const uint8_t comparison = read_u8(s);
  const Slot *slot = &s->slots[symbol];
  read_shown(s);
  Result result = {0};
  evaluate(s, &result);
  s->value = result.value;
  bool holds;
  if (comparison == COMPARE_IN) {
    holds = is_one_of(s, s->value);
  } else {
    evaluate(s, &result);
    s->expected = result.value;
    holds = compare(comparison, s->value, s->expected);
  }
  if (result.unbound || (holds && !result.overflow))
    return true;
  s->symbol = symbol;
  s->place = slot->place;
  s->element = slot->element;
  s->big = BIG_NONE;
  s->style = STYLE_INT;
  return fail(s, result.overflow ? WORDS_CHECK_RELATION_OVERFLOW : words);
}
