/* The least that a launch is in C: the configuration and the parameters are written, then the driver is called. */
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

/* As cuda.h has it. */
typedef struct {
  unsigned grid[3], block[3], shared;
  void *stream, *attributes;
  unsigned attribute_count;
} config;
_Static_assert(sizeof(config) == 56 && offsetof(config, stream) == 32, "CUlaunchConfig");

typedef int launch(const config *, void *kernel, void **parameters, void **extra);

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Not inlined: what is launched comes from a caller, as the arguments of a function do. */
static __attribute__((noinline)) int saxpy(launch *launch, void *kernel, void *stream, float a, void *x, void *y, int n) {
  config config = {.grid = {((unsigned)n + 127) / 128, 1, 1}, .block = {128, 1, 1}, .stream = stream};
  return launch(&config, kernel, (void *[]){&a, &x, &y, &n}, NULL);
}

/* Seconds for `calls` launches; negative if one fails. */
double time_launches(launch *launch, void *kernel, void *stream, void *x, void *y, int n, int64_t calls) {
  double start = seconds();
  for (int64_t i = 0; i < calls; ++i) {
    if (saxpy(launch, kernel, stream, 2, x, y, n) != 0) return -1;
  }
  return seconds() - start;
}

/* What `unchecked` launches. */
launch *bare_launch;
void *bare_kernel;

/* The least that a function of the TVM-FFI C ABI is: it believes its arguments, and asks for the current stream. */
int unchecked(void *self, const TVMFFIAny *args, int32_t count, TVMFFIAny *result) {
  (void)self, (void)count, (void)result;
  /* An object begins with its header, and a tensor's DLTensor follows. */
  const DLTensor *x = (const DLTensor *)(args[1].v_obj + 1), *y = (const DLTensor *)(args[2].v_obj + 1);
  void *stream = TVMFFIEnvGetStream(x->device.device_type, x->device.device_id);
  float a = args[0].type_index == kTVMFFIInt ? (float)args[0].v_int64 : (float)args[0].v_float64;
  return saxpy(bare_launch, bare_kernel, stream, a, x->data, y->data, (int)x->shape[0]);
}
