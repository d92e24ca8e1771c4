// Functions that calls of the driver share.

#include "cuda.h"

// Returns the status for a function's number and its result. The status of a success is 0.
static int32_t cuda_status(int32_t number, CUresult result) {
  return result == CUDA_SUCCESS ? 0 : result | number << CUDA_CODE_BITS;
}

// Allows calls that a stream capture in this or another thread would forbid. Returns the mode until
// now, which cuda_restore_capture sets again.
static int32_t cuda_relax_capture(const CudaState *state) {
  int32_t mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  state->driver.cuThreadExchangeStreamCaptureMode(&mode);
  return mode;
}

static void cuda_restore_capture(const CudaState *state, int32_t mode) {
  state->driver.cuThreadExchangeStreamCaptureMode(&mode);
}

// Returns whether a stream is the NULL, legacy or per-thread stream. Every context has these three.
static bool cuda_is_special(CUstream stream) { return (uintptr_t)stream < CUDA_SPECIAL_STREAMS; }
