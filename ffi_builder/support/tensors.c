// Checks of tensors, for the rare branches of the fast path.
//
// Dimensions have not been checked yet and may be negative. Their products wrap.

// Return the object of a Tensor, moved or not, or of a DLTensor*; NULL for all other values.
RARE const TVMFFIObject *SHARED(tensor_object)(const TVMFFIAny *any) {
  if (any->v_obj == NULL || any->type_index == kTVMFFITensor)
    return any->v_obj;
  if (any->type_index == kTVMFFIDLTensorPtr)
    return any->v_obj - 1;
  return SHARED(moved_object)(kind_bit(kTVMFFITensor), any);
}

// ---- elements

static bool is_empty(const DLTensor *tensor) {
  for (int64_t axis = 0; axis < tensor->ndim; ++axis)
    if (tensor->shape[axis] == 0)
      return true;
  return false;
}

RARE bool SHARED(is_empty)(const TVMFFIObject *object) { return is_empty(dl_tensor(object)); }

// Return whether a tensor is empty and its data pointer is NULL.
RARE bool SHARED(has_no_data)(const TVMFFIObject *object) {
  const DLTensor *tensor = dl_tensor(object);
  return tensor->data == NULL && is_empty(tensor);
}

// Return whether no dimension is negative and the product of all dimensions fits int64_t.
RARE bool SHARED(numel_fits)(const TVMFFIObject *object) {
  const DLTensor *tensor = dl_tensor(object);
  uint64_t product = 1;
  for (int64_t axis = 0; axis < tensor->ndim; ++axis) {
    if (tensor->shape[axis] < 0)
      return false;
    // After an overflow the product stays UINT64_MAX, unless a later dimension of 0 makes it 0.
    if (__builtin_mul_overflow(product, (uint64_t)tensor->shape[axis], &product))
      product = UINT64_MAX;
  }
  return product <= INT64_MAX;
}

// Return the bytes that addresses of elements are multiples of: those of a lane, of one part of a
// complex number, and 1 if a byte has several lanes.
static int64_t alignment_of(const DLTensor *tensor) {
  const int64_t bits = tensor->dtype.bits;
  const int64_t bytes = (tensor->dtype.code == kDLComplex ? bits / 2 : bits) / 8;
  return bytes > 1 ? bytes : 1;
}

// Return whether elements are where their dtype wants them, or there are none.
RARE bool SHARED(is_aligned)(const TVMFFIObject *object) {
  const DLTensor *tensor = dl_tensor(object);
  const uintptr_t low = (uintptr_t)alignment_of(tensor) - 1;
  return !((uintptr_t)data_of(tensor) & low) || is_empty(tensor) || !is_unified(tensor);
}

// ---- strides

// Fill `space` with the row-major strides of all axes, and return it.
RARE int64_t *SHARED(row_major_strides)(const TVMFFIObject *object, int64_t *space) {
  const DLTensor *tensor = dl_tensor(object);
  int64_t product = 1;
  for (int64_t axis = tensor->ndim - 1; axis >= 0; --axis) {
    space[axis] = product;
    product *= tensor->shape[axis];
  }
  return space;
}

// Return whether an axis may have any stride, since no element is reached by it.
static bool free_stride(const DLTensor *tensor, int64_t axis) {
  return tensor->shape[axis] == 1 || is_empty(tensor);
}

RARE bool SHARED(free_stride)(const TVMFFIObject *object, int64_t axis) {
  return free_stride(dl_tensor(object), axis);
}

// Return whether strides, which are not NULL, are row-major on all axes where they matter.
RARE bool SHARED(contiguous)(const TVMFFIObject *object) {
  const DLTensor *tensor = dl_tensor(object);
  int64_t wanted = 1;
  for (int64_t axis = tensor->ndim - 1; axis >= 0; --axis) {
    if (tensor->strides[axis] != wanted && !free_stride(tensor, axis))
      return false;
    wanted *= tensor->shape[axis];
  }
  return true;
}

// Return whether strides are column-major on all axes where they matter.
RARE bool SHARED(column_major)(const TVMFFIObject *object) {
  const DLTensor *tensor = dl_tensor(object);
  int64_t wanted = 1;
  for (int64_t axis = 0; axis < tensor->ndim; ++axis) {
    if (stride_of(tensor, axis) != wanted && !free_stride(tensor, axis))
      return false;
    wanted *= tensor->shape[axis];
  }
  return true;
}
