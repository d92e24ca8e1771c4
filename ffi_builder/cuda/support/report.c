// Reports errors of the driver, with their likely cause.
//
//     cuLaunchKernelEx failed: CUDA_ERROR_INVALID_VALUE (1: invalid argument) for kernel 'saxpy':
//     grid=(1, 1, 1), block=(2048, 1, 1), dynamic_smem_bytes=0, device 0, stream 0x0;
//     block.x is 2048, at most 1024 on this device when calling: `…`

#include "cuda.h"

static CUresult cuda_code(int32_t status) { return status & ((1 << CUDA_CODE_BITS) - 1); }

// Appends the function that failed, and the driver's name and text for its result.
static void cuda_add_failure(CudaMessage *message, const CudaState *state, int32_t status) {
  CUresult code = cuda_code(status);
  const char *name = NULL, *text = NULL, *none = "an error without a name";
  state->driver.cuGetErrorName(code, &name);
  state->driver.cuGetErrorString(code, &text);
  CUDA_SAY(message, "%s failed: %s (%d: %s)", cuda_function_names[status >> CUDA_CODE_BITS],
           name == NULL ? none : name, code, text == NULL ? none : text);
}

static void cuda_add_attribute(CudaMessage *message, const CUlaunchAttribute *attribute) {
  const char *name = cuda_attribute_names[attribute->id];
  switch (attribute->id) {
  case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    name = "cluster"; // as in Python
    // fall through
  case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    CUDA_SAY(message, ", %s=(%u, %u, %u)", name, attribute->value.clusterDim.x,
             attribute->value.clusterDim.y, attribute->value.clusterDim.z);
    break;
  case CU_LAUNCH_ATTRIBUTE_PRIORITY:
  case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    CUDA_SAY(message, ", %s=%d", name, attribute->value.number);
    break;
  default:
    CUDA_SAY(message, ", %s", name);
  }
}

static void cuda_add_figures(CudaMessage *message, const CUlaunchConfig *config, CUdevice device) {
  CUDA_SAY(message, ": grid=(%u, %u, %u), block=(%u, %u, %u)", config->gridDimX, config->gridDimY,
           config->gridDimZ, config->blockDimX, config->blockDimY, config->blockDimZ);
  for (uint32_t i = 0; i < config->numAttrs; ++i)
    cuda_add_attribute(message, &config->attrs[i]);
  CUDA_SAY(message, ", dynamic_smem_bytes=%u, device %d, stream 0x%llx", config->sharedMemBytes,
           device, (unsigned long long)(uintptr_t)config->hStream);
}

// Appends what to do about a failure of something that ran before.
static void cuda_add_earlier(CudaMessage *message, CUresult code) {
  if (code == CUDA_ERROR_ILLEGAL_ADDRESS || code == CUDA_ERROR_MISALIGNED_ADDRESS ||
      code == CUDA_ERROR_LAUNCH_FAILED)
    CUDA_SAY(message, "; a kernel before it has failed: with " CUDA_BLOCKING
                      "=1 the call that launched it says so");
}

// Appends what was launched, and the limits that it exceeds.
static void cuda_add_launch(CudaMessage *message, const CudaLaunch *launch, CUresult code) {
  cuda_add_figures(message, launch->config, launch->device);
  // A query about a kernel may load the kernel, and loading would invalidate a capture.
  int32_t mode = cuda_relax_capture(launch->state);
  size_t before = message->length;
  cuda_add_limits(message, launch, code);
  cuda_restore_capture(launch->state, mode);
  if (message->length == before)
    cuda_add_earlier(message, code);
}

// Sets the error for a status. `config` is NULL unless a launch has failed.
static int32_t cuda_report(const CudaLaunch *launch, int32_t status, const char *log,
                           const CudaSite *site) {
  CUresult code = cuda_code(status);
  CudaMessage message;
  message.length = 0;
  cuda_add_failure(&message, launch->state, status);
  CUDA_SAY(&message, " for kernel '%s'", site->name);
  if (launch->config != NULL)
    cuda_add_launch(&message, launch, code);
  cuda_add_architectures(&message, launch, code, site);
  if (*log != '\0')
    CUDA_SAY(&message, "; the driver says: %.512s", log);
  return cuda_raise(&message, "RuntimeError", site);
}

// Sets the error for a status of something else than a launch. A device of -1 is not known.
static int32_t cuda_fail_without_launch(const CudaState *state, CUdevice device, int32_t status,
                                        const CudaSite *site) {
  const CudaLaunch none = {state, NULL, NULL, device < 0 ? 0 : device};
  return cuda_report(&none, status, "", site);
}

// Sets the error for a status of a launch.
int32_t SHARED(cuda_fail)(CudaState *state, CudaKernel *kernel, const CUlaunchConfig *config,
                          CUdevice device, int32_t status, CUDA_SITE_PARAMETERS) {
  const CudaLaunch launch = {state, kernel, config, cuda_device_of(state, config->hStream, device)};
  return cuda_report(&launch, status, "", CUDA_SITE);
}
