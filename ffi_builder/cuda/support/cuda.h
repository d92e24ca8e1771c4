// Declarations for launching kernels: what is the same for all vendors of GPUs. The names are
// CUDA's; vendor.h has the functions of a vendor's library with CUDA's names, and the states of a
// module.
//
// The library is loaded at run time, and nothing links it. CUDA_LIBRARY is its name on Linux.
//
// These files are a vendor's own, of the same names in its folder: context.c enters a device,
// load.c loads images, own_limits.c asks about kernels, launch.c launches.

#ifndef FFI_BUILDER_CUDA_H
#define FFI_BUILDER_CUDA_H

#include "numbers.h"
#include "support.h"

// ---- the driver API

typedef int32_t CUresult;
typedef int32_t CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel;
typedef struct CUfunc_st *CUfunction;

typedef struct {
  int32_t id;
  alignas(8) union {
    char pad[64];
    int32_t number;
    struct {
      uint32_t x, y, z;
    } clusterDim; // of a preferred cluster, too
  } value;
} CUlaunchAttribute;

typedef struct {
  uint32_t gridDimX, gridDimY, gridDimZ;
  uint32_t blockDimX, blockDimY, blockDimZ;
  uint32_t sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute *attrs;
  uint32_t numAttrs;
} CUlaunchConfig;

// ---- what wrappers pass

typedef int CudaInit(void **result);

// What an error says about its wrapper.
typedef struct {
  const char *name;          // of the kernel; of the wrapper if it launches none
  const char *architectures; // of the kernel's image
  Raiser *raiser;
  const char *suffix; // ends each message
  const char *backtrace;
  int64_t backtrace_size;
} CudaSite;

// The last parameters of each function that sets errors, and the CudaSite made of them.
#define CUDA_SITE_PARAMETERS                                                                       \
  const char *name, const char *architectures, Raiser *raiser, const char *suffix,                 \
      const char *backtrace, int64_t backtrace_size
#define CUDA_SITE                                                                                  \
  (&(const CudaSite){name, architectures, raiser, suffix, backtrace, backtrace_size})

// ---- what Python says

#define IN_ORDER(function)                                                                         \
  _Static_assert(offsetof(CudaDriver, function) == 8 * NUMBER_##function, "the order of "          \
                                                                          "functions")
#define LIES_AT(type, member, offset)                                                              \
  _Static_assert(offsetof(type, member) == (offset), "the layout of Python")
#define TAKES(type, size) _Static_assert(sizeof(type) == (size), "the sizes of Python")

// ---- states; all bytes are 0 at first

// What is watched in all launches of the process. Code of other versions reads it too, by its name.
// Wrappers read the first four bytes at once: launches are watched if one of them is not 0.
typedef struct {
  uint8_t blocking, hook, load, other;
  int32_t decided; // 1 if a call has said whether to wait, and not the environment
  int32_t said;    // 1 once it was said that a captured launch is not waited for
} CudaWatch;

#include "vendor.h"

// A launch that is watched, what an error says about it, and the kernel's parameters, described.
typedef struct {
  CudaState *state;
  CudaKernel *kernel;
  const CUlaunchConfig *config;
  void **params;
  CUdevice device;
  int32_t needs;
  const char *described;
} CudaWatched;

// The compute capabilities of devices, or 0 for one that is not known yet. The last one stays 0:
// wrappers read it for a device that has none of its own.
typedef struct {
  int64_t devices[CUDA_DEVICES];
  void *ready; // the module's CudaState once the driver was found, else NULL
} CudaCapabilities;

IN_ORDER(cuInit);
IN_ORDER(cuThreadExchangeStreamCaptureMode);
IN_ORDER(cuDeviceGetAttribute);
IN_ORDER(cuGetErrorName);
IN_ORDER(cuGetErrorString);
IN_ORDER(cuDriverGetVersion);
IN_ORDER(cuMemsetD8Async);
IN_ORDER(cuStreamIsCapturing);
IN_ORDER(cuStreamSynchronize);
LIES_AT(CUlaunchConfig, gridDimX, CUDA_CONFIG_GRID);
LIES_AT(CUlaunchConfig, blockDimX, CUDA_CONFIG_BLOCK);
LIES_AT(CUlaunchConfig, sharedMemBytes, CUDA_CONFIG_SHARED);
LIES_AT(CUlaunchConfig, hStream, CUDA_CONFIG_STREAM);
LIES_AT(CUlaunchConfig, attrs, CUDA_CONFIG_ATTRIBUTES);
LIES_AT(CUlaunchConfig, numAttrs, CUDA_CONFIG_COUNT);
LIES_AT(CUlaunchAttribute, value, CUDA_ATTRIBUTE_VALUE);
LIES_AT(CudaState, watch, CUDA_STATE_WATCH);
LIES_AT(CudaWatch, hook, CUDA_WATCH_HOOK);
LIES_AT(CudaWatch, load, CUDA_WATCH_LOAD);
LIES_AT(CudaWatch, decided, CUDA_WATCH_DECIDED);
LIES_AT(CudaKernel, handle, CUDA_KERNEL_HANDLE);
TAKES(CudaDriver, sizeof cuda_function_names / sizeof *cuda_function_names * 8);
TAKES(CUlaunchConfig, CUDA_CONFIG_SIZE);
TAKES(CUlaunchAttribute, CUDA_ATTRIBUTE_SIZE);
TAKES(CudaKernel, CUDA_KERNEL_SIZE);
TAKES(CudaLibrary, CUDA_LIBRARY_SIZE);
TAKES(CudaState, CUDA_STATE_SIZE);
TAKES(CudaWatch, CUDA_WATCH_SIZE);
TAKES(CudaCapabilities, CUDA_CAPABILITY_SLOTS * 8);

// ---- functions that generated code calls
//
// Each function returns 0, or sets an error and returns what the wrapper is to return. Some return
// a status instead, and their comments say so. A status of 0 is success. The low CUDA_CODE_BITS
// bits of another status are a CUresult, and the bits above them are the number of the function
// that failed. A device of -1 is not known; it stands for the current context's device, or for
// device 0 if there is no current context.

// TVMFFIHandleInitOnce calls these while it holds its lock. The process has one such lock.
int32_t SHARED(cuda_load)(void **result, CudaState *, CudaLibrary *, CudaKernel *,
                          const void *image, const char *symbol, CUDA_SITE_PARAMETERS);
int32_t SHARED(cuda_unload)(void **result, CudaState *, CudaLibrary *);
int32_t SHARED(cuda_ready)(void **result, CudaState *, CUDA_SITE_PARAMETERS);
int32_t SHARED(cuda_init_capability)(void **result, CudaState *, CUDA_SITE_PARAMETERS);

// Returns a status, or less than 0 if it has set an error.
int32_t SHARED(cuda_watched)(CudaState *, CudaKernel *, const CUlaunchConfig *, void **params,
                             CUdevice, int32_t needs, const char *described, CUDA_SITE_PARAMETERS);
int32_t SHARED(cuda_fail)(CudaState *, CudaKernel *, const CUlaunchConfig *, CUdevice,
                          int32_t status, CUDA_SITE_PARAMETERS);

int32_t SHARED(cuda_preload)(const TVMFFIAny *args, int32_t count, TVMFFIAny *result, CudaState *,
                             CudaKernel *, CudaInit *, int32_t needs, CUDA_SITE_PARAMETERS);
int32_t SHARED(cuda_release)(int32_t count, CudaState *, TVMFFIAny *result, CudaInit *unload,
                             CUDA_SITE_PARAMETERS);
void SHARED(cuda_leave_module)(CudaState *);

int32_t SHARED(cuda_zero)(CudaState *, void *pointer, int64_t size, CUstream, CUdevice,
                          const char *workspace, CUDA_SITE_PARAMETERS);
int32_t SHARED(cuda_find_capability)(CudaState *, CudaCapabilities *, CudaInit *, CUdevice,
                                     CUstream, int32_t *capability, CUDA_SITE_PARAMETERS);

#endif
