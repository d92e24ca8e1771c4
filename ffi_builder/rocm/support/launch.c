// Launching, on the device of a stream.

#include "cuda.h"

// Launches on the current device. The only launch attribute is that the launch is cooperative.
static int32_t rocm_launch_here(const CudaState *state, const CUlaunchConfig *config,
                                CUfunction function, void **params) {
  if (config->numAttrs == 0)
    return cuda_status(NUMBER_hipModuleLaunchKernel,
                       state->driver.hipModuleLaunchKernel(
                           function, config->gridDimX, config->gridDimY, config->gridDimZ,
                           config->blockDimX, config->blockDimY, config->blockDimZ,
                           config->sharedMemBytes, config->hStream, params, NULL));
  return cuda_status(NUMBER_hipModuleLaunchCooperativeKernel,
                     state->driver.hipModuleLaunchCooperativeKernel(
                         function, config->gridDimX, config->gridDimY, config->gridDimZ,
                         config->blockDimX, config->blockDimY, config->blockDimZ,
                         config->sharedMemBytes, config->hStream, params));
}

// Launches on a device, which is that of the stream; returns a status. What was current is current
// again afterwards.
static int32_t cuda_launch_watched(const CudaWatched *launch) {
  CUfunction function =
      __atomic_load_n(&launch->kernel->functions[launch->device], __ATOMIC_ACQUIRE);
  CudaEntered before;
  int32_t status = cuda_enter(launch->state, launch->device, &before);
  if (status != 0)
    return status;
  status = rocm_launch_here(launch->state, launch->config, function, launch->params);
  cuda_leave(launch->state, before);
  return status;
}
