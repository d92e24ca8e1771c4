// What a wrapper calls to launch.

#include "cuda.h"

// Returns whether launches are watched: four bytes at once.
static bool rocm_is_watched(const CudaState *state) {
  uint32_t on;
  memcpy(&on, state->watch, sizeof on);
  return on != 0;
}

int32_t SHARED(rocm_launch)(CudaState *state, CudaKernel *kernel, CudaInit *init,
                            const CUlaunchConfig *config, void **params, CUdevice device,
                            const char *described, CUDA_SITE_PARAMETERS) {
  int32_t refused = TVMFFIHandleInitOnce(&kernel->handle, init);
  if (refused != 0)
    return refused;
  CUdevice found;
  int32_t status = rocm_find_device(state, config->hStream, device, &found);
  if (status == 0)
    status = rocm_load_on(state, kernel, init, found);
  if (status == 0) {
    const CudaWatched launch = {state, kernel, config, params, found, 0, described};
    status = rocm_is_watched(state)
                 ? SHARED(cuda_watched)(state, kernel, config, params, found, 0, described, name,
                                        architectures, raiser, suffix, backtrace, backtrace_size)
                 : cuda_launch_watched(&launch);
  }
  if (status <= 0)
    return status;
  if (described == NULL)
    return cuda_code(status);
  const CudaLaunch failed = {state, kernel, config, (uint32_t)found < CUDA_DEVICES ? found : 0};
  return cuda_report(&failed, status, "", CUDA_SITE);
}
