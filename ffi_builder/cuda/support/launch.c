// Launching, in the context of a stream.

#include "cuda.h"

static CUresult cuda_launch_kernel(const CudaState *state, const CUlaunchConfig *config,
                                   CUkernel kernel, void **params) {
  // The driver accepts a CUkernel as a CUfunction, and finds its function in the current context.
  return state->driver.cuLaunchKernelEx(config, (CUfunction)kernel, params, NULL);
}

// Launches in a context of the device; returns a status. The context that was current is current
// again afterwards.
static int32_t cuda_launch_in(CudaState *state, const CUlaunchConfig *config, CUkernel kernel,
                              void **params, CUdevice device, bool *pushed) {
  int32_t status = cuda_enter(state, device, pushed);
  if (status != 0)
    return status;
  CUresult result = cuda_launch_kernel(state, config, kernel, params);
  cuda_leave(state, *pushed);
  return cuda_status(NUMBER_cuLaunchKernelEx, result);
}

// Launches on a special stream; returns a status.
int32_t SHARED(cuda_launch)(CudaState *state, const CUlaunchConfig *config, CUkernel kernel,
                            void **params, CUdevice device) {
  bool pushed;
  int32_t status = cuda_launch_in(state, config, kernel, params, device, &pushed);
  // The launch has the function number 0, so its status is the CUresult.
  if (!pushed || !cuda_is_gone(status))
    return status;
  cuda_forget(state, device);
  return cuda_launch_in(state, config, kernel, params, device, &pushed);
}

// Launches again if the kernel is not prepared on the stream's device. Returns the status of this
// second attempt; without one, the status that it was given.
int32_t SHARED(cuda_launch_again)(CudaState *state, CudaKernel *kernel,
                                  const CUlaunchConfig *config, void **params, CUdevice device,
                                  int32_t needs, int32_t status) {
  // The launch has the function number 0. If something else failed, the device is not the cause.
  if (status >> CUDA_CODE_BITS != NUMBER_cuLaunchKernelEx || device < 0)
    return status;
  CUdevice found = cuda_device_of(state, config->hStream, device);
  if (found == device || cuda_has(kernel, found, needs))
    return status;
  int32_t refused = SHARED(cuda_prepare)(state, kernel, found, config->hStream, needs);
  if (refused != 0)
    return refused;
  return cuda_status(NUMBER_cuLaunchKernelEx,
                     cuda_launch_kernel(state, config, cuda_handle(kernel), params));
}

static int32_t cuda_launch_watched(const CudaWatched *launch) {
  CudaState *state = launch->state;
  CUkernel kernel = cuda_handle(launch->kernel);
  if (cuda_is_special(launch->config->hStream))
    return SHARED(cuda_launch)(state, launch->config, kernel, launch->params, launch->device);
  int32_t status = cuda_status(NUMBER_cuLaunchKernelEx,
                               cuda_launch_kernel(state, launch->config, kernel, launch->params));
  if (status == 0 || launch->needs == 0)
    return status;
  return SHARED(cuda_launch_again)(state, launch->kernel, launch->config, launch->params,
                                   launch->device, launch->needs, status);
}
