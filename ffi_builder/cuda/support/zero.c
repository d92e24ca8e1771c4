// Fills workspaces on devices with zeros. The name of a site is that of the wrapper.

#include "cuda.h"

// Finds the driver if no launch has found it, and stores the state.
int32_t SHARED(cuda_ready)(void **result, CudaState *state, CUDA_SITE_PARAMETERS) {
  int32_t found = cuda_find_driver(state, false, CUDA_SITE);
  if (found == 0)
    *result = state;
  return found;
}

// Fills memory in the order of a stream, with a context of the device current; returns a status.
static int32_t cuda_fill(CudaState *state, void *pointer, int64_t size, CUstream stream,
                         CUdevice device) {
  CudaEntered entered;
  int32_t status = cuda_enter(state, device, &entered);
  if (status != 0)
    return status;
  CUresult result =
      state->driver.cuMemsetD8Async((CUdeviceptr)(uintptr_t)pointer, 0, (size_t)size, stream);
  cuda_leave(state, entered);
  return cuda_status(NUMBER_cuMemsetD8Async, result);
}

int32_t SHARED(cuda_zero)(CudaState *state, void *pointer, int64_t size, CUstream stream,
                          CUdevice device, const char *workspace, CUDA_SITE_PARAMETERS) {
  int32_t status = size == 0 ? 0 : cuda_fill(state, pointer, size, stream, device);
  if (status == 0)
    return 0;
  CudaMessage message;
  message.length = 0;
  cuda_add_failure(&message, state, status);
  CUDA_SAY(&message, ", to fill the workspace %s with zeros", workspace);
  return cuda_raise(&message, "RuntimeError", CUDA_SITE);
}
