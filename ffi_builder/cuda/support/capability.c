// The compute capabilities of devices, each an int.
//
// Two threads may ask the driver at the same time. Both store the same value.

#include "cuda.h"

// A vendor's own: stores the capability of a device; returns a status.
static int32_t cuda_ask_capability(const CudaState *state, CUdevice device, int32_t *capability);

// Finds the driver if no launch has found it.
int32_t SHARED(cuda_init_capability)(void **result, CudaState *state, CUDA_SITE_PARAMETERS) {
  int32_t found = cuda_find_driver(state, true, CUDA_SITE);
  if (found == 0)
    *result = state;
  return found;
}

// Stores the capability of a device. A device of -1 stands for the stream's device.
int32_t SHARED(cuda_find_capability)(CudaState *state, CudaCapabilities *capabilities,
                                     CudaInit *init, CUdevice device, CUstream stream,
                                     int32_t *capability, CUDA_SITE_PARAMETERS) {
  int32_t refused = TVMFFIHandleInitOnce(&capabilities->ready, init);
  if (refused != 0)
    return refused;
  CUdevice known = device < 0 ? cuda_device_of(state, stream, device) : device;
  bool has_slot = (uint32_t)known < CUDA_DEVICES - 1;
  int64_t *slot = &capabilities->devices[has_slot ? known : CUDA_DEVICES - 1];
  *capability = (int32_t)__atomic_load_n(slot, __ATOMIC_ACQUIRE);
  if (*capability != 0)
    return 0;
  int32_t status = cuda_ask_capability(state, known, capability);
  if (status != 0)
    return cuda_fail_without_launch(state, known, status, CUDA_SITE);
  if (has_slot)
    __atomic_store_n(slot, *capability, __ATOMIC_RELEASE);
  return 0;
}
