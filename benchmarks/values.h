/* What the functions of handwritten.c and unchecked.c have in common: the values that a signature's arguments hold, and how
 * they are passed on. `nop` calls nothing. */
#include <stdbool.h>

#include "kernels.h"

#define INLINE __attribute__((always_inline)) static inline

typedef struct {
  int32_t x;
} scalar_values;

typedef struct {
  DLTensor *a, *b, *c;
  int64_t n, k, m;
} mm_values;

/* 8 tensors that share their 4 dimensions. */
typedef struct {
  DLTensor *x[8];
  int64_t d[4];
} t8_values, t8_strided_values;

typedef struct {
  DLTensor *a, *b;
  int32_t x;
  int64_t n;
} nested_values;

typedef struct {
  int64_t n, m;
  void *data, *stream;
} ptrs_values;

INLINE DLTensor *in_object(TVMFFIObject *object) { return object ? (DLTensor *)(object + 1) : NULL; }

INLINE void return_none(TVMFFIAny *result) {
  result->type_index = kTVMFFINone;
  result->zero_padding = 0;
  result->v_int64 = 0;
}

INLINE char *address(const DLTensor *x) { return (char *)x->data + x->byte_offset; }

/* What `pointers` points to. */
typedef struct {
  void *data;
  int64_t n;
} view1;
typedef struct {
  void *data;
  int64_t n, m;
} view2;
typedef struct {
  void *data;
  int64_t shape[4], strides[4];
} view4;

INLINE void call_scalar_nop(const scalar_values *v) {}
INLINE void call_scalar_direct(const scalar_values *v) { kernel_scalar_direct(v->x); }
INLINE void call_scalar_structs(const scalar_values *v) { kernel_scalar_structs(v->x); }
INLINE void call_scalar_pointers(const scalar_values *v) {
  int32_t x = v->x;
  kernel_pointers((void *[]){&x});
}

INLINE void call_mm_nop(const mm_values *v) {}
INLINE void call_mm_direct(const mm_values *v) {
  kernel_mm_direct(address(v->a), address(v->b), address(v->c), v->n, v->k, v->m);
}
INLINE void call_mm_structs(const mm_values *v) {
  kernel_mm_structs(address(v->a), v->n, v->k, address(v->b), v->k, v->m, address(v->c), v->n, v->m);
}
INLINE void call_mm_pointers(const mm_values *v) {
  view2 a = {address(v->a), v->n, v->k}, b = {address(v->b), v->k, v->m}, c = {address(v->c), v->n, v->m};
  kernel_pointers((void *[]){&a, &b, &c});
}

#define EACH(f) f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7)
#define ADDRESS(i) address(v->x[i])
#define DIMENSIONS v->d[0], v->d[1], v->d[2], v->d[3]

INLINE void call_t8_direct(const t8_values *v) { kernel_t8_direct(EACH(ADDRESS), DIMENSIONS); }

/* NULL strides say row-major. */
INLINE void strides_of(const DLTensor *x, const int64_t d[4], int64_t strides[4]) {
  int64_t expected = 1;
#pragma GCC unroll 4
  for (int axis = 3; axis >= 0; --axis) {
    strides[axis] = x->strides ? x->strides[axis] : expected;
    expected *= d[axis];
  }
}
#define ALL_STRIDES(s)         \
  int64_t s[8][4];             \
  _Pragma("GCC unroll 8") for (int i = 0; i < 8; ++i) strides_of(v->x[i], v->d, s[i])
#define STRIDES(i) s[i][0], s[i][1], s[i][2], s[i][3]
#define STRUCT(i) ADDRESS(i), DIMENSIONS, STRIDES(i)

INLINE void call_t8_strided_nop(const t8_strided_values *v) {}
INLINE void call_t8_strided_direct(const t8_strided_values *v) {
  ALL_STRIDES(s);
  kernel_t8_strided_direct(EACH(ADDRESS), DIMENSIONS, EACH(STRIDES));
}
INLINE void call_t8_strided_structs(const t8_strided_values *v) {
  ALL_STRIDES(s);
  kernel_t8_strided_structs(EACH(STRUCT));
}
INLINE void call_t8_strided_pointers(const t8_strided_values *v) {
  view4 views[8];
  void *parameters[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    views[i] = (view4){ADDRESS(i), {DIMENSIONS}};
    strides_of(v->x[i], v->d, views[i].strides);
    parameters[i] = &views[i];
  }
  kernel_pointers(parameters);
}

INLINE void call_nested_nop(const nested_values *v) {}
INLINE void call_nested_direct(const nested_values *v) { kernel_nested_direct(address(v->a), v->x, address(v->b), v->n); }
INLINE void call_nested_structs(const nested_values *v) {
  kernel_nested_structs(address(v->a), v->n, v->x, address(v->b), v->n);
}
INLINE void call_nested_pointers(const nested_values *v) {
  view1 a = {address(v->a), v->n}, b = {address(v->b), v->n};
  int32_t x = v->x;
  kernel_pointers((void *[]){&a, &x, &b});
}

INLINE void call_ptrs_nop(const ptrs_values *v) {}
INLINE void call_ptrs_direct(const ptrs_values *v) { kernel_ptrs_direct(v->n, v->m, v->data, v->stream); }
INLINE void call_ptrs_structs(const ptrs_values *v) { kernel_ptrs_structs(v->n, v->m, v->data, v->stream); }
INLINE void call_ptrs_pointers(const ptrs_values *v) {
  int64_t shape[2] = {v->n, v->m};
  void *data = v->data, *stream = v->stream;
  kernel_pointers((void *[]){shape, &data, &stream});
}

#define FOUR_WAYS(define, signature) \
  define(signature, nop) define(signature, direct) define(signature, pointers) define(signature, structs)
#define EVERY_FUNCTION(define) \
  FOUR_WAYS(define, scalar) FOUR_WAYS(define, mm) FOUR_WAYS(define, t8_strided) FOUR_WAYS(define, nested) \
  FOUR_WAYS(define, ptrs) define(t8, direct)
