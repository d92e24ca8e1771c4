/* What costs least: nothing is checked, and what is passed on is read where it is. */
#include "values.h"

#define TENSOR(any) in_object((any).v_obj)

INLINE void take_scalar(const TVMFFIAny *args, scalar_values *v) { v->x = (int32_t)args[0].v_int64; }

INLINE void take_mm(const TVMFFIAny *args, mm_values *v) {
  *v = (mm_values){.a = TENSOR(args[0]), .b = TENSOR(args[1]), .c = TENSOR(args[2])};
  v->n = v->a->shape[0];
  v->k = v->a->shape[1];
  v->m = v->b->shape[1];
}

INLINE void take_t8(const TVMFFIAny *args, t8_values *v) {
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) v->x[i] = TENSOR(args[i]);
#pragma GCC unroll 4
  for (int axis = 0; axis < 4; ++axis) v->d[axis] = v->x[0]->shape[axis];
}
INLINE void take_t8_strided(const TVMFFIAny *args, t8_values *v) { take_t8(args, v); }

INLINE const TVMFFIAny *items(const TVMFFIAny *any) { return ((TVMFFISeqCell *)(any->v_obj + 1))->data; }

INLINE void take_nested(const TVMFFIAny *args, nested_values *v) {
  const TVMFFIAny *outer = items(&args[0]), *inner = items(&outer[1]);
  *v = (nested_values){.a = TENSOR(outer[0]), .b = TENSOR(inner[1]), .x = (int32_t)inner[0].v_int64};
  v->n = v->a->shape[0];
}

INLINE void take_ptrs(const TVMFFIAny *args, ptrs_values *v) {
  const int64_t *shape = ((TVMFFIShapeCell *)(args[0].v_obj + 1))->data;
  *v = (ptrs_values){shape[0], shape[1], args[1].v_ptr, args[2].v_ptr};
}

#define UNCHECKED(signature, how)                                                                                     \
  int32_t unchecked_##signature##_##how(void *handle, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) { \
    signature##_values v;                                                                                             \
    take_##signature(args, &v);                                                                                       \
    return_none(result);                                                                                              \
    call_##signature##_##how(&v);                                                                                     \
    return 0;                                                                                                         \
  }
EVERY_FUNCTION(UNCHECKED)
