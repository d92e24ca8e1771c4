/* Stream capture: what is launched into a capturing stream goes into a graph, and what cannot be
 * captured is refused. The rules are those of cuThreadExchangeStreamCaptureMode's documentation. */
#include <inttypes.h>
#include <stdlib.h>

#include "fake.h"

/* The next stream that is capturing, from an index on; NULL: none. */
static Stream* next_capturing(size_t* index) {
  Object* object;
  while ((object = object_at((*index)++)) != NULL) {
    Stream* stream = (Stream*)object;
    if (object->kind == kKindStream && object->alive && stream->capture != NULL) return stream;
  }
  return NULL;
}

/* What was captured is lost, and cuStreamEndCapture will say so. */
void capture_invalidate(Stream* stream) { stream->invalidated = true; }

static bool forbids_unsafe(const Stream* stream, const Thread* thread) {
  if (stream->invalidated || thread->mode == CU_STREAM_CAPTURE_MODE_RELAXED) return false;
  if (stream->capturer == thread->number) return stream->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
  return thread->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
         stream->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

CUresult capture_forbids_unsafe(void) {
  const Thread* thread = this_thread();
  CUresult result = CUDA_SUCCESS;
  Stream* stream;
  for (size_t i = 0; (stream = next_capturing(&i)) != NULL;) {
    if (!forbids_unsafe(stream, thread)) continue;
    capture_invalidate(stream);
    result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return result;
}

/* The legacy stream waits for all blocking streams of its context, and so for what they capture. */
static CUresult implicit(const Context* context, bool invalidates) {
  CUresult result = CUDA_SUCCESS;
  Stream* stream;
  for (size_t i = 0; (stream = next_capturing(&i)) != NULL;) {
    if (stream->context != context || (stream->flags & CU_STREAM_NON_BLOCKING) != 0) continue;
    if (invalidates) capture_invalidate(stream);
    result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  return result;
}

CUresult capture_forbids_legacy(const Context* context) { return implicit(context, true); }

/* Waiting for one stream, or (NULL) for all of a context. */
CUresult capture_forbids_waiting(const Context* context, Stream* waited) {
  CUresult result = CUDA_SUCCESS;
  Stream* stream;
  for (size_t i = 0; (stream = next_capturing(&i)) != NULL;) {
    if (waited == NULL ? stream->context != context : stream != waited) continue;
    capture_invalidate(stream);
    result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return result;
}

static CUresult begin(CUstream handle, CUstreamCaptureMode mode) {
  static uint64_t ids;
  if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  Where where;
  CUresult result = stream_resolve(handle, false, &where);
  if (result != CUDA_SUCCESS) return result;
  Stream* stream = where.stream;
  if (stream == NULL) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->capture != NULL) return CUDA_ERROR_ILLEGAL_STATE;
  stream->capture = object_new(kKindGraph, sizeof(*stream->capture));
  stream->invalidated = false;
  stream->mode = mode;
  stream->capturer = this_thread()->number;
  stream->capture_id = ++ids;
  return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  API(kInit, begin(stream, mode), "stream=%p mode=%d", (void*)stream, (int)mode);
}

static CUresult end(CUstream handle, CUgraph* out) {
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  *out = NULL;
  Where where;
  CUresult result = stream_resolve(handle, false, &where);
  if (result != CUDA_SUCCESS) return result;
  Stream* stream = where.stream;
  if (stream == NULL || stream->capture == NULL) return CUDA_ERROR_ILLEGAL_STATE;
  if (stream->mode != CU_STREAM_CAPTURE_MODE_RELAXED && stream->capturer != this_thread()->number) {
    capture_invalidate(stream);
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  }
  Graph* graph = stream->capture;
  stream->capture = NULL;
  if (stream->invalidated) {
    graph->object.alive = false;
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  }
  *out = HANDLE(CUgraph, graph);
  return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* out) {
  API(kInit, end(stream, out), "stream=%p", (void*)stream);
}

static CUresult state(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id) {
  if (status == NULL) return CUDA_ERROR_INVALID_VALUE;
  Where where;
  CUresult result = stream_resolve(handle, false, &where);
  if (result != CUDA_SUCCESS) return result;
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (where.stream == NULL) return implicit(where.context, false);
  if (where.stream->capture == NULL) return CUDA_SUCCESS;
  *status = where.stream->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                      : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  if (id != NULL) *id = where.stream->capture_id;
  return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  API(kInit, state(stream, status, NULL), "stream=%p", (void*)stream);
}

/* Of the optional outputs only the id is given: the fake's graphs have no edges. */
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                CUgraph* graph, const CUgraphNode** dependencies,
                                const CUgraphEdgeData** edges, size_t* count) {
  bool plain = graph == NULL && dependencies == NULL && edges == NULL && count == NULL;
  API(kInit, plain ? state(stream, status, id) : CUDA_ERROR_NOT_SUPPORTED, "stream=%p",
      (void*)stream);
}

static CUresult exchange(CUstreamCaptureMode* mode) {
  if (mode == NULL || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Thread* thread = this_thread();
  CUstreamCaptureMode before = thread->mode;
  thread->mode = *mode;
  *mode = before;
  return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  API(kInit, exchange(mode), "mode=%d", mode == NULL ? -1 : (int)*mode);
}
