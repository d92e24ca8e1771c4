/* Launching: a function of the device that is current, on a stream of the same device. */
#include "../../fakecuda/c/launch.c"

#include "hip.h"

static CUresult hip_launch(Call* call, const CUlaunchConfig* config, hipFunction_t handle,
                           void** params, void** extra) {
  const Object* object = object_of(handle);
  if (object == NULL || object->kind != kKindFunction) return CUDA_ERROR_INVALID_HANDLE;
  CUresult result = hip_on_device(((const Function*)object)->context, "a kernel is launched");
  return result == CUDA_SUCCESS
             ? launch(call, config, (CUfunction)handle, false, params, extra)
             : result;
}

#define HIP_PARAMETERS                                                                         \
  hipFunction_t function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,      \
      unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared,  \
      hipStream_t stream, void **params
#define HIP_LAUNCH(extra, list, size)                                                          \
  CUlaunchConfig config = {grid_x, grid_y, grid_z, block_x, block_y, block_z, shared,         \
                           (CUstream)stream, list, size};                                     \
  HIP(kContext, hip_launch(&call, &config, function, params, extra),                          \
      "function=%p grid=%u,%u,%u block=%u,%u,%u shared=%u stream=%p", (void*)function, grid_x, \
      grid_y, grid_z, block_x, block_y, block_z, shared, (void*)stream)

hipError_t hipModuleLaunchKernel(HIP_PARAMETERS, void** extra) { HIP_LAUNCH(extra, NULL, 0); }

hipError_t hipModuleLaunchCooperativeKernel(HIP_PARAMETERS) {
  CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
  HIP_LAUNCH(NULL, &cooperative, 1);
}
