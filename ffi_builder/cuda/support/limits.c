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

// A vendor's own: they ask about a kernel, and append limits that other vendors do not have.
static bool cuda_ask_kernel(const CudaLaunch *launch, int32_t attribute, int32_t *answer);
static void cuda_add_own_limits(CudaMessage *message, const CudaLaunch *launch);

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

// Appends each limit that is exceeded.
static void cuda_add_limits(CudaMessage *message, const CudaLaunch *launch, CUresult code) {
  cuda_add_dimensions(message, launch);
  cuda_add_threads(message, launch);
  cuda_add_shared_memory(message, launch);
  cuda_add_own_limits(message, launch);
  if (code == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)
    CUDA_SAY(message, "; all blocks of a cooperative launch have to fit onto the device at once");
}
