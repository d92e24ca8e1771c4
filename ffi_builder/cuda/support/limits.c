// Parts of a message: the limits that a launch exceeds.
//
// All limits are queried after the launch has failed. After some failures the driver answers no
// queries. A message leaves out a limit that the driver does not tell.

#include "cuda.h"

// A failed launch, and the device on which it was to run.
typedef struct {
  const CudaState *state;
  CudaKernel *kernel;
  const CUlaunchConfig *config;
  CUdevice device;
} CudaLaunch;

// Stores an attribute of the device; returns whether the driver answered.
static bool cuda_ask_device(const CudaLaunch *launch, int32_t attribute, int32_t *answer) {
  *answer = 0;
  return launch->state->driver.cuDeviceGetAttribute(answer, attribute, launch->device) ==
         CUDA_SUCCESS;
}

static bool cuda_ask_kernel(const CudaLaunch *launch, int32_t attribute, int32_t *answer) {
  *answer = 0;
  return launch->state->driver.cuKernelGetAttribute(answer, attribute, cuda_handle(launch->kernel),
                                                    launch->device) == CUDA_SUCCESS;
}

// Returns the product, or INT64_MAX if it does not fit an int64_t.
static uint64_t cuda_product(uint64_t x, uint64_t y, uint64_t z) {
  uint64_t plane = x * y, most = INT64_MAX;
  return z != 0 && plane > most / z ? most : plane * z;
}

static void cuda_add_dimension(CudaMessage *message, const CudaLaunch *launch, const char *name,
                               uint32_t size, int32_t attribute) {
  int32_t most;
  if (cuda_ask_device(launch, attribute, &most) && size > (uint32_t)most)
    CUDA_SAY(message, "; %s is %u, at most %d on this device", name, size, most);
}

static void cuda_add_dimensions(CudaMessage *message, const CudaLaunch *launch) {
  const CUlaunchConfig *config = launch->config;
  cuda_add_dimension(message, launch, "grid.x", config->gridDimX,
                     CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
  cuda_add_dimension(message, launch, "grid.y", config->gridDimY,
                     CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
  cuda_add_dimension(message, launch, "grid.z", config->gridDimZ,
                     CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
  cuda_add_dimension(message, launch, "block.x", config->blockDimX,
                     CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
  cuda_add_dimension(message, launch, "block.y", config->blockDimY,
                     CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
  cuda_add_dimension(message, launch, "block.z", config->blockDimZ,
                     CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
}

// Appends the limit of the kernel, which may be less than that of the device.
static void cuda_add_threads(CudaMessage *message, const CudaLaunch *launch) {
  const CUlaunchConfig *config = launch->config;
  uint64_t threads = cuda_product(config->blockDimX, config->blockDimY, config->blockDimZ);
  int32_t most;
  if (cuda_ask_kernel(launch, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &most) &&
      threads > (uint32_t)most)
    CUDA_SAY(message, "; the block has %llu threads, at most %d for this kernel on this device",
             (unsigned long long)threads, most);
}

static void cuda_add_shared_memory(CudaMessage *message, const CudaLaunch *launch) {
  int32_t total, fixed;
  if (!cuda_ask_device(launch, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &total) ||
      !cuda_ask_kernel(launch, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &fixed))
    return;
  int64_t left = (int64_t)total - fixed;
  if (launch->config->sharedMemBytes > left)
    CUDA_SAY(message, "; dynamic_smem_bytes is %u, at most %lld for this kernel on this device",
             launch->config->sharedMemBytes, (long long)left);
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

static void cuda_add_clusters(CudaMessage *message, const CudaLaunch *launch) {
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

// Appends each limit that is exceeded.
static void cuda_add_limits(CudaMessage *message, const CudaLaunch *launch, CUresult code) {
  cuda_add_dimensions(message, launch);
  cuda_add_threads(message, launch);
  cuda_add_shared_memory(message, launch);
  cuda_add_clusters(message, launch);
  if (code == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)
    CUDA_SAY(message, "; all blocks of a cooperative launch have to fit onto the device at once");
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
