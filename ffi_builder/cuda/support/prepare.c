// Preparing a kernel on a device.
//
// A launch with more than 48 KiB of shared memory, or with a cluster of more than 8 blocks,
// requires attributes of the kernel. Both are set to the device's maximum. So wrappers of one
// kernel with different launches, or with sizes known only at run time, do not lower the limits of
// each other.
//
// A launch runs on the device of its stream, even if the tensors are on another one. It takes four
// calls of the driver to find the stream's device. So if the kernel is prepared on the device of a
// tensor, a wrapper assumes that the stream has the same device. If the stream has another device,
// the driver refuses the launch. cuda_launch_again then prepares the kernel on the stream's device
// and launches a second time.

#include "cuda.h"

// Returns the byte of a device. It is the last one for a device of -1, and for those without a byte
// of their own.
static uint8_t *cuda_prepared(CudaKernel *kernel, CUdevice device) {
  uint32_t last = CUDA_DEVICES - 1;
  return &kernel->prepared[(uint32_t)device < last ? (uint32_t)device : last];
}

static bool cuda_has(CudaKernel *kernel, CUdevice device, int32_t needs) {
  return (__atomic_load_n(cuda_prepared(kernel, device), __ATOMIC_ACQUIRE) & needs) == needs;
}

// Allows the kernel as much dynamic shared memory as the device has; returns a status.
static int32_t cuda_allow_shared_memory(const CudaState *state, CUkernel kernel, CUdevice device) {
  int32_t total = 0, fixed = 0;
  CUresult result = state->driver.cuDeviceGetAttribute(
      &total, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device);
  if (result != CUDA_SUCCESS)
    return cuda_status(NUMBER_cuDeviceGetAttribute, result);
  result = state->driver.cuKernelGetAttribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel,
                                              device);
  if (result != CUDA_SUCCESS)
    return cuda_status(NUMBER_cuKernelGetAttribute, result);
  result = state->driver.cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                              total - fixed, kernel, device);
  return cuda_status(NUMBER_cuKernelSetAttribute, result);
}

// Sets the attributes whose bits are in needs; returns a status.
static int32_t cuda_set_attributes(const CudaState *state, CUkernel kernel, CUdevice device,
                                   int32_t needs) {
  if (needs & CUDA_PREPARED_SHARED) {
    int32_t status = cuda_allow_shared_memory(state, kernel, device);
    if (status != 0)
      return status;
  }
  if (!(needs & CUDA_PREPARED_CLUSTER))
    return 0;
  CUresult result = state->driver.cuKernelSetAttribute(
      CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1, kernel, device);
  return cuda_status(NUMBER_cuKernelSetAttribute, result);
}

// Sets the attributes once per device; returns a status. Another thread may capture a stream
// meanwhile.
int32_t SHARED(cuda_prepare)(CudaState *state, CudaKernel *kernel, CUdevice device, CUstream stream,
                             int32_t needs) {
  CUdevice known = cuda_device_of(state, stream, device);
  if (cuda_has(kernel, known, needs))
    return 0;
  int32_t mode = cuda_relax_capture(state);
  int32_t status = cuda_set_attributes(state, cuda_handle(kernel), known, needs);
  cuda_restore_capture(state, mode);
  if (status != 0)
    return status;
  uint8_t *slot = cuda_prepared(kernel, known);
  // The last byte stays 0: it is for all devices without a byte of their own.
  if (slot != &kernel->prepared[CUDA_DEVICES - 1])
    __atomic_fetch_or(slot, (uint8_t)needs, __ATOMIC_RELEASE);
  return 0;
}
