// What is asked about NVIDIA's kernels and devices, and parts of messages about clusters and
// architectures.

#include "cuda.h"

static bool cuda_ask_kernel(const CudaLaunch *launch, int32_t attribute, int32_t *answer) {
  *answer = 0;
  return launch->state->driver.cuKernelGetAttribute(answer, attribute, cuda_handle(launch->kernel),
                                                    launch->device) == CUDA_SUCCESS;
}

// Stores the size of clusters; returns whether there are any. A launch without a size of its own
// has the size for which the kernel was compiled.
static bool cuda_find_cluster(const CudaLaunch *launch, uint32_t cluster[3]) {
  const int32_t compiled[] = {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
                              CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
                              CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH};
  for (int axis = 0; axis < 3; ++axis) {
    int32_t size;
    bool answered = cuda_ask_kernel(launch, compiled[axis], &size);
    cluster[axis] = answered ? (uint32_t)size : 0;
  }
  for (uint32_t i = 0; i < launch->config->numAttrs; ++i) {
    const CUlaunchAttribute *attribute = &launch->config->attrs[i];
    if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      memcpy(cluster, &attribute->value.clusterDim, sizeof attribute->value.clusterDim);
  }
  return cluster[0] != 0 && cluster[1] != 0 && cluster[2] != 0;
}

static void cuda_add_own_limits(CudaMessage *message, const CudaLaunch *launch) {
  uint32_t cluster[3];
  if (!cuda_find_cluster(launch, cluster))
    return;
  const CUlaunchConfig *config = launch->config;
  const uint32_t grid[] = {config->gridDimX, config->gridDimY, config->gridDimZ};
  for (int axis = 0; axis < 3; ++axis)
    if (grid[axis] % cluster[axis] != 0)
      CUDA_SAY(message, "; grid.%c is %u, no multiple of cluster.%c, %u", 'x' + axis, grid[axis],
               'x' + axis, cluster[axis]);
  uint64_t blocks = cuda_product(cluster[0], cluster[1], cluster[2]);
  if (blocks > CUDA_MAX_PORTABLE_CLUSTER)
    CUDA_SAY(message, "; the cluster has %llu blocks, and not every device can have more than %d",
             (unsigned long long)blocks, CUDA_MAX_PORTABLE_CLUSTER);
  int32_t able;
  if (cuda_ask_device(launch, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, &able) && able == 0)
    CUDA_SAY(message, "; this device has no clusters");
}

// Appends the architectures of the image, if it has no code for this device.
static void cuda_add_architectures(CudaMessage *message, const CudaLaunch *launch, CUresult code,
                                   const CudaSite *site) {
  if (code != CUDA_ERROR_NO_BINARY_FOR_GPU && code != CUDA_ERROR_INVALID_PTX &&
      code != CUDA_ERROR_UNSUPPORTED_PTX_VERSION && code != CUDA_ERROR_NOT_FOUND)
    return;
  CUDA_SAY(message, "; the image has %s", site->architectures);
  int32_t major, minor;
  if (cuda_ask_device(launch, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major) &&
      cuda_ask_device(launch, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor))
    CUDA_SAY(message, ", and device %d is sm_%d%d", launch->device, major, minor);
  if (code == CUDA_ERROR_UNSUPPORTED_PTX_VERSION) {
    int32_t version = 0;
    launch->state->driver.cuDriverGetVersion(&version);
    CUDA_SAY(message,
             "; its PTX is newer than the driver, which is of CUDA %d.%d: update it, or ship a "
             "cubin",
             version / 1000, version % 1000 / 10);
  }
}

// Stores the capability of a device; returns a status.
static int32_t cuda_ask_capability(const CudaState *state, CUdevice device, int32_t *capability) {
  int32_t major = 0, minor = 0;
  CUresult result = state->driver.cuDeviceGetAttribute(
      &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  if (result == CUDA_SUCCESS)
    result = state->driver.cuDeviceGetAttribute(
        &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  *capability = major << CUDA_CAPABILITY_BITS | minor;
  return cuda_status(NUMBER_cuDeviceGetAttribute, result);
}
