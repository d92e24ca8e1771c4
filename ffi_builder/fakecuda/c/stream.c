/* Streams. Kernels run when they are launched, so there is never anything to wait for. */
#include <inttypes.h>
#include <stdlib.h>

#include "fake.h"

Stream* stream_new(Context* context, unsigned flags, int priority) {
  Stream* stream = object_new(kKindStream, sizeof(*stream));
  stream->context = context;
  stream->flags = flags;
  stream->priority = priority;
  return stream;
}

/* The calling thread's own default stream in a context. */
static Stream* per_thread_stream(Context* context) {
  unsigned number = this_thread_number();
  Object* object;
  for (size_t i = 0; (object = object_at(i)) != NULL; ++i) {
    Stream* stream = (Stream*)object;
    if (!object->alive || object->kind != kKindStream) continue;
    if (stream->context == context && stream->thread == number) return stream;
  }
  Stream* stream = stream_new(context, CU_STREAM_DEFAULT, 0);
  stream->thread = number;
  return stream;
}

CUresult stream_resolve(CUstream handle, bool per_thread, Where* where) {
  if (handle == NULL || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
    CUresult result = context_current(&where->context);
    if (result != CUDA_SUCCESS) return result;
    bool own = handle == CU_STREAM_PER_THREAD || (handle == NULL && per_thread);
    where->stream = own ? per_thread_stream(where->context) : NULL;
    return CUDA_SUCCESS;
  }
  Object* object = object_of(handle);
  if (object == NULL || object->kind != kKindStream) return CUDA_ERROR_INVALID_HANDLE;
  Stream* stream = (Stream*)object;
  if (!object->alive) {
    violation("stream-destroyed", "a stream was used after it had been destroyed");
    return stream->context->object.alive ? CUDA_ERROR_INVALID_HANDLE
                                         : CUDA_ERROR_CONTEXT_IS_DESTROYED;
  }
  *where = (Where){stream->context, stream};
  return stream->context->failed;
}

static CUresult create(CUstream* out, unsigned flags, int priority) {
  if (out == NULL || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Context* context;
  CUresult result = context_current(&context);
  if (result != CUDA_SUCCESS) return result;
  *out = HANDLE(CUstream, stream_new(context, flags, priority));
  return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream* out, unsigned int flags) {
  API(kContext | kUnsafe, create(out, flags, 0), "flags=%u", flags);
}

CUresult cuStreamCreateWithPriority(CUstream* out, unsigned int flags, int priority) {
  API(kContext | kUnsafe, create(out, flags, priority), "flags=%u priority=%d", flags, priority);
}

static CUresult destroy(CUstream handle) {
  Stream* stream = object_find(handle, kKindStream);
  if (stream == NULL || stream->thread != 0) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture != NULL) capture_invalidate(stream);
  stream->object.alive = false;
  return stream->context->failed;
}

CUresult cuStreamDestroy(CUstream stream) {
  API(kInit, destroy(stream), "stream=%p", (void*)stream);
}

static CUresult get_context(CUstream handle, CUcontext* out) {
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  Where where;
  CUresult result = stream_resolve(handle, false, &where);
  if (result == CUDA_SUCCESS) *out = HANDLE(CUcontext, where.context);
  return result;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext* out) {
  API(kInit, get_context(stream, out), "stream=%p", (void*)stream);
}

static CUresult get_both(CUstream handle, CUcontext* out, CUgreenCtx* green) {
  if (green == NULL) return CUDA_ERROR_INVALID_VALUE;
  *green = NULL;
  return get_context(handle, out);
}

CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* out, CUgreenCtx* green) {
  API(kInit, get_both(stream, out, green), "stream=%p", (void*)stream);
}

static CUresult get_device(CUstream handle, CUdevice* out) {
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  Where where;
  CUresult result = stream_resolve(handle, false, &where);
  if (result == CUDA_SUCCESS) *out = where.context->device;
  return result;
}

CUresult cuStreamGetDevice(CUstream stream, CUdevice* out) {
  API(kInit, get_device(stream, out), "stream=%p", (void*)stream);
}

static CUresult get_flags(CUstream handle, unsigned* out) {
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  Where where;
  CUresult result = stream_resolve(handle, false, &where);
  if (result == CUDA_SUCCESS) *out = where.stream == NULL ? 0 : where.stream->flags;
  return result;
}

CUresult cuStreamGetFlags(CUstream stream, unsigned int* out) {
  API(kInit, get_flags(stream, out), "stream=%p", (void*)stream);
}

static CUresult wait(CUstream handle) {
  Where where;
  CUresult result = stream_resolve(handle, false, &where);
  if (result != CUDA_SUCCESS) return result;
  if (where.stream == NULL) {
    result = capture_forbids_legacy(where.context);
    if (result != CUDA_SUCCESS) return result;
  }
  return where.stream == NULL ? CUDA_SUCCESS : capture_forbids_waiting(where.context, where.stream);
}

CUresult cuStreamSynchronize(CUstream stream) {
  API(kInit, wait(stream), "stream=%p", (void*)stream);
}

CUresult cuStreamQuery(CUstream stream) { API(kInit, wait(stream), "stream=%p", (void*)stream); }

/* ---- events, which are recorded by attributes of launches alone */

static CUresult create_event(CUevent* out, unsigned flags) {
  const unsigned known =
      CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  if (out == NULL || (flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
  Context* context;
  CUresult result = context_current(&context);
  if (result != CUDA_SUCCESS) return result;
  Event* event = object_new(kKindEvent, sizeof(*event));
  event->flags = flags;
  *out = HANDLE(CUevent, event);
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* out, unsigned int flags) {
  API(kContext | kUnsafe, create_event(out, flags), "flags=%u", flags);
}

static CUresult destroy_event(CUevent handle) {
  Event* event = object_find(handle, kKindEvent);
  if (event == NULL) return CUDA_ERROR_INVALID_HANDLE;
  event->object.alive = false;
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event) {
  API(kInit, destroy_event(event), "event=%p", (void*)event);
}
