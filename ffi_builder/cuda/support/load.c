// Opens the driver, gets kernels from images, and unloads images.
//
// Loading and unloading runs under the lock of TVMFFIHandleInitOnce, as finding the driver does.

#include "cuda.h"
#include <dlfcn.h>

enum { CUDA_LOG_SIZE = 1024 };

static void *cuda_open_library(void) { return dlopen(CUDA_LIBRARY, RTLD_NOW); }

// Loads an image if it is not loaded; returns a status. The driver's PTX compiler writes its
// messages to the log.
static int32_t cuda_load_image(CudaState *state, CudaLibrary *library, const void *image,
                               char log[CUDA_LOG_SIZE]) {
  if (library->handle != NULL)
    return 0;
  int32_t options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, (void *)(uintptr_t)CUDA_LOG_SIZE};
  CUlibrary loaded = NULL;
  CUresult result =
      state->driver.cuLibraryLoadData(&loaded, image, options, values, 2, NULL, NULL, 0);
  if (result != CUDA_SUCCESS)
    return cuda_status(NUMBER_cuLibraryLoadData, result);
  library->handle = loaded;
  if (!library->listed) {
    library->listed = 1;
    library->next = state->libraries;
    state->libraries = library;
  }
  return 0;
}

// Loads the image if it is not loaded, and stores one of its kernels; returns a status.
static int32_t cuda_take_kernel(CudaState *state, CudaLibrary *library, const void *image,
                                const char *symbol, char log[CUDA_LOG_SIZE], CUkernel *out) {
  int32_t mode = cuda_relax_capture(state);
  int32_t status = cuda_load_image(state, library, image, log);
  if (status == 0)
    status = cuda_status(NUMBER_cuLibraryGetKernel,
                         state->driver.cuLibraryGetKernel(out, library->handle, symbol));
  cuda_restore_capture(state, mode);
  return status;
}

// Loads a kernel, and stores its CUkernel.
int32_t SHARED(cuda_load)(void **result, CudaState *state, CudaLibrary *library, CudaKernel *kernel,
                          const void *image, const char *symbol, CUDA_SITE_PARAMETERS) {
  const CudaSite *site = CUDA_SITE;
  int32_t found = cuda_find_driver(state, true, site);
  if (found != 0)
    return found;
  found = cuda_read_watched(state, site);
  if (found != 0)
    return found;
  char log[CUDA_LOG_SIZE] = "";
  CUkernel handle = NULL;
  int32_t status = cuda_take_kernel(state, library, image, symbol, log, &handle);
  if (status != 0) {
    const CudaLaunch none = {state, NULL, NULL, 0};
    return cuda_report(&none, status, log, site);
  }
  if (kernel->library == NULL) {
    kernel->library = library;
    kernel->symbol = symbol;
    kernel->next = library->kernels;
    library->kernels = kernel;
  }
  *result = handle;
  return 0;
}

// Does what the first launch of a kernel does before it launches, and what a capture of the stream
// would forbid; returns a status.
static int32_t cuda_load_on(CudaState *state, CudaKernel *kernel, CudaInit *init, CUdevice device,
                            int32_t needs) {
  (void)init; // it has run
  bool pushed;
  int32_t status = cuda_enter(state, device, &pushed);
  if (status != 0)
    return status;
  int32_t mode = cuda_relax_capture(state);
  CUfunction function = NULL;
  CUresult result = state->driver.cuKernelGetFunction(&function, cuda_handle(kernel));
  cuda_restore_capture(state, mode);
  cuda_leave(state, pushed);
  if (result != CUDA_SUCCESS)
    return cuda_status(NUMBER_cuKernelGetFunction, result);
  return needs == 0 ? 0 : SHARED(cuda_prepare)(state, kernel, device, NULL, needs);
}

static void cuda_forget_kernel(CudaKernel *kernel) {
  __atomic_store_n(&kernel->handle, NULL, __ATOMIC_RELEASE);
  memset(kernel->prepared, 0, sizeof kernel->prepared);
}

// Unloads the library, and forgets the library and its kernels even if the driver fails. The next
// call of one of the kernels loads the library again.
int32_t SHARED(cuda_unload)(void **result, CudaState *state, CudaLibrary *library) {
  int32_t status = 0;
  if (library->handle != NULL) {
    for (CudaKernel *kernel = library->kernels; kernel != NULL; kernel = kernel->next)
      cuda_forget_kernel(kernel);
    int32_t mode = cuda_relax_capture(state);
    status = cuda_status(NUMBER_cuLibraryUnload, state->driver.cuLibraryUnload(library->handle));
    cuda_restore_capture(state, mode);
    library->handle = NULL;
    memset(library->told, 0, sizeof library->told);
  }
  *result = (void *)((uintptr_t)status + 1);
  return 0;
}

// Releases libraries and contexts when the module's code is unloaded. Failures are ignored, since
// nobody could be told. Nothing is released while the interpreter ends: the driver may be unloaded
// already.
void SHARED(cuda_leave_module)(CudaState *state) {
  if (!state->ready || cuda_interpreter_ends())
    return;
  int32_t mode = cuda_relax_capture(state);
  for (CudaLibrary *library = state->libraries; library != NULL; library = library->next)
    if (library->handle != NULL)
      state->driver.cuLibraryUnload(library->handle);
  for (CUdevice device = 0; device < CUDA_DEVICES; ++device)
    if (state->contexts[device] != NULL)
      state->driver.cuDevicePrimaryCtxRelease_v2(device);
  cuda_restore_capture(state, mode);
}
