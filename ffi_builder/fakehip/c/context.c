/* The device that is current for a thread, which is a stack of one context. */
#include "../../fakecuda/c/context.c"

#include "hip.h"

static CUresult set_device(int device) {
  CUcontext handle;
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  if (driver.devices[device].retained == 0) {
    CUresult result = primary_retain(&handle, device);
    if (result != CUDA_SUCCESS) return result;
  }
  Thread* thread = this_thread();
  thread->stack[0] = driver.devices[device].primary;
  thread->depth = 1;
  return CUDA_SUCCESS;
}

CUresult hip_ready(void) {
  lock();
  CUresult result = hip_init();
  const Thread* thread = this_thread();
  bool none = thread->depth == 0 || thread->stack[0]->device >= driver.device_count;
  if (result == CUDA_SUCCESS && none) {
    CUstreamCaptureMode mode = this_thread()->mode; /* this is no call of anybody */
    this_thread()->mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    result = set_device(0);
    this_thread()->mode = mode;
  }
  unlock();
  return result;
}

CUresult hip_on_device(const Context* context, const char* what) {
  Context* current;
  CUresult result = context_current(&current);
  if (result != CUDA_SUCCESS || current == context) return result;
  violation("module-device", "%s of device %d while device %d is current: HIP aborts the process",
            what, context->device, current->device);
  return CUDA_ERROR_INVALID_HANDLE;
}

hipError_t hipSetDevice(int device) { HIP(kInit, set_device(device), "device=%d", device); }

hipError_t hipGetDevice(int* device) { HIP(kContext, get_device(device), "-"); }

hipError_t hipDeviceSynchronize(void) { HIP(kContext, synchronize(), "-"); }
