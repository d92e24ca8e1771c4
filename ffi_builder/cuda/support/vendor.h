// What is NVIDIA's alone: the table of the driver's functions, states, and functions that only its
// wrappers call.

#ifndef FFI_BUILDER_VENDOR_H
#define FFI_BUILDER_VENDOR_H

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

static inline CUkernel cuda_handle(CudaKernel *kernel) {
  return __atomic_load_n(&kernel->handle, __ATOMIC_ACQUIRE);
}

// Returns whether a function is one that launches.
static inline bool cuda_launches(int32_t number) { return number == NUMBER_cuLaunchKernelEx; }

// Whether a context was pushed, which cuda_leave pops.
typedef bool CudaEntered;

// Returns what a load hook gets: the library, which all devices share.
static inline void *cuda_loaded(const CudaLibrary *library, CUdevice device) {
  (void)device;
  return library->handle;
}

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

IN_ORDER(cuLaunchKernelEx);
IN_ORDER(cuLibraryLoadData);
IN_ORDER(cuLibraryGetKernel);
IN_ORDER(cuLibraryUnload);
IN_ORDER(cuKernelGetFunction);
IN_ORDER(cuKernelGetAttribute);
IN_ORDER(cuKernelSetAttribute);
IN_ORDER(cuCtxGetCurrent);
IN_ORDER(cuCtxGetDevice);
IN_ORDER(cuCtxPushCurrent_v2);
IN_ORDER(cuCtxPopCurrent_v2);
IN_ORDER(cuDevicePrimaryCtxRetain);
IN_ORDER(cuDevicePrimaryCtxRelease_v2);
IN_ORDER(cuStreamGetCtx);
IN_ORDER(cuTensorMapEncodeTiled);
IN_ORDER(cuTensorMapEncodeIm2col);
IN_ORDER(cuTensorMapEncodeIm2colWide);
LIES_AT(CudaKernel, prepared, CUDA_KERNEL_PREPARED);
LIES_AT(CudaMapPlan, values, CUDA_MAP_VALUES);
TAKES(CudaMapValue, CUDA_MAP_VALUE);

// ---- functions that only these wrappers call

// The first three return a status.
int32_t SHARED(cuda_prepare)(CudaState *, CudaKernel *, CUdevice, CUstream, int32_t needs);
int32_t SHARED(cuda_launch)(CudaState *, const CUlaunchConfig *, CUkernel, void **params, CUdevice);
int32_t SHARED(cuda_launch_again)(CudaState *, CudaKernel *, const CUlaunchConfig *, void **params,
                                  CUdevice, int32_t needs, int32_t status);
// Returns whether the call site keeps a map of these `count` values, which it copies.
int32_t SHARED(cuda_find_map)(int64_t *cache, const int64_t *key, int32_t count, int64_t *map);
int32_t SHARED(cuda_make_map)(CudaState *, const CudaMapPlan *, int64_t *cache, const int64_t *key,
                              int64_t *map, CUdevice, CUDA_SITE_PARAMETERS);

#endif
