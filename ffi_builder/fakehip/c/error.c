/* The names of errors, and what HIP says of them. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>

#include "hip.h"

#define ERROR(name, text) {(CUresult)(name), #name, text}
static const struct {
  CUresult result;
  const char* name;
  const char* text;
} kErrors[] = {
    ERROR(hipSuccess, "no error"),
    ERROR(hipErrorInvalidValue, "invalid argument"),
    ERROR(hipErrorOutOfMemory, "out of memory"),
    ERROR(hipErrorNotInitialized, "initialization error"),
    ERROR(hipErrorDeinitialized, "driver shutting down"),
    ERROR(hipErrorInvalidConfiguration, "invalid configuration argument"),
    ERROR(hipErrorInvalidDeviceFunction, "invalid device function"),
    ERROR(hipErrorNoDevice, "no ROCm-capable device is detected"),
    ERROR(hipErrorInvalidDevice, "invalid device ordinal"),
    ERROR(hipErrorInvalidImage, "device kernel image is invalid"),
    ERROR(hipErrorInvalidContext, "invalid device context"),
    ERROR(hipErrorNoBinaryForGpu, "no kernel image is available for execution on the device"),
    ERROR(hipErrorInvalidKernelFile, "invalid kernel file"),
    ERROR(hipErrorFileNotFound, "file not found"),
    ERROR(hipErrorSharedObjectInitFailed, "shared object initialization failed"),
    ERROR(hipErrorInvalidHandle, "invalid resource handle"),
    ERROR(hipErrorIllegalState, "the operation cannot be performed in the present state"),
    ERROR(hipErrorNotFound, "named symbol not found"),
    ERROR(hipErrorNotReady, "device not ready"),
    ERROR(hipErrorIllegalAddress, "an illegal memory access was encountered"),
    ERROR(hipErrorLaunchOutOfResources, "too many resources requested for launch"),
    ERROR(hipErrorContextIsDestroyed, "context is destroyed"),
    ERROR(hipErrorLaunchFailure, "unspecified launch failure"),
    ERROR(hipErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    ERROR(hipErrorNotSupported, "operation not supported"),
    ERROR(hipErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    ERROR(hipErrorStreamCaptureInvalidated,
          "operation failed due to a previous error during capture"),
    ERROR(hipErrorStreamCaptureImplicit,
          "operation would make the legacy stream depend on a capturing blocking stream"),
    ERROR(hipErrorStreamCaptureWrongThread,
          "attempt to terminate a thread-local capture sequence from another thread"),
    ERROR(hipErrorUnknown, "unknown error"),
};

/* As in the fake CUDA driver: what the fake knows of the last failure that it can explain. */
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

static CUresult find(CUresult error, const char** name, const char** text) {
  for (size_t i = 0; i < sizeof(kErrors) / sizeof(kErrors[0]); ++i) {
    if (kErrors[i].result != error) continue;
    if (name != NULL) *name = kErrors[i].name;
    if (text != NULL) *text = kErrors[i].text;
    if (text != NULL && error != CUDA_SUCCESS && error == explained) *text = explanation;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

hipError_t hipDrvGetErrorName(hipError_t error, const char** out) {
  HIP(kNothing, out == NULL ? CUDA_ERROR_INVALID_VALUE : find((CUresult)error, out, NULL),
      "error=%d", (int)error);
}

hipError_t hipDrvGetErrorString(hipError_t error, const char** out) {
  HIP(kNothing, out == NULL ? CUDA_ERROR_INVALID_VALUE : find((CUresult)error, NULL, out),
      "error=%d", (int)error);
}

const char* hipGetErrorName(hipError_t error) {
  const char* name = "hipErrorUnknown";
  find((CUresult)error, &name, NULL);
  return name;
}

const char* hipGetErrorString(hipError_t error) {
  const char* text = "unknown error";
  find((CUresult)error, NULL, &text);
  return text;
}
