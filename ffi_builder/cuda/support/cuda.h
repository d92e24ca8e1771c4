// Declarations for launching kernels: the functions of the driver API that are called, with their
// public names; the states of a module; and the functions that generated code calls.
//
// The driver is loaded at run time, and nothing links it. CUDA_LIBRARY is its name on Linux.

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

// The functions of the driver that are called. Enumerations of the API are int32_t here.
typedef struct {
  CUresult (*cuLaunchKernelEx)(const CUlaunchConfig *, CUfunction, void **params, void **extra);
  CUresult (*cuInit)(uint32_t flags);
  CUresult (*cuLibraryLoadData)(CUlibrary *, const void *code, int32_t *jit_options,
                                void **jit_values, uint32_t jit_count, int32_t *options,
                                void **values, uint32_t count);
  CUresult (*cuLibraryGetKernel)(CUkernel *, CUlibrary, const char *name);
  CUresult (*cuLibraryUnload)(CUlibrary);
  CUresult (*cuKernelGetFunction)(CUfunction *, CUkernel);
  CUresult (*cuKernelGetAttribute)(int32_t *value, int32_t attribute, CUkernel, CUdevice);
  CUresult (*cuKernelSetAttribute)(int32_t attribute, int32_t value, CUkernel, CUdevice);
  CUresult (*cuThreadExchangeStreamCaptureMode)(int32_t *mode);
  CUresult (*cuCtxGetCurrent)(CUcontext *);
  CUresult (*cuCtxGetDevice)(CUdevice *);
  CUresult (*cuCtxPushCurrent_v2)(CUcontext);
  CUresult (*cuCtxPopCurrent_v2)(CUcontext *);
  CUresult (*cuDevicePrimaryCtxRetain)(CUcontext *, CUdevice);
  CUresult (*cuDevicePrimaryCtxRelease_v2)(CUdevice);
  CUresult (*cuDeviceGetAttribute)(int32_t *value, int32_t attribute, CUdevice);
  CUresult (*cuStreamGetCtx)(CUstream, CUcontext *);
  CUresult (*cuGetErrorName)(CUresult, const char **);
  CUresult (*cuGetErrorString)(CUresult, const char **);
  CUresult (*cuDriverGetVersion)(int32_t *);
  // The API declares the value as an unsigned char, and compilers do not agree on whether the
  // caller or the callee extends a char. The value is always 0, which is passed alike either way.
  CUresult (*cuMemsetD8Async)(CUdeviceptr, uint32_t value, size_t count, CUstream);
  // A driver may lack those below; calls that need none of them work without.
  CUresult (*cuTensorMapEncodeTiled)(void *map, int32_t type, uint32_t rank, void *address,
                                     const uint64_t *sizes, const uint64_t *strides,
                                     const uint32_t *box, const uint32_t *element_strides,
                                     int32_t interleave, int32_t swizzle, int32_t promotion,
                                     int32_t fill);
  CUresult (*cuTensorMapEncodeIm2col)(void *map, int32_t type, uint32_t rank, void *address,
                                      const uint64_t *sizes, const uint64_t *strides,
                                      const int32_t *lower, const int32_t *upper, uint32_t channels,
                                      uint32_t pixels, const uint32_t *element_strides,
                                      int32_t interleave, int32_t swizzle, int32_t promotion,
                                      int32_t fill);
  CUresult (*cuTensorMapEncodeIm2colWide)(void *map, int32_t type, uint32_t rank, void *address,
                                          const uint64_t *sizes, const uint64_t *strides,
                                          int32_t lower, int32_t upper, uint32_t channels,
                                          uint32_t pixels, const uint32_t *element_strides,
                                          int32_t interleave, int32_t mode, int32_t swizzle,
                                          int32_t promotion, int32_t fill);
  CUresult (*cuStreamIsCapturing)(CUstream, int32_t *status);
  CUresult (*cuStreamSynchronize)(CUstream);
} CudaDriver;

// ---- states; all bytes are 0 at first

// The state of a kernel. A kernel that was added to its library's list stays in it.
typedef struct CudaKernel {
  void *handle; // the CUkernel; TVMFFIHandleInitOnce initialises it
  struct CudaKernel *next;
  struct CudaLibrary *library; // NULL if the kernel is not in its list
  const char *symbol;
  // The attributes that are set, one byte for each device. The last byte is for all devices without
  // a byte of their own, and stays 0.
  uint8_t prepared[CUDA_DEVICES];
} CudaKernel;

// The state of an image. An image that was added to its module's list stays in it.
typedef struct CudaLibrary {
  CUlibrary handle;
  struct CudaLibrary *next;
  int64_t listed;
  CudaKernel *kernels;
  uintptr_t teller;           // the thread that calls the load hook, or 0
  uint8_t told[CUDA_DEVICES]; // 1 if the load hook was called; further devices share the last
} CudaLibrary;

// What is watched in all launches of the process. Code of other versions reads it too, by its name.
// Wrappers read the first four bytes at once: launches are watched if one of them is not 0.
typedef struct {
  uint8_t blocking, hook, load, other;
  int32_t decided; // 1 if a call has said whether to wait, and not the environment
  int32_t said;    // 1 once it was said that a captured launch is not waited for
} CudaWatch;

// The state of a module.
typedef struct {
  union {
    CudaDriver driver;
    void *addresses[sizeof(CudaDriver) / sizeof(void *)];
  };
  CudaWatch *watch; // not NULL once the driver was found
  int64_t ready;    // 1 once the driver was found and initialised
  CudaLibrary *libraries;
  CUcontext contexts[CUDA_DEVICES]; // the primary contexts that the module retains
} CudaState;

// The compute capabilities of devices, or 0 for one that is not known yet. The last one stays 0:
// wrappers read it for a device that has none of its own.
typedef struct {
  int64_t devices[CUDA_DEVICES];
  void *ready; // the module's CudaState once the driver was found, else NULL
} CudaCapabilities;

// What a call brings for a tensor map: its limits, and the driver's argument that it becomes by a
// multiplication and a division. A place of -1 stands for none.
typedef struct {
  int64_t low, high, multiple;
  int32_t place, numerator, denominator;
  int32_t text; // an offset in the plan: what the value is, a NUL, what was expected and why
} CudaMapValue;

// How a call site makes its tensor map.
typedef struct {
  int64_t fixed[CUDA_MAP_PLACES]; // arguments that are the same for all calls
  int32_t function, type, rank, interleave, swizzle, promotion, fill, mode;
  int32_t count; // of values
  int32_t name;  // an offset in the plan: the tensor
  CudaMapValue values[];
} CudaMapPlan;

// ---- what generated code relies on

#define IN_ORDER(function)                                                                         \
  _Static_assert(offsetof(CudaDriver, function) == 8 * NUMBER_##function, "the order of "          \
                                                                          "driver.py")
IN_ORDER(cuLaunchKernelEx);
IN_ORDER(cuInit);
IN_ORDER(cuLibraryLoadData);
IN_ORDER(cuLibraryGetKernel);
IN_ORDER(cuLibraryUnload);
IN_ORDER(cuKernelGetFunction);
IN_ORDER(cuKernelGetAttribute);
IN_ORDER(cuKernelSetAttribute);
IN_ORDER(cuThreadExchangeStreamCaptureMode);
IN_ORDER(cuCtxGetCurrent);
IN_ORDER(cuCtxGetDevice);
IN_ORDER(cuCtxPushCurrent_v2);
IN_ORDER(cuCtxPopCurrent_v2);
IN_ORDER(cuDevicePrimaryCtxRetain);
IN_ORDER(cuDevicePrimaryCtxRelease_v2);
IN_ORDER(cuDeviceGetAttribute);
IN_ORDER(cuStreamGetCtx);
IN_ORDER(cuGetErrorName);
IN_ORDER(cuGetErrorString);
IN_ORDER(cuDriverGetVersion);
IN_ORDER(cuMemsetD8Async);
IN_ORDER(cuTensorMapEncodeTiled);
IN_ORDER(cuTensorMapEncodeIm2col);
IN_ORDER(cuTensorMapEncodeIm2colWide);
IN_ORDER(cuStreamIsCapturing);
IN_ORDER(cuStreamSynchronize);

#define LIES_AT(type, member, offset)                                                              \
  _Static_assert(offsetof(type, member) == (offset), "the layout of driver.py")
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
LIES_AT(CudaKernel, prepared, CUDA_KERNEL_PREPARED);
LIES_AT(CudaMapPlan, values, CUDA_MAP_VALUES);

#define TAKES(type, size) _Static_assert(sizeof(type) == (size), "the sizes of driver.py")
TAKES(CudaDriver, sizeof cuda_function_names / sizeof *cuda_function_names * 8);
TAKES(CUlaunchConfig, CUDA_CONFIG_SIZE);
TAKES(CUlaunchAttribute, CUDA_ATTRIBUTE_SIZE);
TAKES(CudaKernel, CUDA_KERNEL_SIZE);
TAKES(CudaLibrary, CUDA_LIBRARY_SIZE);
TAKES(CudaState, CUDA_STATE_SIZE);
TAKES(CudaMapValue, CUDA_MAP_VALUE);
TAKES(CudaWatch, CUDA_WATCH_SIZE);
TAKES(CudaCapabilities, CUDA_CAPABILITY_SLOTS * 8);

// ---- functions that generated code calls
//
// Each function returns 0, or sets an error and returns what the wrapper is to return. Some return
// a status instead, and their comments say so. A status of 0 is success. The low CUDA_CODE_BITS
// bits of another status are a CUresult, and the bits above them are the number of the function
// that failed. A device of -1 is not known; it stands for the current context's device, or for
// device 0 if there is no current context.

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

// TVMFFIHandleInitOnce calls these while it holds its lock. The process has one such lock.
int32_t SHARED(cuda_load)(void **result, CudaState *, CudaLibrary *, CudaKernel *,
                          const void *image, const char *symbol, CUDA_SITE_PARAMETERS);
int32_t SHARED(cuda_unload)(void **result, CudaState *, CudaLibrary *);
int32_t SHARED(cuda_ready)(void **result, CudaState *, CUDA_SITE_PARAMETERS);
int32_t SHARED(cuda_init_capability)(void **result, CudaState *, CUDA_SITE_PARAMETERS);

// The first three return a status.
int32_t SHARED(cuda_prepare)(CudaState *, CudaKernel *, CUdevice, CUstream, int32_t needs);
int32_t SHARED(cuda_launch)(CudaState *, const CUlaunchConfig *, CUkernel, void **params, CUdevice);
int32_t SHARED(cuda_launch_again)(CudaState *, CudaKernel *, const CUlaunchConfig *, void **params,
                                  CUdevice, int32_t needs, int32_t status);
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

// Returns whether the call site keeps a map of these `count` values, which it copies.
int32_t SHARED(cuda_find_map)(int64_t *cache, const int64_t *key, int32_t count, int64_t *map);
int32_t SHARED(cuda_make_map)(CudaState *, const CudaMapPlan *, int64_t *cache, const int64_t *key,
                              int64_t *map, CUdevice, CUDA_SITE_PARAMETERS);

#endif
