// Finds NaN and poison in copies of tensors, and writes elements of copies for errors.

// Return a little-endian number of up to 8 bytes.
static uint64_t number_at(const unsigned char *address, int64_t size) {
  uint64_t number = 0;
  memcpy(&number, address, (size_t)size);
  return number;
}

static bool is_nan(uint64_t number, const Floats *floats) {
  return ((number ^ floats->flip) & floats->mask) > floats->greatest;
}

// Return whether a number is a signalling NaN of any tensor's pattern, or the result of arithmetic
// on one: the same NaN, but quiet, and perhaps with another sign.
static bool is_poison(uint64_t number, const Floats *floats) {
  // `greatest` is infinity, which has all bits of the exponent and none of the fraction. The first
  // bit of the fraction makes a NaN quiet.
  uint64_t quiet = (floats->greatest & (0 - floats->greatest)) >> 1;
  uint64_t kept = floats->mask & (0 - (uint64_t)SALTS);
  return ((number & kept) | quiet) == ((floats->poison & kept) | quiet);
}

// Return the index of the first element with a wanted number after the call, or -1.
static int64_t first_element(const Copy *copy, const Floats *floats,
                             bool (*is_wanted)(uint64_t, const Floats *)) {
  for (int64_t element = 0; element < copy->count; ++element) {
    const unsigned char *start = element_at(copy, element, 0);
    for (int64_t at = 0; at + floats->size <= copy->width; at += floats->size)
      if (is_wanted(number_at(start + at, floats->size), floats))
        return element;
  }
  return -1;
}

RARE int64_t SHARED(nan_element)(const Copy *copy) {
  const Floats *floats = floats_of(&copy->tensor);
  return floats == NULL ? -1 : first_element(copy, floats, is_nan);
}

RARE int64_t SHARED(poisonous_element)(const Copy *copy) {
  const Floats *floats = floats_of(&copy->tensor);
  return floats == NULL || floats->poison == 0 ? -1 : first_element(copy, floats, is_poison);
}

// ---- texts

enum {
  TEXT_SIZE = 96, // bytes that generated code makes room for
  FULL_TEXT = 64, // nothing is appended to a text of this length; messages show no more
};

static void append(char *text, const char *more) {
  size_t length = strlen(text);
  if (length < FULL_TEXT)
    snprintf(text + length, TEXT_SIZE - length, "%s", more);
}

static void append_number(char *text, int64_t number) {
  size_t length = strlen(text);
  if (length < FULL_TEXT)
    snprintf(text + length, TEXT_SIZE - length, "%lld", (long long)number);
}

// Write where an element is: `[1, 2]`, or `, byte 3` if elements are not whole bytes.
RARE void SHARED(element_index)(const Copy *copy, int64_t number, char *text) {
  const DLTensor *tensor = &copy->tensor;
  *text = 0;
  if (is_narrow(tensor)) {
    append(text, ", byte ");
    append_number(text, number);
    return;
  }
  for (int64_t axis = 0; axis < tensor->ndim; ++axis) {
    append(text, axis == 0 ? "[" : ", ");
    int64_t rest = number;
    for (int64_t inner = tensor->ndim - 1; inner > axis; --inner)
      rest /= steps_along(tensor, inner);
    append_number(text, rest % steps_along(tensor, axis));
  }
  if (tensor->ndim != 0)
    append(text, "]");
}

// Write an element of one lane if it is a float; else return false.
static bool write_float(const DLTensor *tensor, uint64_t bits, char *text) {
  if (has_dtype(tensor, kDLFloat, 64))
    snprintf(text, TEXT_SIZE, "%.15g", double_of(bits));
  else if (has_dtype(tensor, kDLFloat, 32))
    snprintf(text, TEXT_SIZE, "%.7g", float32_value(bits));
  else if (has_dtype(tensor, kDLFloat, 16))
    snprintf(text, TEXT_SIZE, "%.7g", float16_value(bits));
  else if (has_dtype(tensor, kDLBfloat, 16))
    snprintf(text, TEXT_SIZE, "%.7g", float32_value(bits << 16));
  else
    return false;
  return true;
}

// Write an element of one lane and whole bytes if it is an int, uint or bool; else return false.
static bool write_integer(const DLTensor *tensor, uint64_t bits, char *text) {
  int32_t unused = 64 - tensor->dtype.bits;
  if (tensor->dtype.code == kDLInt)
    snprintf(text, TEXT_SIZE, "%lld", (long long)(bits << unused) >> unused);
  else if (tensor->dtype.code == kDLUInt || tensor->dtype.code == kDLBool)
    snprintf(text, TEXT_SIZE, "%llu", (unsigned long long)bits);
  else
    return false;
  return true;
}

// Write an element of a region: a number, or its bytes in hexadecimal for all other dtypes.
RARE void SHARED(element_value)(const Copy *copy, int64_t number, int64_t region, char *text) {
  const DLTensor *tensor = &copy->tensor;
  uint64_t bits = number_at(element_at(copy, number, region), copy->width < 8 ? copy->width : 8);
  bool is_one = tensor->dtype.lanes == 1 && copy->width <= 8;
  if (is_one && !is_narrow(tensor) && write_integer(tensor, bits, text))
    return;
  if (is_one && write_float(tensor, bits, text))
    return;
  snprintf(text, TEXT_SIZE, "0x%llx", (unsigned long long)bits);
}
