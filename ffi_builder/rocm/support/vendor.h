// What is AMD's alone: the table of HIP's functions, of which those that other vendors have too are
// called as CUDA's, and states.

#ifndef FFI_BUILDER_VENDOR_H
#define FFI_BUILDER_VENDOR_H

// What wrappers call is named after this vendor.
#define cuda_load rocm_load
#define cuda_unload rocm_unload
#define cuda_ready rocm_ready
#define cuda_init_capability rocm_init_capability
#define cuda_find_capability rocm_find_capability
#define cuda_watched rocm_watched
#define cuda_fail rocm_fail
#define cuda_preload rocm_preload
#define cuda_release rocm_release
#define cuda_leave_module rocm_leave_module
#define cuda_zero rocm_zero

typedef struct ihipModule_t *hipModule_t;

// The functions of HIP that are called. Enumerations of the API are int32_t here.
typedef struct {
  CUresult (*hipModuleLaunchKernel)(CUfunction, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z,
                                    uint32_t block_x, uint32_t block_y, uint32_t block_z,
                                    uint32_t shared, CUstream, void **params, void **extra);
  CUresult (*hipModuleLaunchCooperativeKernel)(CUfunction, uint32_t grid_x, uint32_t grid_y,
                                               uint32_t grid_z, uint32_t block_x, uint32_t block_y,
                                               uint32_t block_z, uint32_t shared, CUstream,
                                               void **params);
  CUresult (*cuInit)(uint32_t flags);
  CUresult (*hipModuleLoadData)(hipModule_t *, const void *image);
  CUresult (*hipModuleGetFunction)(CUfunction *, hipModule_t, const char *name);
  CUresult (*hipModuleUnload)(hipModule_t);
  CUresult (*hipFuncGetAttribute)(int32_t *value, int32_t attribute, CUfunction);
  CUresult (*cuThreadExchangeStreamCaptureMode)(int32_t *mode);
  CUresult (*hipGetDevice)(CUdevice *);
  CUresult (*hipSetDevice)(CUdevice);
  CUresult (*hipStreamGetDevice)(CUstream, CUdevice *);
  CUresult (*cuDeviceGetAttribute)(int32_t *value, int32_t attribute, CUdevice);
  CUresult (*cuGetErrorName)(CUresult, const char **);
  CUresult (*cuGetErrorString)(CUresult, const char **);
  CUresult (*cuDriverGetVersion)(int32_t *);
  // The value is an unsigned char in the API; see cuda/support/vendor.h.
  CUresult (*cuMemsetD8Async)(CUdeviceptr, uint32_t value, size_t count, CUstream);
  // HIP may lack those below; calls that need none of them work without.
  CUresult (*cuStreamIsCapturing)(CUstream, int32_t *status);
  CUresult (*cuStreamSynchronize)(CUstream);
  CUresult (*hipGetDevicePropertiesR0600)(void *properties, CUdevice);
} CudaDriver;

IN_ORDER(hipModuleLaunchKernel);
IN_ORDER(hipModuleLaunchCooperativeKernel);
IN_ORDER(hipModuleLoadData);
IN_ORDER(hipModuleGetFunction);
IN_ORDER(hipModuleUnload);
IN_ORDER(hipFuncGetAttribute);
IN_ORDER(hipGetDevice);
IN_ORDER(hipSetDevice);
IN_ORDER(hipStreamGetDevice);
IN_ORDER(hipGetDevicePropertiesR0600);

// ---- states; all bytes are 0 at first

// The state of a kernel. A kernel that was added to its library's list stays in it.
typedef struct CudaKernel {
  void *handle; // this state once HIP was found; TVMFFIHandleInitOnce initialises it
  struct CudaKernel *next;
  struct CudaLibrary *library; // NULL if the kernel is not in its list
  const char *symbol;
  void *functions[CUDA_DEVICES]; // the hipFunction_t on each device; TVMFFIHandleInitOnce, too
} CudaKernel;

// The state of an image. An image that was added to its module's list stays in it.
typedef struct CudaLibrary {
  struct CudaLibrary *next;
  int64_t listed;
  CudaKernel *kernels;
  uintptr_t teller; // the thread that calls the load hook, or 0
  hipModule_t
      modules[CUDA_DEVICES];  // a module is of the device that was current when it was loaded
  uint8_t told[CUDA_DEVICES]; // 1 if the load hook was called
} CudaLibrary;

// Returns whether a function is one that launches.
static inline bool cuda_launches(int32_t number) {
  return number == NUMBER_hipModuleLaunchKernel ||
         number == NUMBER_hipModuleLaunchCooperativeKernel;
}

// The device that was current before, or -1 if that has not changed; cuda_leave sets it again.
typedef CUdevice CudaEntered;

// Returns what a load hook gets: the module of the device.
static inline void *cuda_loaded(const CudaLibrary *library, CUdevice device) {
  return (uint32_t)device < CUDA_DEVICES ? library->modules[device] : NULL;
}

// The state of a module.
typedef struct {
  union {
    CudaDriver driver;
    void *addresses[sizeof(CudaDriver) / sizeof(void *)];
  };
  CudaWatch *watch; // not NULL once HIP was found
  int64_t ready;    // 1 once HIP was found and initialised
  CudaLibrary *libraries;
} CudaState;

// ---- the function that only these wrappers call

// Launches on a stream. With a description of the parameters, it returns 0, or sets an error and
// returns what the wrapper is to return. Without one, a failure of HIP is its hipError_t.
int32_t SHARED(rocm_launch)(CudaState *, CudaKernel *, int (*init)(void **result),
                            const CUlaunchConfig *, void **params, CUdevice, const char *described,
                            CUDA_SITE_PARAMETERS);

#endif
