// Opens HIP, gets kernels from images, and unloads images.
//
// A module belongs to the device that is current when it is loaded, so an image is loaded once for
// each device, by the first launch there. Loading and unloading runs under the lock of
// TVMFFIHandleInitOnce, as finding HIP does.

#include "cuda.h"
#include <dlfcn.h>

// A process must not mix two HIP libraries. PyTorch has one of its own, so one that is loaded comes
// first. Not pointers: the exporter moves none in data.
static void *cuda_open_library(void) {
  static const char names[][24] = {"libamdhip64.so.7", "libamdhip64.so.6", CUDA_LIBRARY};
  const int count = sizeof names / sizeof *names;
  void *found = NULL;
  for (int i = 0; i < count && found == NULL; ++i)
    found = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
  for (int i = 0; i < count && found == NULL; ++i)
    found = dlopen(names[i], RTLD_NOW);
  return found;
}

// Loads an image on the current device if it is not loaded there; returns a status.
static int32_t rocm_load_image(CudaState *state, CudaLibrary *library, CUdevice device,
                               const void *image) {
  if (library->modules[device] != NULL)
    return 0;
  hipModule_t loaded = NULL;
  CUresult result = state->driver.hipModuleLoadData(&loaded, image);
  if (result != CUDA_SUCCESS)
    return cuda_status(NUMBER_hipModuleLoadData, result);
  library->modules[device] = loaded;
  if (!library->listed) {
    library->listed = 1;
    library->next = state->libraries;
    state->libraries = library;
  }
  return 0;
}

// Loads a kernel on the current device, and stores its hipFunction_t; returns a status.
static int32_t rocm_take_kernel(CudaState *state, CudaLibrary *library, CUdevice device,
                                const void *image, const char *symbol, CUfunction *out) {
  int32_t mode = cuda_relax_capture(state);
  int32_t status = rocm_load_image(state, library, device, image);
  if (status == 0)
    status = cuda_status(NUMBER_hipModuleGetFunction,
                         state->driver.hipModuleGetFunction(out, library->modules[device], symbol));
  cuda_restore_capture(state, mode);
  return status;
}

// Finds HIP. Once it was found, loads a kernel on the current device.
int32_t SHARED(cuda_load)(void **result, CudaState *state, CudaLibrary *library, CudaKernel *kernel,
                          const void *image, const char *symbol, CUDA_SITE_PARAMETERS) {
  const CudaSite *site = CUDA_SITE;
  if (kernel->handle == NULL) {
    int32_t refused = cuda_find_driver(state, true, site);
    if (refused == 0)
      refused = cuda_read_watched(state, site);
    if (refused == 0)
      *result = kernel;
    return refused;
  }
  CUdevice device = 0;
  CUfunction function = NULL;
  int32_t status = cuda_status(NUMBER_hipGetDevice, state->driver.hipGetDevice(&device));
  if (status == 0)
    status = rocm_take_kernel(state, library, device, image, symbol, &function);
  if (status != 0)
    return cuda_fail_without_launch(state, device, status, site);
  if (kernel->library == NULL) {
    kernel->library = library;
    kernel->symbol = symbol;
    kernel->next = library->kernels;
    library->kernels = kernel;
  }
  *result = function;
  return 0;
}

// Loads a kernel on a device if it is not loaded there. Returns a status, or less than 0 if an
// error is set.
static int32_t rocm_load_on(CudaState *state, CudaKernel *kernel, CudaInit *init, CUdevice device) {
  if ((uint32_t)device >= CUDA_DEVICES)
    return cuda_status(NUMBER_hipSetDevice, CUDA_ERROR_INVALID_DEVICE);
  if (__atomic_load_n(&kernel->functions[device], __ATOMIC_ACQUIRE) != NULL)
    return 0;
  CudaEntered before;
  int32_t status = cuda_enter(state, device, &before);
  if (status == 0)
    status = TVMFFIHandleInitOnce(&kernel->functions[device], init);
  cuda_leave(state, before);
  return status;
}

static int32_t cuda_load_on(CudaState *state, CudaKernel *kernel, CudaInit *init, CUdevice device,
                            int32_t needs) {
  (void)needs; // nothing is to be asked for
  CUdevice found;
  int32_t status = rocm_find_device(state, NULL, device, &found);
  return status == 0 ? rocm_load_on(state, kernel, init, found) : status;
}

static void rocm_forget_kernel(CudaKernel *kernel) {
  for (int i = 0; i < CUDA_DEVICES; ++i)
    __atomic_store_n(&kernel->functions[i], NULL, __ATOMIC_RELEASE);
}

// Unloads an image from all devices; returns the status of the first failure.
static int32_t rocm_unload_image(CudaState *state, CudaLibrary *library) {
  int32_t first = 0;
  for (CUdevice device = 0; device < CUDA_DEVICES; ++device) {
    if (library->modules[device] == NULL)
      continue;
    CudaEntered before;
    int32_t status = cuda_enter(state, device, &before);
    if (status == 0)
      status = cuda_status(NUMBER_hipModuleUnload,
                           state->driver.hipModuleUnload(library->modules[device]));
    cuda_leave(state, before);
    library->modules[device] = NULL;
    first = first == 0 ? status : first;
  }
  return first;
}

// Unloads the image, and forgets it and its kernels even if HIP fails. The next call of one of the
// kernels loads it again.
int32_t SHARED(cuda_unload)(void **result, CudaState *state, CudaLibrary *library) {
  int32_t status = 0;
  if (state->ready) {
    for (CudaKernel *kernel = library->kernels; kernel != NULL; kernel = kernel->next)
      rocm_forget_kernel(kernel);
    int32_t mode = cuda_relax_capture(state);
    status = rocm_unload_image(state, library);
    cuda_restore_capture(state, mode);
    memset(library->told, 0, sizeof library->told);
  }
  *result = (void *)((uintptr_t)status + 1);
  return 0;
}

// Releases images when the module's code is unloaded. Failures are ignored, since nobody could be
// told. Nothing is released while the interpreter ends: HIP may be unloaded already.
void SHARED(cuda_leave_module)(CudaState *state) {
  if (!state->ready || cuda_interpreter_ends())
    return;
  int32_t mode = cuda_relax_capture(state);
  for (CudaLibrary *library = state->libraries; library != NULL; library = library->next)
    rocm_unload_image(state, library);
  cuda_restore_capture(state, mode);
}
