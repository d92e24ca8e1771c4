// Writes the message of an error from its templates.

static void put_template(State *s, uint16_t position);

// ---- placeholders

static void put_signature(State *s) {
  const uint8_t *table = s->table;
  const uint16_t own = table_u16(table + HEAD_NAME_LENGTH);
  const uint32_t length = table_u32(table + HEAD_LENGTH);
  const uint8_t *name = table + table_u32(table + HEAD_NAME);
  put(s, (const char *)name, own);
  if ((uint64_t)own + length <= SIGNATURE_LIMIT) {
    put(s, (const char *)table + table_u32(table + HEAD_TEXT), length);
    return;
  }
  if (!s->place.parameter) {
    put_text(s, ELLIPSIS);
    put_byte(s, ')');
    return;
  }
  const uint32_t index = table_u16(table + s->place.parameter + 6);
  const uint8_t *argument = name + own + table_u16(table + HEAD_BACKTRACE) + 8 * (size_t)index;
  if (index)
    put_text(s, BEFORE_ARGUMENT);
  put(s, (const char *)table + table_u32(argument), table_u32(argument + 4));
  if (index + 1 < table_u16(table + HEAD_ARGUMENTS))
    put_text(s, BEHIND_ARGUMENT);
  put_byte(s, ')');
}

// Append the symbols of an expression, with their values and where they were bound.
static void put_bindings(State *s) {
  const int32_t style = s->style;
  const uint32_t symbol = s->symbol;
  for (int32_t i = 0; i < table_u16(s->bindings); ++i) {
    if (i)
      put_text(s, COMMA);
    s->symbol = table_u16(s->bindings + 2 + 2 * i);
    const int32_t shown = symbol_style(s, s->symbol);
    s->style = shown & ~STYLE_PROPERTY;
    const bool has_place = shown < STYLE_PROPERTY && s->slots[s->symbol].state != UNBOUND;
    put_template(s, has_place ? BINDING : PROPERTY);
  }
  s->style = style;
  s->symbol = symbol;
}

// Append the choice with an index. The choices follow the symbol's name, and each ends in NUL.
static void put_choice(State *s, int64_t index) {
  const uint8_t *entry = symbol_entry(s, s->symbol);
  const char *choice = text_data(s, entry) + text_size(entry) + 1;
  size_t size;
  do {
    size = strlen(choice);
    choice += size + 1;
  } while (index--);
  put(s, choice - size - 1, size);
}

// Append the value of a symbol. An address says whether None or 0 came for NULL.
static void put_bound(State *s, const Slot *slot) {
  if (slot->state == UNBOUND || (s->style == STYLE_HEX && slot->from_none))
    put_text(s, NONE);
  else if (s->style == STYLE_CHOICE)
    put_choice(s, slot->value);
  else
    put_value(s, slot->value, BIG_NONE);
}

static void put_path(State *s) {
  const Place place = {s->place.parameter, NO_INDEX, PART_VALUE, false};
  put_place(s, &place, 0, s->outer, s->element);
}

static void put_placeholder(State *s, char placeholder) {
  const Slot *slot = &s->slots[s->symbol];
  switch (placeholder) {
  case PUT_EXPECTED:
    put_value(s, s->expected, BIG_NONE);
    break;
  case PUT_GOT:
    put_value(s, s->value, s->big);
    break;
  case PUT_SYMBOL:
    put_symbol(s, s->symbol);
    break;
  case PUT_ORIGIN:
    put_place(s, &slot->place, s->symbol, 0, slot->element);
    break;
  case PUT_TEXT:
    put_operand(s, s->text);
    put_element(s, s->other);
    break;
  case PUT_BINDINGS:
    put_bindings(s);
    break;
  case PUT_PATH:
    put_path(s);
    break;
  case PUT_TYPE:
    put_type(s);
    break;
  case PUT_DTYPE:
    put_dtype(s, s->value);
    break;
  case PUT_DEVICE:
    put_device(s, s->value);
    break;
  case PUT_EXPECTED_DTYPE:
    put_dtype(s, s->expected);
    break;
  case PUT_EXPECTED_DEVICE:
    put_device(s, s->expected);
    break;
  case PUT_RANGE:
    put_range(s, s->expected);
    break;
  case PUT_SHAPE:
    put_list(s, dl_tensor(s->object)->shape);
    break;
  case PUT_STRIDES:
    put_list(s, dl_tensor(s->object)->strides);
    break;
  case PUT_ADDRESS:
    put_hex(s, s->value);
    break;
  case PUT_OFFSET:
    put_hex(s, s->expected);
    break;
  case PUT_ALIGNMENT: // the lowest bit that is set
    put_unsigned(s, s->value & (int64_t)-(uint64_t)s->value);
    break;
  case PUT_SUBJECT:
    put_template(s, s->row->prefix);
    put_place(s, &s->place, s->symbol, s->outer, s->element);
    break;
  case PUT_ARGUMENT:
    put_int(s, table_u16(s->table + s->place.parameter + 6));
    break;
  case PUT_SIGNATURE:
    put_signature(s);
    break;
  case PUT_WANTED:
    put_template(s, s->row->expected);
    break;
  case PUT_ACTUAL:
    put_template(s, s->row->got);
    break;
  case PUT_BOUND:
    put_bound(s, slot);
    break;
  case PUT_OR_NONE:
    if (s->optional)
      put_text(s, OR_NONE);
    break;
  case PUT_STRING:
    put_quoted(s);
    break;
  case PUT_NEAREST:
    put_nearest(s);
    break;
  case PUT_BYTES:
    put_addresses(s, s->value, s->expected);
    break;
  case PUT_OTHER_BYTES:
    put_addresses(s, (int64_t)s->other_bytes[0], (int64_t)s->other_bytes[1]);
    break;
  }
}

// Append a template. Bytes below 32 are placeholders; all others are text.
static void put_template(State *s, uint16_t position) {
  const char *template = TEXTS + position;
  while (*template) {
    size_t size = 0;
    while ((uint8_t)template[size] >= 32)
      ++size;
    put(s, template, size);
    template += size;
    if (*template)
      put_placeholder(s, *template++);
  }
}

// ---- failing

// Write the message of an error. Return false, as a check that fails does.
__attribute__((noinline)) static bool fail(State *s, uint8_t words) {
  s->row = &WORDS[words];
  s->kind = TEXTS + s->row->kind;
  put_template(s, s->place.parameter ? FRAME : FRAME_WITHOUT_ARGUMENT);
  return false;
}

// Write that the diagnosis has found nothing wrong, although the fast path has.
static void undecided(State *s) {
  s->kind = TEXTS + RUNTIME_ERROR;
  put_text(s, UNDECIDED);
}
