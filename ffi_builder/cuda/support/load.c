// Finds the driver, and gets kernels from images.
//
// This code runs under the lock of TVMFFIHandleInitOnce. The process has one such lock, so the
// states need none of their own. After a failure nothing is initialised, and the next call tries
// again.

#include "cuda.h"
#include <dlfcn.h>

enum { CUDA_LOG_SIZE = 1024 };

static int32_t cuda_raise_no_driver(bool launches, const CudaSite *site) {
  const char *why = dlerror();
  CudaMessage message;
  message.length = 0;
  CUDA_SAY(&message,
           CUDA_LIBRARY " could not be loaded to %s '%s': %s (it comes with the NVIDIA driver)",
           launches ? "launch kernel" : "fill workspaces of", site->name, why);
  return cuda_raise(&message, "RuntimeError", site);
}

// Names the missing function, and the driver's CUDA version, or 0.0 if it does not say.
static int32_t cuda_raise_too_old(void *driver, const char *missing, bool launches,
                                  const CudaSite *site) {
  int32_t version = 0;
  CUresult (*get_version)(int32_t *);
  void *address = dlsym(driver, "cuDriverGetVersion");
  memcpy(&get_version, &address, sizeof address);
  if (address != NULL)
    get_version(&version);
  CudaMessage message;
  message.length = 0;
  CUDA_SAY(&message,
           CUDA_LIBRARY " has no %s, which %s '%s' needs: the NVIDIA driver is of CUDA %d.%d; "
                        "update it to one of CUDA " CUDA_OLDEST " or later",
           missing, launches ? "launching kernel" : "filling workspaces of", site->name,
           version / 1000, version % 1000 / 10);
  return cuda_raise(&message, "RuntimeError", site);
}

static int32_t cuda_raise_no_memory(const CudaSite *site) {
  CudaMessage message;
  message.length = 0;
  CUDA_SAY(&message, "Too little memory to launch kernel '%s'", site->name);
  return cuda_raise(&message, "MemoryError", site);
}

// Finds the driver's functions and initialises the driver, unless that was done, or sets an error.
// The error says that a kernel was to be launched, or that workspaces were to be filled.
static int32_t cuda_find_driver(CudaState *state, bool launches, const CudaSite *site) {
  if (state->ready)
    return 0;
  void *driver = dlopen(CUDA_LIBRARY, RTLD_NOW);
  if (driver == NULL)
    return cuda_raise_no_driver(launches, site);
  for (size_t i = 0; i < sizeof state->addresses / sizeof *state->addresses; ++i) {
    state->addresses[i] = dlsym(driver, cuda_function_names[i]);
    if (state->addresses[i] == NULL && i < CUDA_REQUIRED)
      return cuda_raise_too_old(driver, cuda_function_names[i], launches, site);
  }
  CUresult result = state->driver.cuInit(0);
  if (result != CUDA_SUCCESS)
    return cuda_fail_without_launch(state, -1, cuda_status(NUMBER_cuInit, result), site);
  state->watch = cuda_find_watch();
  if (state->watch == NULL)
    return cuda_raise_no_memory(site);
  state->ready = 1;
  return 0;
}

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
