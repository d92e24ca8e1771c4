/* What a careful author would write by hand: the same checks as the wrappers that wrapper.py makes, with one error for all of
 * them, and the same calls of the same kernels. */
#include <stdbool.h>

#include "kernels.h"

#define LIKELY(x) __builtin_expect(x, 1)

__attribute__((cold, noinline)) static int32_t fail(void) {
  TVMFFIErrorSetRaisedFromCStr("ValueError", "an argument is wrong");
  return -1;
}

static inline void return_none(TVMFFIAny *result) {
  result->type_index = kTVMFFINone;
  result->zero_padding = 0;
  result->v_int64 = 0;
}

static inline DLTensor *in_object(TVMFFIObject *object) { return object ? (DLTensor *)(object + 1) : NULL; }

/* A Tensor object, a DLTensor*, or a moved Tensor; NULL for all else, and where one of them is NULL. */
static inline DLTensor *tensor_of(const TVMFFIAny *arg) {
  if (LIKELY(arg->type_index == kTVMFFITensor)) return in_object(arg->v_obj);
  if (arg->type_index == kTVMFFIDLTensorPtr) return arg->v_ptr;
  if (arg->type_index != kTVMFFIObjectRValueRef || !arg->v_ptr) return NULL;
  TVMFFIObject *object = *(TVMFFIObject **)arg->v_ptr;
  return object && object->type_index == kTVMFFITensor ? in_object(object) : NULL;
}

/* A float32 tensor on the CPU, of this rank. */
static inline bool is_matrix(const DLTensor *x, int32_t ndim) {
  return x->ndim == ndim && x->dtype.code == kDLFloat && x->dtype.bits == 32 && x->dtype.lanes == 1 &&
         x->device.device_type == kDLCPU && x->shape;
}

__attribute__((cold, noinline)) static bool is_empty(const DLTensor *x) {
  for (int i = 0; i < x->ndim; ++i)
    if (x->shape[i] == 0) return true;
  return false;
}

/* Strides of size-1 dimensions, and of tensors without elements, are free. */
__attribute__((cold, noinline)) static bool is_row_major(const DLTensor *x) {
  if (is_empty(x)) return true;
  uint64_t expected = 1;
  for (int i = x->ndim - 1; i >= 0; --i) {
    if (x->shape[i] != 1 && (uint64_t)x->strides[i] != expected) return false;
    expected *= (uint64_t)x->shape[i];
  }
  return true;
}

/* `d` are the dimensions, which have been found equal to the tensor's: what depends on them alone is then computed once for
 * all tensors that share them. */
static inline bool is_contiguous(const DLTensor *x, int ndim, const int64_t *d) {
  if (!x->strides) return true;
  uint64_t expected = 1;
#pragma GCC unroll 4
  for (int i = ndim - 1; i >= 0; --i) {
    if ((uint64_t)x->strides[i] != expected) return is_row_major(x);
    expected *= (uint64_t)d[i];
  }
  return true;
}

/* The product of the dimensions fits int64 (or is 0), data + byte_offset does not wrap, and data is there if needed. */
static inline bool has_data(const DLTensor *x, int ndim, const int64_t *d) {
  if ((uint64_t)x->data + x->byte_offset < (uint64_t)x->data) return false;
  int64_t product = 1;
#pragma GCC unroll 4
  for (int i = 0; i < ndim; ++i)
    if (__builtin_mul_overflow(product, d[i], &product)) return is_empty(x);
  return LIKELY(x->data != NULL) || product == 0;
}

static inline char *address(const DLTensor *x) { return (char *)x->data + x->byte_offset; }

/* f(x: int32) */
int32_t hand_scalar(void *handle, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  if (num_args != 1 || !args) return fail();
  if (args[0].type_index != kTVMFFIInt && args[0].type_index != kTVMFFIBool) return fail();
  int64_t x = args[0].v_int64;
  if (x != (int32_t)x) return fail();
  return_none(result);
  kernel_scalar((int32_t)x);
  return 0;
}

static inline bool is_right(const DLTensor *x, int ndim, const int64_t *d) {
  return is_contiguous(x, ndim, d) && has_data(x, ndim, d);
}

/* mm(A: Tensor([n, k]), B: Tensor([k, m]), C: Tensor([n, m])) */
int32_t hand_mm(void *handle, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  if (num_args != 3 || !args) return fail();
  DLTensor *a = tensor_of(&args[0]);
  if (!a || !is_matrix(a, 2)) return fail();
  int64_t n = a->shape[0], k = a->shape[1];
  if (n < 0 || k < 0 || !is_right(a, 2, (int64_t[]){n, k})) return fail();
  DLTensor *b = tensor_of(&args[1]);
  if (!b || !is_matrix(b, 2) || b->device.device_id != a->device.device_id) return fail();
  int64_t m = b->shape[1];
  if (b->shape[0] != k || m < 0 || !is_right(b, 2, (int64_t[]){k, m})) return fail();
  DLTensor *c = tensor_of(&args[2]);
  if (!c || !is_matrix(c, 2) || c->device.device_id != a->device.device_id) return fail();
  if (c->shape[0] != n || c->shape[1] != m || !is_right(c, 2, (int64_t[]){n, m})) return fail();
  return_none(result);
  kernel_mm(address(a), address(b), address(c), n, k, m);
  return 0;
}

/* Decodes 8 tensors with the same 4 dimensions; false if one is wrong. */
__attribute__((always_inline)) static inline bool decode_t8(const TVMFFIAny *args, int32_t num_args, DLTensor *x[8], int64_t d[4], bool contiguous) {
  if (num_args != 8 || !args) return false;
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    x[i] = tensor_of(&args[i]);
    if (!x[i] || !is_matrix(x[i], 4)) return false;
    if (i && x[i]->device.device_id != x[0]->device.device_id) return false;
#pragma GCC unroll 4
    for (int axis = 0; axis < 4; ++axis) {
      int64_t dim = x[i]->shape[axis];
      if (i == 0) d[axis] = dim;
      if (dim < 0 || dim != d[axis]) return false;
    }
    if (contiguous && !is_contiguous(x[i], 4, d)) return false;
    if (!has_data(x[i], 4, d)) return false;
  }
  return true;
}

#define EACH(f) f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7)
#define ADDRESS(i) address(x[i])

int32_t hand_t8(void *handle, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  DLTensor *x[8];
  int64_t d[4];
  if (!decode_t8(args, num_args, x, d, true)) return fail();
  return_none(result);
  kernel_t8(EACH(ADDRESS), d[0], d[1], d[2], d[3]);
  return 0;
}

/* The same with strides of any kind, which the kernel gets. */
int32_t hand_t8_strided(void *handle, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  DLTensor *x[8];
  int64_t d[4];
  if (!decode_t8(args, num_args, x, d, false)) return fail();
  return_none(result);
  int64_t s[8][4];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    int64_t expected = 1;
#pragma GCC unroll 4
    for (int axis = 3; axis >= 0; --axis) {
      s[i][axis] = x[i]->strides ? x[i]->strides[axis] : expected;
      expected *= d[axis];
    }
  }
#define STRIDES(i) s[i][0], s[i][1], s[i][2], s[i][3]
  kernel_t8_strided(EACH(ADDRESS), d[0], d[1], d[2], d[3], EACH(STRIDES));
  return 0;
}
