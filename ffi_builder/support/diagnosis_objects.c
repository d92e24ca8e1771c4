// Checks objects, strs and bytes.

// ---- strs and bytes

// Decode a str or bytes. For small ones, whose bytes are in the TVMFFIAny, the object is not NULL.
static bool decode_text(State *s) {
  const uint8_t binary = read_u8(s);
  look_inside(s);
  // Each type index of bytes is 1 more than that of a str.
  const int64_t type = (int64_t)s->type - binary;
  const bool small = type == kTVMFFISmallStr;
  const bool plain = (small || type == kTVMFFIRawStr) && !s->inner;
  const bool object = type == kTVMFFIStr || s->type == kTVMFFIObjectRValueRef;
  s->object = small ? (const TVMFFIObject *)(const void *)s->any : address(s->payload);
  return plain || object || fail(s, binary ? WORDS_DECODE_TEXT_OF_BYTES : WORDS_DECODE_TEXT_OF_STR);
}

static bool is_small(const State *s) {
  return s->type == kTVMFFISmallStr || s->type == kTVMFFISmallBytes;
}

// Store the address and the number of the bytes of a str or bytes.
static void find_bytes(State *s) {
  if (s->type == kTVMFFIRawStr) {
    s->data = address(s->payload);
    s->size = s->data ? strlen(s->data) : 0;
  } else if (is_small(s)) {
    s->data = s->any->v_bytes;
    s->size = s->any->small_str_len;
  } else {
    const void *held = address(s->payload);
    const TVMFFIObject *header = held;
    const TVMFFIByteArray *array =
        s->type == kTVMFFIByteArrayPtr ? held : (const TVMFFIByteArray *)(header + 1);
    s->data = array->data;
    s->size = array->size;
  }
}

static bool check_small(State *s) {
  find_bytes(s);
  s->value = (int64_t)s->size;
  return !is_small(s) || s->size <= SMALL_CAPACITY || fail(s, WORDS_CHECK_SMALL);
}

static bool check_bytes(State *s) { return s->data || !s->size || fail(s, WORDS_CHECK_BYTES); }

static bool check_choice(State *s) {
  s->text = read_text(s);
  s->bindings = s->pc;
  bool found = false;
  const uint16_t count = read_u16(s);
  for (uint16_t at = 0; at < count; ++at) {
    const uint8_t *choice = read_text(s);
    const uint16_t size = text_size(choice);
    if (size == s->size && same_bytes(s->data, text_data(s, choice), size)) {
      s->value = at;
      found = true;
    }
  }
  return found || fail(s, WORDS_CHECK_CHOICE);
}

// ---- objects

// Return whether the object's type is dynamic, and the type or one of its ancestors has the key.
static bool has_own_key(const State *s, const uint8_t *key) {
  return dynamic_type(s) && has_key(s->type, text_data(s, key), text_size(key));
}

static bool decode_object(State *s) {
  const uint8_t accepted = read_u8(s), static_type = read_u8(s);
  s->text = read_text(s);
  look_inside(s);
  const bool object = s->type >= kTVMFFIStaticObjectBegin;
  // A moved reference that holds nothing is an object that is NULL.
  bool fine = (s->type == kTVMFFIObjectRValueRef && !s->inner) || (object && s->type == accepted);
  if (accepted == ACCEPTED_ANY)
    fine |= object;
  if (accepted == ACCEPTED_BY_KEY)
    fine |= (object && s->type == static_type) || has_own_key(s, s->text);
  if (accepted == ACCEPTED_MAPPING)
    fine |= s->type == kTVMFFIMap || s->type == kTVMFFIDict;
  s->object = address(s->payload);
  return fine || fail(s, WORDS_DECODE_OBJECT);
}
