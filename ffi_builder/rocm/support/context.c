// Choosing and entering devices.
//
// HIP has no contexts to speak of: what a call does, it does on the device that is current for the
// thread. A kernel is launched on the device of its stream. A special stream belongs to each
// device, and stands for that of the first tensor, else for that of the current one.

#include "cuda.h"

// Makes a device current; returns a status. A device of -1 is the one that is current.
static int32_t cuda_enter(const CudaState *state, CUdevice device, CudaEntered *before) {
  *before = -1;
  if (device < 0)
    return 0;
  CUdevice current = 0;
  CUresult result = state->driver.hipGetDevice(&current);
  if (result != CUDA_SUCCESS)
    return cuda_status(NUMBER_hipGetDevice, result);
  if (current == device)
    return 0;
  result = state->driver.hipSetDevice(device);
  if (result == CUDA_SUCCESS)
    *before = current;
  return cuda_status(NUMBER_hipSetDevice, result);
}

static void cuda_leave(const CudaState *state, CudaEntered before) {
  if (before >= 0)
    state->driver.hipSetDevice(before);
}

// Stores the device of a stream; returns a status. For a special stream it is `device`, or the
// current one for a device of -1.
static int32_t rocm_find_device(const CudaState *state, CUstream stream, CUdevice device,
                                CUdevice *found) {
  *found = device;
  if (!cuda_is_special(stream))
    return cuda_status(NUMBER_hipStreamGetDevice, state->driver.hipStreamGetDevice(stream, found));
  if (device >= 0)
    return 0;
  *found = 0;
  return cuda_status(NUMBER_hipGetDevice, state->driver.hipGetDevice(found));
}

// Returns the device of a stream, or `device` if HIP fails, and 0 for a device of -1.
static CUdevice cuda_device_of(const CudaState *state, CUstream stream, CUdevice device) {
  CUdevice found;
  if (rocm_find_device(state, stream, device, &found) != 0)
    found = device;
  return found < 0 ? 0 : found;
}

// Makes the device of a stream current; returns a status.
static int32_t cuda_enter_stream(CudaState *state, CUstream stream, CUdevice device,
                                 CudaEntered *before) {
  CUdevice found;
  *before = -1;
  int32_t status = rocm_find_device(state, stream, device, &found);
  return status == 0 ? cuda_enter(state, found, before) : status;
}
