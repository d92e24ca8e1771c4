/* Kernels that note their number, a dispatcher over them, and loops that call wrappers. */
#include <time.h>
#include <tvm/ffi/c_api.h>

#define ARGUMENTS void *x, void *y, int64_t n, int64_t k
#define KERNEL(number) \
  __attribute__((noinline)) int32_t kernel_##number(ARGUMENTS) { called = number; return 0; }
volatile int called;
KERNEL(0) KERNEL(1) KERNEL(2) KERNEL(3) KERNEL(4) KERNEL(5) KERNEL(6) KERNEL(7)

/* What a linker of variants makes: one condition after the other, each as a whole. */
#define HALF (kDLFloat | 16 << 8 | 1 << 16)
#define BRAIN (kDLBfloat | 16 << 8 | 1 << 16)
#define TRY(kernel, condition) if (condition) return kernel(x, y, n, k)
__attribute__((noinline)) int32_t dispatch(ARGUMENTS, int32_t dtype) {
  TRY(kernel_0, (dtype == HALF) & (n % 16 == 0) & ((uintptr_t)x % 16 == 0));
  TRY(kernel_1, (dtype == HALF) & (n % 16 == 0));
  TRY(kernel_2, (dtype == HALF) & ((uintptr_t)x % 16 == 0));
  TRY(kernel_3, dtype == HALF);
  TRY(kernel_4, (dtype == BRAIN) & (n % 16 == 0) & ((uintptr_t)x % 16 == 0));
  TRY(kernel_5, (dtype == BRAIN) & (n % 16 == 0));
  TRY(kernel_6, (dtype == BRAIN) & ((uintptr_t)x % 16 == 0));
  TRY(kernel_7, dtype == BRAIN);
  return 1;
}

/* Tensor objects that are never freed: x of n by 8 elements, y of 8. */
typedef struct {
  TVMFFIObject header;
  DLTensor tensor;
  int64_t shape[2], strides[2];
} object;
static object objects[64][2];
static TVMFFIAny arguments[64][2];
static char memory[4096] __attribute__((aligned(64)));

static TVMFFIAny tensor(object *o, int ndim, int64_t n, int code, int shift) {
  o->header.type_index = kTVMFFITensor;
  o->shape[0] = n, o->shape[1] = 8, o->strides[0] = ndim == 2 ? 8 : 1, o->strides[1] = 1;
  o->tensor = (DLTensor){.data = memory + shift, .device = {kDLCPU, 0}, .ndim = ndim, .dtype = {code, 16, 1}};
  o->tensor.shape = o->shape, o->tensor.strides = o->strides;
  TVMFFIAny any = {.type_index = kTVMFFITensor};
  any.v_obj = &o->header;
  return any;
}

/* Makes the arguments of one call that kernel number `which` takes. */
void make(int at, int which) {
  int code = which < 4 ? kDLFloat : kDLBfloat;
  arguments[at][0] = tensor(&objects[at][0], 2, which & 2 ? 15 : 16, code, which & 1 ? 2 : 0);
  arguments[at][1] = tensor(&objects[at][1], 1, 8, code, 0);
}

/* Seconds for `calls` calls with 64 sets of arguments in turn; negative if one fails. */
double run(TVMFFISafeCallType function, int64_t calls) {
  struct timespec start, end;
  TVMFFIAny result;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (int64_t i = 0; i < calls; ++i)
    if (function(NULL, arguments[i & 63], 2, &result)) return -1;
  clock_gettime(CLOCK_MONOTONIC, &end);
  return (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
}

#ifdef COUNT
#include <stdio.h>
#include <valgrind/callgrind.h>
#define FUNCTION(name) int32_t __tvm_ffi_##name(void *, const TVMFFIAny *, int32_t, TVMFFIAny *);
#include "functions.inc"
#undef FUNCTION
static int32_t nothing(void *handle, const TVMFFIAny *args, int32_t count, TVMFFIAny *result) { return 0; }

static int count(TVMFFISafeCallType function, const char *name) {
  char text[64];
  for (int which = 0; which < 8; ++which) {
    for (int at = 0; at < 64; ++at) make(at, which);
    snprintf(text, sizeof text, "%s/%d", name, which);
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    if (run(function, 1024) < 0) return 1;
    CALLGRIND_DUMP_STATS_AT(text);
    CALLGRIND_STOP_INSTRUMENTATION;
  }
  return 0;
}

int main(void) {
  if (count(nothing, "nothing")) return 1;
#define FUNCTION(name) if (count(__tvm_ffi_##name, #name)) return 1;
#include "functions.inc"
  return 0;
}
#endif
