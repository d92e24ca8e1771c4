/* Kernels that do nothing, in an object of their own, so that every caller has to pass all arguments. */
#include <stdint.h>
#include <tvm/ffi/c_api.h>

#define TIMES_8(x) x, x, x, x, x, x, x, x

void kernel_scalar(int32_t);
void kernel_mm(void *, void *, void *, int64_t, int64_t, int64_t);
void kernel_t8(TIMES_8(void *), int64_t, int64_t, int64_t, int64_t);
void kernel_t8_strided(TIMES_8(void *), TIMES_8(int64_t), TIMES_8(int64_t), TIMES_8(int64_t), TIMES_8(int64_t), int64_t,
                       int64_t, int64_t, int64_t);
