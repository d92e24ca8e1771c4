// Choosing and entering contexts.
//
// A kernel is launched in the context of its stream. A special stream belongs to the current
// context. If there is no current context, or it is one of another device, the device's primary
// context is made current during the launch.
//
// Other code may reset a device (cudaDeviceReset). This destroys the device's primary context for
// all code that retained it. A function that finds the context destroyed retains the new context
// once. It does not release the old one: a reference count that is too high keeps a context longer
// than needed, but one that is too low would take the context away from other code.

#include "cuda.h"

static bool cuda_is_gone(CUresult result) {
  return result == CUDA_ERROR_INVALID_CONTEXT || result == CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

// Forgets the device's primary context, so that the next use retains it again.
static void cuda_forget(CudaState *state, CUdevice device) {
  __atomic_store_n(&state->contexts[device < 0 ? 0 : device], NULL, __ATOMIC_RELEASE);
}

// Stores the device's primary context; returns a status. The module retains the context once, until
// the module is unloaded. If each launch retained and released it, and no other code retained it,
// the driver would create a new context for each launch.
static int32_t cuda_primary(CudaState *state, CUdevice device, CUcontext *out) {
  if ((uint32_t)device >= CUDA_DEVICES)
    return cuda_status(NUMBER_cuDevicePrimaryCtxRetain, CUDA_ERROR_INVALID_DEVICE);
  CUcontext *slot = &state->contexts[device];
  *out = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
  if (*out != NULL)
    return 0;
  int32_t mode = cuda_relax_capture(state);
  CUresult result = state->driver.cuDevicePrimaryCtxRetain(out, device);
  cuda_restore_capture(state, mode);
  if (result != CUDA_SUCCESS)
    return cuda_status(NUMBER_cuDevicePrimaryCtxRetain, result);
  CUcontext before = NULL;
  bool first =
      __atomic_compare_exchange_n(slot, &before, *out, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  if (!first) { // another thread has stored the context; the module retains it once
    *out = before;
    state->driver.cuDevicePrimaryCtxRelease_v2(device);
  }
  return 0;
}

// Makes a device's primary context current; returns a status.
static int32_t cuda_push_primary(CudaState *state, CUdevice device) {
  CUcontext context = NULL;
  int32_t status = cuda_primary(state, device, &context);
  if (status != 0)
    return status;
  CUresult result = state->driver.cuCtxPushCurrent_v2(context);
  if (cuda_is_gone(result)) {
    cuda_forget(state, device);
    status = cuda_primary(state, device, &context);
    if (status != 0)
      return status;
    result = state->driver.cuCtxPushCurrent_v2(context);
  }
  return cuda_status(NUMBER_cuCtxPushCurrent_v2, result);
}

// Makes a context of the device current; returns a status. Stores whether it pushed a context,
// which cuda_leave then pops.
static int32_t cuda_enter(CudaState *state, CUdevice device, bool *pushed) {
  *pushed = false;
  CUcontext current = NULL;
  CUresult result = state->driver.cuCtxGetCurrent(&current);
  if (result != CUDA_SUCCESS)
    return cuda_status(NUMBER_cuCtxGetCurrent, result);
  if (current != NULL && device < 0)
    return 0;
  if (current != NULL) {
    CUdevice its_device = 0;
    result = state->driver.cuCtxGetDevice(&its_device);
    if (result != CUDA_SUCCESS)
      return cuda_status(NUMBER_cuCtxGetDevice, result);
    if (its_device == device)
      return 0;
  }
  int32_t status = cuda_push_primary(state, device < 0 ? 0 : device);
  *pushed = status == 0;
  return status;
}

static void cuda_leave(const CudaState *state, bool pushed) {
  CUcontext popped = NULL;
  if (pushed)
    state->driver.cuCtxPopCurrent_v2(&popped);
}

// Makes the context of a stream that is not special current; returns a status. cuda_leave pops it.
static int32_t cuda_push_context(const CudaState *state, CUstream stream, bool *pushed) {
  CUcontext context = NULL;
  *pushed = false;
  CUresult result = state->driver.cuStreamGetCtx(stream, &context);
  if (result != CUDA_SUCCESS)
    return cuda_status(NUMBER_cuStreamGetCtx, result);
  result = state->driver.cuCtxPushCurrent_v2(context);
  *pushed = result == CUDA_SUCCESS;
  return cuda_status(NUMBER_cuCtxPushCurrent_v2, result);
}

// Returns the device of a stream. For a special stream, or if the driver fails, returns `device`. A
// device of -1 stands for the current context's device, or 0 if there is no current context.
static CUdevice cuda_device_of(const CudaState *state, CUstream stream, CUdevice device) {
  CUdevice found = device < 0 ? 0 : device;
  if (cuda_is_special(stream)) {
    // Without a current context this call fails, and stores nothing.
    if (device < 0)
      state->driver.cuCtxGetDevice(&found);
    return found;
  }
  bool pushed;
  if (cuda_push_context(state, stream, &pushed) == 0)
    state->driver.cuCtxGetDevice(&found);
  cuda_leave(state, pushed);
  return found;
}

// Makes the context of a stream current. Stores whether it pushed a context, which cuda_leave then
// pops.
static int32_t cuda_enter_stream(CudaState *state, CUstream stream, CUdevice device,
                                 CudaEntered *pushed) {
  return cuda_is_special(stream) ? cuda_enter(state, device, pushed)
                                 : cuda_push_context(state, stream, pushed);
}
