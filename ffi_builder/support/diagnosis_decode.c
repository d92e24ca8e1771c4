// Decodes arguments, elements and objects, and reads their parts.

// ---- checks that do not always apply

// Return whether checks do not apply to the value: its stride is free, or its tensor is empty.
static bool is_free(const State *s) {
  if (!s->free)
    return false;
  const DLTensor *tensor = dl_tensor(s->object);
  return is_empty(tensor) || (s->free > 0 && tensor->shape[s->free - 1] == 1);
}

// Fail and return false if the value is not right, unless checks do not apply to it.
static bool check(State *s, bool right, uint8_t words) {
  return right || is_free(s) || fail(s, words);
}

// ---- arguments and elements

// Set the place to a parameter: the position of the operands in the table. They are a text and the
// number of the argument, a u16.
static bool set_parameter(State *s) {
  s->place = (Place){(uint32_t)(s->pc - s->table), NO_INDEX, PART_VALUE, false};
  s->pc += 8;
  return true;
}

static bool turn_to_any(State *s, const TVMFFIAny *any) {
  s->any = any;
  s->optional = false;
  return true;
}

static const TVMFFIAny *list_element(const TVMFFIObject *list, int64_t index) {
  return (const TVMFFIAny *)list_cell(list)->data + index;
}

// Load the type index and the payload of the current TVMFFIAny.
static void look(State *s) {
  s->type = s->any->type_index;
  s->payload = s->any->v_int64;
  s->inner = false;
}

// Do the same, but look inside a moved reference: load the type index and the address of the object
// in it. If the reference or the object is NULL, the type index stays that of a moved reference,
// and the payload is NULL.
static void look_inside(State *s) {
  look(s);
  if (s->type != kTVMFFIObjectRValueRef || !s->payload)
    return;
  s->payload = number_of(*(TVMFFIObject *const *)address(s->payload));
  if (!s->payload)
    return;
  s->type = ((const TVMFFIObject *)address(s->payload))->type_index;
  s->inner = true;
}

// Store a type index in a slot, and skip instructions if it is that of None.
static bool enter(State *s, int32_t type) {
  Slot *slot = read_slot(s);
  const uint32_t size = read_u32(s);
  slot->value = type;
  s->pc += type == kTVMFFINone ? size : 0;
  return true;
}

static bool look_at_optional(State *s) {
  look(s);
  s->optional = true;
  return enter(s, s->type);
}

// Look at an argument, and return whether its type is one of those of a mask. If the mask has types
// that come as moved objects, a moved object is of the type of its object.
static bool is_one_of(State *s) {
  uint32_t mask = read_u32(s);
  look_inside(s);
  if (s->inner) {
    s->type = mask & MOVABLE_TYPES ? s->type : kTVMFFIObjectRValueRef;
    mask &= MOVABLE_TYPES;
  }
  const uint32_t type = (uint32_t)s->type, bit = type < 16 ? type : type - OBJECT_BITS;
  return (type < 16 || type >= kTVMFFIObject) && bit < 32 && mask >> bit & 1;
}

static bool check_variant(State *s) {
  const bool right = is_one_of(s);
  s->text = read_text(s);
  return right || fail(s, WORDS_DECODE_VARIANT);
}

static bool look_at_alternative(State *s) { return enter(s, is_one_of(s) ? s->type : kTVMFFINone); }

static bool guard(State *s) {
  const Slot *slot = read_slot(s);
  const uint32_t size = read_u32(s);
  s->pc += slot->value ? 0 : size;
  return true;
}

// ---- objects

static void take_object(State *s) {
  s->object = address(s->payload);
  s->object_type = s->type;
}

static bool is_list(int64_t type) { return type == kTVMFFIArray || type == kTVMFFIList; }

// Say that there is no memory.
static inline __attribute__((always_inline)) void no_memory(State *s) {
  s->kind = TEXTS + MEMORY_ERROR;
  s->message = TEXTS + NO_MEMORY;
  s->cursor = (char *)s->message + strlen(s->message);
}

static bool decode_container(State *s) {
  const uint8_t words = read_u8(s);
  look_inside(s);
  const bool right = is_list(s->type) || s->type == kTVMFFIObjectRValueRef ||
                     (s->type == kTVMFFIShape &&
                      (words == WORDS_DECODE_SHAPE || words == WORDS_DECODE_LIST_OF_INTS));
  take_object(s);
  return right || fail(s, words);
}

// Turn to the keys and the values of the current Map, a tuple of two lists.
static bool open_the_map(State *s) {
  MapItems *items = (MapItems *)SHARED(map_items)(s->object);
  if (!items) {
    no_memory(s);
    return false;
  }
  items->next = s->maps;
  s->maps = items;
  s->object = &items->tuple.header;
  s->object_type = kTVMFFIArray;
  return true;
}

static bool save_in(Slot *slot, const State *s) {
  slot->value = number_of(s->object);
  slot->object_type = s->object_type;
  return true;
}

static bool restore_from(State *s, const Slot *slot) {
  s->object = slot_object(slot);
  s->object_type = slot->object_type;
  return true;
}

// ---- lists

// Begin with the elements of a list. Skip the instructions for them if there are none.
static bool begin_elements(State *s) {
  const uint32_t size = read_u32(s);
  const TVMFFISeqCell *cell = list_cell(s->object);
  s->place = (Place){s->place.parameter, NO_INDEX, PART_VALUE, false};
  if (cell->size && !cell->data)
    return fail(s, WORDS_CHECK_CELLS);
  if (!cell->size) {
    s->pc += size;
    return true;
  }
  s->outer = s->element;
  s->element = 0;
  return true;
}

// Pass by the next elements that are certainly right: numbers of the usual type, and in a range; or
// strs or bytes.
static bool skip_usual(State *s) {
  const int32_t type = read_u8(s);
  const uint64_t shift = (uint64_t)read_i64(s), greatest = (uint64_t)read_i64(s);
  const TVMFFISeqCell *cell = list_cell(s->object);
  if (s->object_type == kTVMFFIShape)
    return true;
  TVMFFIByteArray text;
  for (; s->element < cell->size; ++s->element) {
    const TVMFFIAny *any = list_element(s->object, s->element);
    const bool right = type >= kTVMFFIStr
                           ? SHARED(text)(any, type - kTVMFFIStr, &text)
                           : any->type_index == type && (uint64_t)any->v_int64 + shift <= greatest;
    if (!right)
      break;
  }
  return true;
}

static bool next_element(State *s) {
  const uint32_t size = read_u32(s);
  if (++s->element <= list_cell(s->object)->size)
    return true;
  s->element = s->outer;
  s->outer = 0;
  s->pc += size;
  return true;
}

// Turn to the current element. One of a Shape is an int64, and an int of an Array is a TVMFFIAny.
static bool turn_to_element(State *s) {
  const int64_t index = s->element - 1;
  if (s->object_type != kTVMFFIShape)
    return turn_to_any(s, list_element(s->object, index));
  s->number.type_index = kTVMFFIInt;
  s->number.v_int64 = ((const TVMFFIShapeCell *)(s->object + 1))->data[index];
  return turn_to_any(s, &s->number);
}

// Save the current object if it is in the first element.
static bool save_first(State *s) {
  Slot *slot = read_slot(s);
  return s->element != 1 || save_in(slot, s);
}

static bool go_back(State *s) {
  const uint32_t size = read_u32(s);
  s->pc -= size;
  return true;
}

// ---- scalars

// Read a BigInt: a count of words and the words, the least significant word first.
static void read_big_int(State *s) {
  s->value = 0;
  s->big = BIG_BEYOND;
  if (!s->payload)
    return;
  const BigInt *big = address(s->payload);
  s->big = BIG_NONE;
  if (big->count <= 0)
    return;
  s->value = big->words[0];
  if (big->words[big->count - 1] < 0) {
    // A single word is an int64.
    s->big = big->count == 1 ? BIG_NONE : BIG_NEGATIVE;
    return;
  }
  s->big = s->value < 0 ? BIG_UNSIGNED : BIG_NONE;
  for (int64_t index = 1; index < big->count; ++index) {
    if (big->words[index])
      s->big = BIG_BEYOND;
  }
}

static bool decode_scalar(State *s) {
  const bool right = is_one_of(s);
  const uint8_t words = read_u8(s);
  s->style = read_u8(s);
  s->free = 0;
  s->big = BIG_NONE;
  if (!right)
    return fail(s, words);
  s->value = s->type == kTVMFFINone ? 0 : s->payload;
  if (s->type == kTVMFFIBigInt)
    read_big_int(s);
  else if (s->type == kTVMFFIOpaquePtr && s->value < 0)
    s->big = BIG_UNSIGNED; // an address is unsigned
  return true;
}

// Return the value rounded to a dtype, as a double.
static double rounded(double value, uint8_t rounding) {
  switch (rounding) {
  case ROUNDING_FLOAT32:
    return (float)value;
  case ROUNDING_FLOAT16:
    return float16_value((uint16_t)SHARED(round_float16)(value));
  case ROUNDING_BFLOAT16:
    return float32_value((uint64_t)(uint16_t)SHARED(round_bfloat16)(value) << 16);
  default:
    return value;
  }
}

static bool round_float(State *s) {
  const uint8_t rounding = read_u8(s);
  const double value = s->type == kTVMFFIFloat ? as_float(s->value) : (double)s->value;
  s->value = float_bits(rounded(value, rounding));
  return true;
}

// ---- parts

static int64_t dtype_word(const TVMFFIObject *tensor) {
  int32_t word;
  memcpy(&word, &dl_tensor(tensor)->dtype, sizeof word);
  return word;
}

// Read a stride. NULL strides stand for row-major ones.
static void read_stride(State *s, int32_t axis) {
  turn_to(s, PART_STRIDES, (uint16_t)axis);
  s->value = stride_of(dl_tensor(s->object), axis);
  s->free = axis + 1;
}

// Read an element: an int64 of a Shape, or an int or bool of an Array or List.
static bool read_entry(State *s, uint16_t index) {
  if (s->object_type == kTVMFFIShape) {
    s->value = ((const TVMFFIShapeCell *)(s->object + 1))->data[index];
    return true;
  }
  turn_to_any(s, list_element(s->object, index));
  look(s);
  s->value = s->payload;
  return s->type == kTVMFFIInt || s->type == kTVMFFIBool || fail(s, WORDS_DECODE_ENTRY);
}

// Read a part of the current object. Errors do not name the parts from SOURCE_OBJECT to
// SOURCE_CELLS.
static bool read_part(State *s, uint8_t source, uint16_t index) {
  const bool named = source <= SOURCE_ARGUMENTS || source >= SOURCE_ELEMENTS;
  turn_to(s, named ? source : PART_VALUE, index);
  switch (source) {
  case SOURCE_NDIM:
    s->value = dl_tensor(s->object)->ndim;
    break;
  case SOURCE_DTYPE:
    s->value = dtype_word(s->object);
    break;
  case SOURCE_DEVICE_TYPE:
    s->value = (int32_t)dl_tensor(s->object)->device.device_type;
    break;
  case SOURCE_DEVICE_ID:
    s->value = dl_tensor(s->object)->device.device_id;
    break;
  case SOURCE_SHAPE:
    s->value = dl_tensor(s->object)->shape[index];
    break;
  case SOURCE_STRIDES:
    read_stride(s, index);
    break;
  case SOURCE_DATA:
    s->value = number_of(data_of(dl_tensor(s->object)));
    break;
  case SOURCE_CONTIGUOUS:
    s->value = !dl_tensor(s->object)->strides || SHARED(contiguous)(s->object);
    break;
  case SOURCE_PRESENT: // the index is the number of an Optional's slot
    s->value = s->slots[index].value != kTVMFFINone;
    s->place.index = NO_INDEX;
    break;
  case SOURCE_ENTRY:
    return read_entry(s, index);
  case SOURCE_COUNT:
    s->value = s->num_args;
    break;
  case SOURCE_ARGUMENTS:
    s->value = number_of(s->args);
    break;
  case SOURCE_OBJECT:
    s->value = number_of(s->object);
    break;
  case SOURCE_LENGTH:
  case SOURCE_ELEMENTS:
    s->value = list_cell(s->object)->size;
    break;
  case SOURCE_CELLS:
    s->value = number_of(list_cell(s->object)->data);
    break;
  }
  return true;
}

static bool read_indexed(State *s) {
  const uint8_t source = read_u8(s);
  return read_part(s, source, read_u16(s));
}
