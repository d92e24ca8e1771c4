// Reads tensors in memory: elements, strides, and the bytes that they reach. An add-on that
// includes this header has these functions of its own.
//
// Dimensions have not been checked yet and may be negative. Their products wrap.

#ifndef FFI_BUILDER_TENSORS_H
#define FFI_BUILDER_TENSORS_H

#include "support.h"

// Return the address of the first element.
static inline unsigned char *data_of(const DLTensor *tensor) {
  return (unsigned char *)((uintptr_t)tensor->data + tensor->byte_offset);
}

// Return the bits of an element, with all its lanes.
static inline uint64_t bits_of(const DLTensor *tensor) {
  return (uint64_t)tensor->dtype.bits * tensor->dtype.lanes;
}

// Return whether a device shares one address space with the CPU. CUDA, HIP and SYCL call this
// unified addressing. On other devices `data` may be a handle, or the address of other memory.
static inline bool is_unified(const DLTensor *tensor) {
  switch (tensor->device.device_type) {
  case kDLCPU:
  case kDLCUDA:
  case kDLCUDAHost:
  case kDLCUDAManaged:
  case kDLROCM:
  case kDLROCMHost:
  case kDLOneAPI:
    return true;
  default:
    return false;
  }
}

// ---- floats

static inline double double_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline double float32_value(uint64_t bits) {
  uint32_t low = (uint32_t)bits;
  float value;
  memcpy(&value, &low, sizeof value);
  return (double)value;
}

// Return the value of a float16. Its fields are put into a double, which is then 2^1008 times too
// small.
static inline double float16_value(uint64_t bits) {
  uint64_t magnitude = (bits & 0x7FFF) << (52 - 10);
  uint64_t sign = (bits & 0x8000) << 48;
  if ((bits & 0x7C00) == 0x7C00)
    return double_of(sign | magnitude | (uint64_t)0x7FF << 52);
  return double_of(sign | magnitude) * 0x1p1008;
}

// ---- strides

// Return the product of the dimensions after an axis.
static inline int64_t row_major(const DLTensor *tensor, int64_t axis) {
  int64_t product = 1;
  while (++axis < tensor->ndim)
    product *= tensor->shape[axis];
  return product;
}

// Return a stride in elements. NULL strides stand for row-major ones.
static inline int64_t stride_of(const DLTensor *tensor, int64_t axis) {
  return tensor->strides == NULL ? row_major(tensor, axis) : tensor->strides[axis];
}

// ---- extents

// The addresses of the first and the last byte of a tensor. If there is nothing to compare, `last`
// is less than `first`.
typedef struct {
  uint64_t first, last;
} Extent;
_Static_assert(sizeof(Extent) == 16, "generated code makes room for extents");

// The greatest distance of an element from the first one in one direction, in elements.
typedef struct {
  int64_t distance;
  bool is_wide; // the distance does not fit
} Reach;

static inline void extend(Reach *reach, int64_t dim, int64_t stride) {
  int64_t steps;
  bool is_wide = __builtin_mul_overflow(stride, dim - 1, &steps);
  bool is_wider = __builtin_add_overflow(reach->distance, steps, &reach->distance);
  reach->is_wide = reach->is_wide || is_wide || is_wider;
}

// Return how many bytes `elements` of `bits` bits take, at most UINT64_MAX. Eight elements take
// `bits` bytes.
static inline uint64_t size_of(uint64_t elements, uint64_t bits) {
  uint64_t rest = ((elements & 7) * bits + 7) >> 3;
  uint64_t size;
  bool is_wide = __builtin_mul_overflow(elements >> 3, bits, &size);
  bool is_wider = __builtin_add_overflow(size, rest, &size);
  return is_wide || is_wider ? UINT64_MAX : size;
}

// Store the extent of a tensor, which may be absent. Return whether there is anything to compare.
static inline bool extent_of(const TVMFFIObject *object, Extent *extent) {
  *extent = (Extent){.first = UINT64_MAX, .last = 0};
  if (object == NULL)
    return false;
  const DLTensor *tensor = dl_tensor(object);
  if (!is_unified(tensor))
    return false;
  Reach forward = {0, false}, backward = {0, false};
  for (int64_t axis = 0; axis < tensor->ndim; ++axis) {
    int64_t dim = tensor->shape[axis];
    if (dim == 0)
      return false;
    int64_t stride = stride_of(tensor, axis);
    extend(stride < 0 ? &backward : &forward, dim, stride);
  }
  uint64_t bits = bits_of(tensor);
  uint64_t address = (uintptr_t)data_of(tensor);
  uint64_t before = backward.is_wide ? UINT64_MAX : size_of(0 - (uint64_t)backward.distance, bits);
  uint64_t behind = forward.is_wide ? UINT64_MAX : size_of((uint64_t)forward.distance + 1, bits);
  if (__builtin_sub_overflow(address, before, &extent->first))
    extent->first = 0;
  if (__builtin_add_overflow(address, behind - 1, &extent->last))
    extent->last = UINT64_MAX;
  return true;
}

#endif
