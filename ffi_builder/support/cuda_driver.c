// What every call of the driver needs.

#include "cuda.h"

// Returns a status for the result of a function; 0 stays 0.
static int32_t cuda_status(int32_t number, CUresult result) {
  return result == CUDA_SUCCESS ? 0 : result | number << CUDA_CODE_BITS;
}

// Allows calls that a stream capture in this or another thread would forbid, until
// cuda_restore_capture gets the result.
static int32_t cuda_relax_capture(const CudaState *state) {
  int32_t mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  state->driver.cuThreadExchangeStreamCaptureMode(&mode);
  return mode;
}

static void cuda_restore_capture(const CudaState *state, int32_t mode) {
  state->driver.cuThreadExchangeStreamCaptureMode(&mode);
}

static CUkernel cuda_handle(CudaKernel *kernel) {
  return __atomic_load_n(&kernel->handle, __ATOMIC_ACQUIRE);
}

static CUresult cuda_launch_kernel(const CudaState *state, const CUlaunchConfig *config,
                                   CUkernel kernel, void **params) {
  // The driver takes a kernel where it takes a function, and finds that of the context.
  return state->driver.cuLaunchKernelEx(config, (CUfunction)kernel, params, NULL);
}

// Whether the NULL, legacy or per-thread stream is meant, which are streams of any context.
static bool cuda_is_special(CUstream stream) { return (uintptr_t)stream < CUDA_SPECIAL_STREAMS; }
