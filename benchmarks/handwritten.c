/* What a careful author would write by hand: the same checks as the wrappers that are measured, with one error for all of
 * them, and the same calls of the same kernels. */
#include <string.h>

#include "values.h"

#define LIKELY(x) __builtin_expect(x, 1)

__attribute__((cold, noinline)) static int32_t fail(void) {
  TVMFFIErrorSetRaisedFromCStr("ValueError", "an argument is wrong");
  return -1;
}

/* A Tensor object, a DLTensor*, or a moved Tensor; NULL for all else, and where one of them is NULL. */
static inline DLTensor *tensor_of(const TVMFFIAny *arg) {
  if (LIKELY(arg->type_index == kTVMFFITensor)) return in_object(arg->v_obj);
  if (arg->type_index == kTVMFFIDLTensorPtr) return arg->v_ptr;
  if (arg->type_index != kTVMFFIObjectRValueRef || !arg->v_ptr) return NULL;
  TVMFFIObject *object = *(TVMFFIObject **)arg->v_ptr;
  return object && object->type_index == kTVMFFITensor ? in_object(object) : NULL;
}

/* A float32 tensor on the CPU, of this rank. The neighbours ndim and dtype are compared in one load. */
static inline bool is_float32(const DLTensor *x, int32_t ndim) {
  struct {
    int32_t ndim;
    DLDataType dtype;
  } right = {ndim, {kDLFloat, 32, 1}};
  return !memcmp(&x->ndim, &right, sizeof right) && x->device.device_type == kDLCPU && x->shape;
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

static inline bool wraps(const DLTensor *x) { return (uint64_t)x->data + x->byte_offset < (uint64_t)x->data; }

/* The elements, which are float32, are there, at addresses that are multiples of 4. */
static inline bool is_readable(const DLTensor *x) {
  return x->data && !(((uint64_t)x->data + x->byte_offset) & 3);
}

/* The product of the dimensions fits int64 (or is 0), data + byte_offset does not wrap, and data is there if needed. */
static inline bool has_data(const DLTensor *x, int ndim, const int64_t *d) {
  if (wraps(x)) return false;
  int64_t product = 1;
#pragma GCC unroll 4
  for (int i = 0; i < ndim; ++i)
    if (__builtin_mul_overflow(product, d[i], &product)) return is_empty(x);
  return LIKELY(is_readable(x)) || product == 0;
}

/* The first half of that, for tensors that share their dimensions. */
static inline bool read_size(const DLTensor *x, int ndim, int64_t *size) {
  *size = 1;
#pragma GCC unroll 4
  for (int i = 0; i < ndim; ++i)
    if (__builtin_mul_overflow(*size, x->shape[i], size)) return *size = 0, is_empty(x);
  return true;
}

static inline bool is_right(const DLTensor *x, int ndim, const int64_t *d) {
  return is_contiguous(x, ndim, d) && has_data(x, ndim, d);
}

/* An int32, as an int or a bool. */
static inline bool is_int32(const TVMFFIAny *arg) {
  return (arg->type_index == kTVMFFIInt || arg->type_index == kTVMFFIBool) && arg->v_int64 == (int32_t)arg->v_int64;
}

/* f(x: int32) */
INLINE bool check_scalar(const TVMFFIAny *args, int32_t num_args, scalar_values *v) {
  if (num_args != 1 || !args || !is_int32(&args[0])) return false;
  v->x = (int32_t)args[0].v_int64;
  return true;
}

/* f(A: Tensor([n, k]), B: Tensor([k, m]), C: Tensor([n, m])) */
INLINE bool check_mm(const TVMFFIAny *args, int32_t num_args, mm_values *v) {
  if (num_args != 3 || !args) return false;
  DLTensor *a = v->a = tensor_of(&args[0]);
  if (!a || !is_float32(a, 2)) return false;
  int64_t n = v->n = a->shape[0], k = v->k = a->shape[1];
  if (n < 0 || k < 0 || !is_right(a, 2, (int64_t[]){n, k})) return false;
  DLTensor *b = v->b = tensor_of(&args[1]);
  if (!b || !is_float32(b, 2) || b->device.device_id != a->device.device_id) return false;
  int64_t m = v->m = b->shape[1];
  if (b->shape[0] != k || m < 0 || !is_right(b, 2, (int64_t[]){k, m})) return false;
  DLTensor *c = v->c = tensor_of(&args[2]);
  if (!c || !is_float32(c, 2) || c->device.device_id != a->device.device_id) return false;
  return c->shape[0] == n && c->shape[1] == m && is_right(c, 2, (int64_t[]){n, m});
}

/* f(x0: Tensor([a, b, c, d]), …, x7: Tensor([a, b, c, d])), row-major or with strides of any kind */
INLINE bool check_eight(const TVMFFIAny *args, int32_t num_args, t8_values *v, bool contiguous) {
  if (num_args != 8 || !args) return false;
  int64_t size;
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    DLTensor *x = v->x[i] = tensor_of(&args[i]);
    if (!x || !is_float32(x, 4)) return false;
    if (i && x->device.device_id != v->x[0]->device.device_id) return false;
#pragma GCC unroll 4
    for (int axis = 0; axis < 4; ++axis) {
      int64_t dim = x->shape[axis];
      if (i == 0) v->d[axis] = dim;
      if (i == 0 ? dim < 0 : dim != v->d[axis]) return false;
    }
    if (i == 0 && !read_size(x, 4, &size)) return false;
    if (contiguous && !is_contiguous(x, 4, v->d)) return false;
    if (wraps(x) || (!is_readable(x) && size)) return false;
  }
  return true;
}
INLINE bool check_t8(const TVMFFIAny *args, int32_t num_args, t8_values *v) { return check_eight(args, num_args, v, true); }
INLINE bool check_t8_strided(const TVMFFIAny *args, int32_t num_args, t8_values *v) {
  return check_eight(args, num_args, v, false);
}

/* An object, moved or not, and its kind; NULL for what is none. */
static inline TVMFFIObject *object_of(const TVMFFIAny *arg, int32_t *kind) {
  *kind = arg->type_index;
  if (LIKELY(*kind >= kTVMFFIStaticObjectBegin)) return arg->v_obj;
  if (*kind != kTVMFFIObjectRValueRef || !arg->v_ptr) return NULL;
  TVMFFIObject *object = *(TVMFFIObject **)arg->v_ptr;
  if (object) *kind = object->type_index;
  return object;
}

/* The items of an Array or List with 2 of them, or NULL. */
static inline const TVMFFIAny *pair_of(const TVMFFIAny *arg) {
  int32_t kind;
  TVMFFIObject *object = object_of(arg, &kind);
  if (!object || (kind != kTVMFFIArray && kind != kTVMFFIList)) return NULL;
  const TVMFFISeqCell *cell = (TVMFFISeqCell *)(object + 1);
  return cell->size == 2 ? cell->data : NULL;
}

static inline bool is_vector(const DLTensor *x) {
  return x && is_float32(x, 1) && x->shape[0] >= 0 && is_right(x, 1, x->shape);
}

/* f(p: (A: Tensor([n]), (x: int32, B: Tensor([n])))) */
INLINE bool check_nested(const TVMFFIAny *args, int32_t num_args, nested_values *v) {
  if (num_args != 1 || !args) return false;
  const TVMFFIAny *outer = pair_of(&args[0]);
  if (!outer) return false;
  v->a = tensor_of(&outer[0]);
  if (!is_vector(v->a)) return false;
  v->n = v->a->shape[0];
  const TVMFFIAny *inner = pair_of(&outer[1]);
  if (!inner || !is_int32(&inner[0])) return false;
  v->x = (int32_t)inner[0].v_int64;
  v->b = tensor_of(&inner[1]);
  return is_vector(v->b) && v->b->shape[0] == v->n && v->b->device.device_id == v->a->device.device_id;
}

__attribute__((cold, noinline)) static bool read_ints(const TVMFFISeqCell *cell, int64_t shape[3]) {
  const TVMFFIAny *items = cell->data;
  for (int i = 0; i < 3; ++i) {
    if (items[i].type_index != kTVMFFIInt && items[i].type_index != kTVMFFIBool) return false;
    shape[i] = items[i].v_int64;
  }
  return true;
}

/* A Shape, or an Array or List of ints, with 3 entries. */
static inline bool read_shape(const TVMFFIAny *arg, int64_t shape[3]) {
  int32_t kind;
  TVMFFIObject *object = object_of(arg, &kind);
  if (!object || (kind != kTVMFFIShape && kind != kTVMFFIArray && kind != kTVMFFIList)) return false;
  const TVMFFIShapeCell *cell = (TVMFFIShapeCell *)(object + 1); /* those of the others begin like it */
  if (cell->size != 3 || !cell->data) return false;
  if (kind != kTVMFFIShape) return read_ints((TVMFFISeqCell *)cell, shape);
  for (int i = 0; i < 3; ++i) shape[i] = cell->data[i];
  return true;
}

/* An int beyond int64 that fits uint64: two words, the second of which is 0. */
__attribute__((cold, noinline)) static bool read_big(const TVMFFIAny *arg, void **value) {
  if (arg->type_index != kTVMFFIBigInt || !arg->v_obj) return false;
  const int64_t *words = (int64_t *)(arg->v_obj + 1);
  if (words[0] != 2 || words[1] >= 0 || words[2] != 0) return false;
  *value = (void *)words[1];
  return true;
}

/* An opaque pointer, None, or an int. */
static inline bool read_pointer(const TVMFFIAny *arg, void **value) {
  *value = arg->type_index == kTVMFFINone ? NULL : arg->v_ptr;
  return LIKELY(arg->type_index == kTVMFFIOpaquePtr) || arg->type_index == kTVMFFINone || arg->type_index == kTVMFFIInt;
}

/* f(shape: Shape([n, m, 4]), data: DataPointer, stream: Stream) */
INLINE bool check_ptrs(const TVMFFIAny *args, int32_t num_args, ptrs_values *v) {
  int64_t shape[3];
  if (num_args != 3 || !args || !read_shape(&args[0], shape)) return false;
  if (shape[0] < 0 || shape[1] < 0 || shape[2] != 4) return false;
  v->n = shape[0];
  v->m = shape[1];
  if (!read_pointer(&args[1], &v->data)) {
    if (!read_big(&args[1], &v->data)) return false;
  } else if (args[1].type_index == kTVMFFIInt && args[1].v_int64 < 0) {
    return false;
  }
  return read_pointer(&args[2], &v->stream);
}

#define HAND(signature, how)                                                                                     \
  int32_t hand_##signature##_##how(void *handle, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) { \
    signature##_values v;                                                                                        \
    if (!check_##signature(args, num_args, &v)) return fail();                                                   \
    return_none(result);                                                                                         \
    call_##signature##_##how(&v);                                                                                \
    return 0;                                                                                                    \
  }
EVERY_FUNCTION(HAND)
