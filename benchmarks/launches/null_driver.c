/* A libcuda.so.1 that does nothing, at once: what is left of a launch is what it costs on the host.
 *
 * There is one device, whose context is always current. It has what the wrapper asks a driver for, and what driver.py
 * and the launchers of tvm-ffi and Triton call; where something is to be written, that is the first parameter. Whoever asks for
 * functions by cuGetProcAddress, as cuda.core does, gets those and for all others one that does nothing. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define HANDLE ((void *)0x1000)

#define DOES_NOTHING(name) \
  int name(void) { return 0; }
#define MAKES(name) \
  int name(void **made) { return *made = HANDLE, 0; }
#define SAYS(name, number) \
  int name(int *value) { return *value = (number), 0; }

DOES_NOTHING(cuInit)
DOES_NOTHING(cuLaunchKernel)
DOES_NOTHING(cuLaunchKernelEx)
DOES_NOTHING(cuLibraryUnload)
DOES_NOTHING(cuKernelSetAttribute)
DOES_NOTHING(cuMemsetD8Async)
DOES_NOTHING(cuTensorMapEncodeTiled)
DOES_NOTHING(cuThreadExchangeStreamCaptureMode)
DOES_NOTHING(cuCtxSetCurrent)
DOES_NOTHING(cuCtxSynchronize)
DOES_NOTHING(cuCtxPushCurrent_v2)
DOES_NOTHING(cuDevicePrimaryCtxRelease_v2)
/* Triton's launcher is linked with these. */
DOES_NOTHING(cuCtxGetLimit)
DOES_NOTHING(cuCtxSetLimit)
DOES_NOTHING(cuFuncGetAttribute)
DOES_NOTHING(cuFuncSetAttribute)
DOES_NOTHING(cuFuncSetCacheConfig)
DOES_NOTHING(cuModuleGetFunction)
DOES_NOTHING(cuModuleLoadData)
DOES_NOTHING(cuModuleUnload)
DOES_NOTHING(cuStreamIsCapturing)

MAKES(cuCtxGetCurrent)
MAKES(cuCtxPopCurrent_v2)
MAKES(cuDevicePrimaryCtxRetain)
MAKES(cuKernelGetFunction)
MAKES(cuLibraryGetKernel)
MAKES(cuLibraryLoadData)
MAKES(cuMemAlloc_v2)
MAKES(cuStreamCreate)

SAYS(cuCtxGetDevice, 0)
SAYS(cuDeviceGet, 0)
SAYS(cuDeviceGetAttribute, 9)
SAYS(cuDeviceGetCount, 1)
SAYS(cuDriverGetVersion, 13000)
SAYS(cuKernelGetAttribute, 0)

int cuPointerGetAttribute(void **data, int attribute, void *pointer) { return *data = pointer, 0; }
int cuStreamGetCtx(void *stream, void **context) { return *context = HANDLE, 0; }

static int say(const char **text, const char *words) { return *text = words, 0; }
int cuGetErrorName(int result, const char **text) { return say(text, "CUDA_ERROR_UNKNOWN"); }
int cuGetErrorString(int result, const char **text) { return say(text, "of a driver that does nothing"); }

static int does_nothing(void) { return 0; }

int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, int *status) {
  char newer[128];
  Dl_info here;
  void *self = dladdr((void *)does_nothing, &here) ? dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
  snprintf(newer, sizeof(newer), "%s_v2", symbol);
  void *found = dlsym(self, newer);
  if (found == NULL) found = dlsym(self, symbol);
  *function = found == NULL ? (void *)does_nothing : found;
  if (status != NULL) *status = 0;
  return 0;
}

int cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, NULL);
}
