/* cuGetErrorName and cuGetErrorString. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "fake.h"

/* The names are made from the header when this is built, so that none is missing. */
static const struct {
  CUresult result;
  const char* name;
} kNames[] = {
#define RESULT(name) {name, #name},
#include "results.inc"
#undef RESULT
};

/* What a driver says; those of libcudart are the same. */
static const struct {
  CUresult result;
  const char* text;
} kTexts[] = {
    {CUDA_SUCCESS, "no error"},
    {CUDA_ERROR_INVALID_VALUE, "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "initialization error"},
    {CUDA_ERROR_DEINITIALIZED, "driver shutting down"},
    {CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "invalid device context"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device"},
    {CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
     "the provided PTX was compiled with an unsupported toolchain."},
    {CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated"},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"},
    {CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"},
    {CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "too many blocks in cooperative launch"},
    {CUDA_ERROR_NOT_PERMITTED, "operation not permitted"},
    {CUDA_ERROR_NOT_SUPPORTED, "operation not supported"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing"},
    {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
     "operation failed due to a previous error during capture"},
    {CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
     "attempt to terminate a thread-local capture sequence from another thread"},
    {CUDA_ERROR_INVALID_CLUSTER_SIZE,
     "a kernel launch error has occurred due to cluster misconfiguration"},
    {CUDA_ERROR_UNKNOWN, "unknown error"},
};

/* What the fake knows of the last failure that it can explain. Users get it wherever the driver's
 * words are shown. The text is kept for ever, as callers may. */
static CUresult explained;
static char* explanation;

CUresult explain(CUresult result, const char* format, ...) {
  va_list list;
  va_start(list, format);
  if (vasprintf(&explanation, format, list) < 0) must(NULL);
  va_end(list);
  return explained = result;
}

void error_clear(void) { explained = CUDA_SUCCESS; }

static const char* name_of(CUresult result) {
  for (size_t i = 0; i < sizeof(kNames) / sizeof(kNames[0]); ++i) {
    if (kNames[i].result == result) return kNames[i].name;
  }
  return NULL;
}

static CUresult get_name(CUresult error, const char** out) {
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  *out = name_of(error);
  return *out == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char** out) {
  API(kNothing, get_name(error, out), "error=%d", (int)error);
}

static CUresult get_text(CUresult error, const char** out) {
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  *out = name_of(error); /* for what the fake never returns by itself */
  if (*out == NULL) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < sizeof(kTexts) / sizeof(kTexts[0]); ++i) {
    if (kTexts[i].result == error) *out = kTexts[i].text;
  }
  if (error != CUDA_SUCCESS && error == explained) *out = explanation;
  return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char** out) {
  API(kNothing, get_text(error, out), "error=%d", (int)error);
}
