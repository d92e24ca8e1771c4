/* Contexts, and each thread's stack of them. */
#include <stdlib.h>

#include "fake.h"

static Context* top(void) {
  const Thread* thread = this_thread();
  return thread->depth == 0 ? NULL : thread->stack[thread->depth - 1];
}

CUresult context_current(Context** found) {
  Context* context = top();
  if (context == NULL) return CUDA_ERROR_INVALID_CONTEXT;
  if (!context->object.alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  *found = context;
  return context->failed;
}

void fake_recover(void) {
  lock();
  Object* object;
  for (size_t i = 0; (object = object_at(i)) != NULL; ++i) {
    if (object->kind == kKindContext) ((Context*)object)->failed = CUDA_SUCCESS;
  }
  unlock();
}

/* With it goes what was made in it. */
void context_end(Context* context) {
  context->object.alive = false;
  memory_end(context);
  Object* object;
  for (size_t i = 0; (object = object_at(i)) != NULL; ++i) {
    if (!object->alive) continue;
    if (object->kind == kKindStream && ((Stream*)object)->context == context) object->alive = false;
    if (object->kind == kKindFunction && ((Function*)object)->context == context) {
      object->alive = false;
    }
    if (object->kind == kKindModule && ((Module*)object)->context == context) {
      object->alive = false;
      if (((Module*)object)->own) library_end(((Module*)object)->library);
    }
  }
}

static Context* context_new(int device, bool primary) {
  Context* context = object_new(kKindContext, sizeof(*context));
  context->device = device;
  context->primary = primary;
  return context;
}

static bool is_device(CUdevice device) { return device >= 0 && device < driver.device_count; }

static CUresult primary_retain(CUcontext* out, CUdevice device) {
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  Device* on = &driver.devices[device];
  if (on->primary == NULL || !on->primary->object.alive) {
    /* Making a context allocates memory on the device. */
    CUresult result = capture_forbids_unsafe();
    if (result != CUDA_SUCCESS) return result;
    if (on->primary == NULL) on->primary = context_new(device, true);
    on->primary->object.alive = true;
    on->primary->failed = CUDA_SUCCESS;
  }
  ++on->retained;
  *out = HANDLE(CUcontext, on->primary);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice device) {
  API(kInit, primary_retain(out, device), "device=%d", device);
}

static CUresult primary_release(CUdevice device) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  Device* on = &driver.devices[device];
  if (on->retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
  if (--on->retained == 0 && on->primary->object.alive) context_end(on->primary);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  API(kInit, primary_release(device), "device=%d", device);
}

/* What it was retained for stays counted, and is to be released by whoever has retained it. */
static CUresult primary_reset(CUdevice device) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  Context* primary = driver.devices[device].primary;
  if (primary != NULL && primary->object.alive) context_end(primary);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  API(kInit | kUnsafe, primary_reset(device), "device=%d", device);
}

static CUresult primary_state(CUdevice device, unsigned* flags, int* active) {
  if (flags == NULL || active == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *flags = 0;
  const Context* primary = driver.devices[device].primary;
  *active = primary != NULL && primary->object.alive;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* active) {
  API(kInit, primary_state(device, flags, active), "device=%d", device);
}

static CUresult push(CUcontext handle) {
  Context* context = object_find(handle, kKindContext);
  if (context == NULL) return CUDA_ERROR_INVALID_CONTEXT;
  Thread* thread = this_thread();
  if (thread->depth == kStack) {
    violation("stack", "%u contexts on the stack of a thread: pops are missing", thread->depth);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  thread->stack[thread->depth++] = context;
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext context) {
  API(kInit, push(context), "context=%p", (void*)context);
}

static CUresult pop(CUcontext* out) {
  Thread* thread = this_thread();
  if (thread->depth == 0) return CUDA_ERROR_INVALID_CONTEXT;
  Context* context = thread->stack[--thread->depth];
  if (out != NULL) *out = HANDLE(CUcontext, context);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext* out) { API(kInit, pop(out), "-"); }

static CUresult set_current(CUcontext handle) {
  Thread* thread = this_thread();
  if (handle == NULL) {
    if (thread->depth > 0) --thread->depth;
    return CUDA_SUCCESS;
  }
  Context* context = object_find(handle, kKindContext);
  if (context == NULL) return CUDA_ERROR_INVALID_CONTEXT;
  if (thread->depth == 0) thread->depth = 1;
  thread->stack[thread->depth - 1] = context;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  API(kInit, set_current(context), "context=%p", (void*)context);
}

static CUresult get_current(CUcontext* out) {
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  Context* context = top();
  *out = context == NULL ? NULL : HANDLE(CUcontext, context);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* out) { API(kInit, get_current(out), "-"); }

static CUresult get_device(CUdevice* out) {
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  *out = top()->device;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* out) { API(kContext, get_device(out), "-"); }

static CUresult synchronize(void) {
  Context* context;
  CUresult result = context_current(&context);
  return result == CUDA_SUCCESS ? capture_forbids_waiting(context, NULL) : result;
}

CUresult cuCtxSynchronize(void) { API(kContext, synchronize(), "-"); }

static CUresult create(CUcontext* out, const void* parameters, unsigned flags, CUdevice device) {
  if (out == NULL || parameters != NULL || flags > CU_CTX_FLAGS_MASK) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  Context* context = context_new(device, false);
  *out = HANDLE(CUcontext, context);
  return push(*out);
}

CUresult cuCtxCreate(CUcontext* out, CUctxCreateParams* parameters, unsigned int flags,
                     CUdevice device) {
  API(kInit | kUnsafe, create(out, parameters, flags, device), "flags=%u device=%d", flags, device);
}

/* What was the function's name before CUDA 12.5 is still exported, with its old arguments. */
CUresult cuCtxCreate_v2(CUcontext* out, unsigned int flags, CUdevice device);
CUresult cuCtxCreate_v2(CUcontext* out, unsigned int flags, CUdevice device) {
  API(kInit | kUnsafe, create(out, NULL, flags, device), "flags=%u device=%d", flags, device);
}

static CUresult destroy(CUcontext handle) {
  Context* context = object_find(handle, kKindContext);
  if (context == NULL || context->primary) return CUDA_ERROR_INVALID_CONTEXT;
  if (top() == context) --this_thread()->depth;
  context_end(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxDestroy(CUcontext context) {
  API(kInit | kUnsafe, destroy(context), "context=%p", (void*)context);
}
