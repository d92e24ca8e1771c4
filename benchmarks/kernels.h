/* Kernels that do nothing, in an object of their own, so that every caller has to pass all arguments.
 *
 * `direct` takes pointers, dimensions and strides one by one. `structs` takes a struct a parameter as LLVM passes it by
 * value, which is one by one too: not how C passes structs. `kernel_pointers` takes an array of pointers to such structs. */
#include <stdint.h>
#include <tvm/ffi/c_api.h>

#define TIMES_4(x) x, x, x, x
#define TIMES_8(x) x, x, x, x, x, x, x, x

void kernel_pointers(void **);

void kernel_scalar_direct(int32_t);
void kernel_scalar_structs(int32_t);
void kernel_mm_direct(void *, void *, void *, int64_t, int64_t, int64_t);
void kernel_mm_structs(void *, int64_t, int64_t, void *, int64_t, int64_t, void *, int64_t, int64_t);
void kernel_t8_direct(TIMES_8(void *), TIMES_4(int64_t));
void kernel_t8_strided_direct(TIMES_8(void *), TIMES_4(int64_t), TIMES_8(int64_t), TIMES_8(int64_t), TIMES_8(int64_t),
                              TIMES_8(int64_t));
#define STRIDED void *, TIMES_8(int64_t)
void kernel_t8_strided_structs(TIMES_4(STRIDED), TIMES_4(STRIDED));
void kernel_nested_direct(void *, int32_t, void *, int64_t);
void kernel_nested_structs(void *, int64_t, int32_t, void *, int64_t);
void kernel_ptrs_direct(int64_t, int64_t, void *, void *);
void kernel_ptrs_structs(int64_t, int64_t, void *, void *);
