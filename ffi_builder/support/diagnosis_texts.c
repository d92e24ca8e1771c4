// Appends texts, numbers and names to the message as far as there is room.

__attribute__((noinline)) static void put(State *s, const char *text, size_t size) {
  const size_t room = (size_t)(s->end - s->cursor);
  const size_t fitting = size < room ? size : room;
  memcpy(s->cursor, text, fitting);
  s->cursor += fitting;
}

static void put_byte(State *s, char byte) { put(s, &byte, 1); }

// Append one of TEXTS by its position. An address in the code would need a relocation.
static void put_text(State *s, uint16_t position) {
  put(s, TEXTS + position, strlen(TEXTS + position));
}

static void put_operand(State *s, const uint8_t *text) {
  put(s, text_data(s, text), text_size(text));
}

// ---- numbers

static char digit(uint64_t number) {
  return (char)(number < 10 ? '0' + number : 'a' + number - 10);
}

// Append digits. This is faster than snprintf, which would take most of the time of many errors.
static void put_digits(State *s, uint64_t number, uint32_t base) {
  char space[20]; // the number of digits of 2^64
  size_t at = sizeof space;
  do {
    space[--at] = digit(number % base);
    number /= base;
  } while (number);
  put(s, space + at, sizeof space - at);
}

static void put_unsigned(State *s, int64_t number) { put_digits(s, (uint64_t)number, 10); }

static void put_int(State *s, int64_t number) {
  if (number < 0)
    put_byte(s, '-');
  put_unsigned(s, number < 0 ? -number : number);
}

static void put_hex(State *s, int64_t number) {
  put_text(s, HEX);
  put_digits(s, (uint64_t)number, 16);
}

static void put_addresses(State *s, int64_t first, int64_t last) {
  put_hex(s, first);
  put_text(s, TO);
  put_hex(s, last);
}

// The compiler puts all literals of this translation unit into one section. An exported object
// would have to take that section whole.
static const char FLOAT_FORMAT[] = "%.*g";

// Append a float64 with 15 digits, or with 17 if 15 do not read back as the same number.
static void put_float(State *s, double number) {
  if (number != number) {
    put_text(s, NOT_A_NUMBER);
    return;
  }
  char space[64];
  int size = snprintf(space, sizeof space, FLOAT_FORMAT, 15, number);
  if (strtod(space, NULL) != number)
    size = snprintf(space, sizeof space, FLOAT_FORMAT, 17, number);
  put(s, space, (size_t)size);
}

static void put_dtype(State *s, int64_t dtype);

static void put_value(State *s, int64_t value, int32_t big) {
  if (big >= BIG_BEYOND)
    put_text(s, BIG_INT);
  else if (s->style == STYLE_FLOAT)
    put_float(s, as_float(value));
  // A bool that is neither 0 nor 1 is shown as an int.
  else if (s->style == STYLE_BOOL && (value == 0 || value == 1))
    put_text(s, value ? TRUE : FALSE);
  else if (s->style == STYLE_DTYPE)
    put_dtype(s, value);
  else if (s->style == STYLE_HEX)
    put_hex(s, value);
  else if (s->style == STYLE_UINT || big == BIG_UNSIGNED)
    put_unsigned(s, value);
  else
    put_int(s, value);
}

// Append the range of an integer dtype.
static void put_range(State *s, int64_t dtype) {
  const uint64_t bits = (uint64_t)dtype >> 8 & 0xFF;
  const bool is_signed = (dtype & 0xFF) == kDLInt;
  const uint64_t high = UINT64_MAX >> (64 - bits) >> is_signed;
  put_int(s, is_signed ? (int64_t)~high : 0);
  put_text(s, TO);
  put_unsigned(s, (int64_t)high);
}

// ---- names

// Append the name of a number, from the names at a position in TEXTS. Return false if it has none.
static bool put_name(State *s, uint16_t position, int64_t number) {
  const char *names = TEXTS + position;
  while (names[1]) {
    const size_t size = strlen(names + 1);
    if ((uint8_t)names[0] == number) {
      put(s, names + 1, size);
      return true;
    }
    names += size + 2;
  }
  return false;
}

static void put_device(State *s, int64_t device) {
  if (put_name(s, DEVICE_NAMES, device))
    return;
  put_text(s, DEVICE_TYPE);
  put_int(s, device);
}

static void put_dtype(State *s, int64_t dtype) {
  const int64_t code = dtype & 0xFF, bits = dtype >> 8 & 0xFF, lanes = dtype >> 16 & 0xFFFF;
  if (!put_name(s, DTYPE_NAMES, code)) {
    put_text(s, DTYPE_CODE);
    put_int(s, code);
    put_text(s, DTYPE_BITS);
    put_int(s, bits);
    put_text(s, DTYPE_LANES);
    put_int(s, lanes);
    put_byte(s, ')');
    return;
  }
  if (!FIXED_BITS[code] || bits != FIXED_BITS[code])
    put_int(s, bits);
  if (lanes != 1) {
    put_byte(s, 'x');
    put_int(s, lanes);
  }
}

// Return what the registry of types has on the current dynamic type, or NULL. The registry ends the
// process if it is asked for a type index that was never registered. So it is asked only if the
// object's own header has the same type index.
static const TVMFFITypeInfo *dynamic_type(const State *s) {
  if (s->type < kTVMFFIDynObjectBegin || !s->payload)
    return NULL;
  const TVMFFIObject *object = address(s->payload);
  return object->type_index == s->type ? TVMFFIGetTypeInfo(s->type) : NULL;
}

// Append the type key of an object with a dynamic type, or else the name of the type.
static void put_type(State *s) {
  const TVMFFITypeInfo *info = dynamic_type(s);
  if (info && info->type_key.size <= LONGEST_TYPE_KEY) {
    put(s, info->type_key.data, info->type_key.size);
    return;
  }
  if (put_name(s, TYPE_NAMES, s->type))
    return;
  put_text(s, TYPE_INDEX);
  put_int(s, s->type);
}

// ---- places

static void put_symbol(State *s, uint32_t symbol) { put_operand(s, symbol_entry(s, symbol)); }

static void put_index(State *s, int64_t index) {
  put_byte(s, '[');
  put_int(s, index);
  put_byte(s, ']');
}

// Append the index of an element of a list by its number, which is 1 more. Append nothing for 0.
static void put_element(State *s, int64_t element) {
  if (element)
    put_index(s, element - 1);
}

static void put_place(State *s, const Place *place, uint32_t symbol, int64_t outer,
                      int64_t element) {
  if (place->solved) {
    put_symbol(s, symbol);
    put_text(s, IN);
  }
  if (place->part == PART_LENGTH)
    put_text(s, LENGTH_OF);
  if (place->parameter)
    put_operand(s, s->table + place->parameter);
  put_element(s, outer);
  put_element(s, element);
  put_name(s, SUFFIXES, place->part);
  if (place->index != NO_INDEX)
    put_index(s, place->index);
}

// Append the entries of a shape or of strides, one for each dimension of the current tensor. Append
// NULL if the pointer is NULL.
static void put_list(State *s, const int64_t *entries) {
  if (!entries) {
    put_text(s, NO_POINTER);
    return;
  }
  const int32_t count = dl_tensor(s->object)->ndim;
  put_byte(s, '[');
  for (int32_t i = 0; i < count && i < SHOWN_ENTRIES; ++i) {
    if (i)
      put_text(s, COMMA);
    put_int(s, entries[i]);
  }
  if (count > SHOWN_ENTRIES)
    put_text(s, BEHIND_ARGUMENT);
  put_byte(s, ']');
}
