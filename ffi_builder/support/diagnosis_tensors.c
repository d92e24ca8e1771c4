// Checks tensors as a whole, and their dimensions, strides and data.

// Make the tensor in the current TVMFFIAny the current object. Return false if there is none.
static bool find_tensor(State *s) {
  look_inside(s);
  take_object(s);
  if (s->type == kTVMFFIDLTensorPtr && !s->inner) {
    // The object of the tensor (support.h).
    s->object = s->payload ? address(s->payload - (int64_t)sizeof(TVMFFIObject)) : NULL;
    return true;
  }
  return s->type == kTVMFFITensor || s->type == kTVMFFIObjectRValueRef;
}

static bool decode_tensor(State *s) { return find_tensor(s) || fail(s, WORDS_DECODE_TENSOR); }

// Read a part and check that it equals a number.
static bool check_part(State *s, uint8_t source, int64_t expected, uint8_t words) {
  read_part(s, source, NO_INDEX);
  s->expected = expected;
  return s->value == expected || fail(s, words);
}

static bool check_head(State *s) {
  const uint8_t rank = read_u8(s);
  const int32_t dtype = read_i32(s);
  const uint8_t device = read_u8(s);
  turn_to(s, PART_VALUE, NO_INDEX);
  if (!s->object)
    return fail(s, WORDS_NOT_NULL);
  return check_part(s, SOURCE_NDIM, rank, WORDS_CHECK_NDIM) &&
         check_part(s, SOURCE_DTYPE, dtype, WORDS_CHECK_DTYPE_SINGLE) &&
         check_part(s, SOURCE_DEVICE_TYPE, device, WORDS_CHECK_DEVICE_TYPE);
}

// Check that the pointer to the dimensions is not NULL, unless there are no dimensions.
static bool check_shape_pointer(State *s) {
  const DLTensor *dl = dl_tensor(s->object);
  if (dl->shape || !dl->ndim)
    return true;
  turn_to(s, PART_SHAPE, NO_INDEX);
  return fail(s, WORDS_CHECK_SHAPE_POINTER);
}

static bool check_dim(State *s, int32_t axis) {
  turn_to(s, PART_SHAPE, (uint16_t)axis);
  s->value = dl_tensor(s->object)->shape[axis];
  return s->value >= 0 || fail(s, WORDS_NOT_NEGATIVE);
}

static bool check_dims(State *s) {
  for (int32_t axis = 0; axis < dl_tensor(s->object)->ndim; ++axis) {
    if (!check_dim(s, axis))
      return false;
  }
  return true;
}

// Return the stride of an axis in column-major order.
static int64_t column_major(const DLTensor *tensor, int32_t axis) {
  int64_t product = 1;
  while (--axis >= 0)
    product *= tensor->shape[axis];
  return product;
}

static bool check_layout(State *s) {
  const bool by_column = read_u8(s);
  const uint8_t words =
      by_column ? WORDS_CHECK_CONTIGUOUS_COLUMN_MAJOR : WORDS_CHECK_CONTIGUOUS_ROW_MAJOR;
  const DLTensor *dl = dl_tensor(s->object);
  for (int32_t axis = 0; axis < dl->ndim; ++axis) {
    read_stride(s, axis);
    s->expected = by_column ? column_major(dl, axis) : row_major(dl, axis);
    if (!check(s, s->value == s->expected, words))
      return false;
  }
  return true;
}

// Check the number of elements, the byte offset and the data pointer. Then read the address.
static bool check_data(State *s) {
  const DLTensor *dl = dl_tensor(s->object);
  turn_to(s, PART_SHAPE, NO_INDEX);
  if (!SHARED(numel_fits)(s->object))
    return fail(s, WORDS_CHECK_NUMEL);
  turn_to(s, PART_BYTE_OFFSET, NO_INDEX);
  s->value = number_of(dl->data);
  s->expected = (int64_t)dl->byte_offset;
  if ((uint64_t)s->value + dl->byte_offset < dl->byte_offset)
    return fail(s, WORDS_CHECK_OFFSET);
  turn_to(s, PART_DATA, NO_INDEX);
  s->free = -1;
  if (!check(s, s->value, WORDS_CHECK_DATA))
    return false;
  s->value = number_of(data_of(dl));
  return true;
}

static bool check_alignment(State *s) {
  s->expected = (int64_t)1 << read_u8(s);
  return check(s, !(s->value & (s->expected - 1)), WORDS_CHECK_ALIGNMENT);
}

static bool check_element_alignment(State *s) {
  s->expected = alignment_of(dl_tensor(s->object));
  return check(s, SHARED(is_aligned)(s->object), WORDS_CHECK_ELEMENT_ALIGNMENT);
}

// Compare with the first other tensor that is present and on the same device type.
static bool check_same_device(State *s) {
  const DLDevice *own = &dl_tensor(s->object)->device;
  bool found = false;
  turn_to(s, PART_DEVICE_ID, NO_INDEX);
  s->value = own->device_id;
  for (int32_t count = read_u16(s); count > 0; --count) {
    const TVMFFIObject *other = slot_object(read_slot(s));
    const uint8_t *text = read_text(s);
    if (found || !other || dl_tensor(other)->device.device_type != own->device_type)
      continue;
    found = true;
    s->expected = dl_tensor(other)->device.device_id;
    s->text = text;
  }
  return !found || s->value == s->expected || fail(s, WORDS_CHECK_SAME_DEVICE);
}

static bool check_dtypes(State *s) {
  bool right = false;
  for (int32_t count = read_u8(s); count > 0; --count)
    right |= s->value == read_i32(s);
  s->text = read_text(s);
  return right || fail(s, WORDS_CHECK_DTYPE_SEVERAL);
}

static bool check_same_dtype(State *s) {
  s->expected = dtype_word(slot_object(read_slot(s)));
  s->text = read_text(s);
  return s->value == s->expected || fail(s, WORDS_CHECK_SAME_DTYPE);
}
