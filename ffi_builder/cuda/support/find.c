// Finds the library of a vendor.
//
// This code runs under the lock of TVMFFIHandleInitOnce. The process has one such lock, so the
// states need none of their own. After a failure nothing is initialised, and the next call tries
// again.

#include "cuda.h"
#include <dlfcn.h>

// A vendor's own: what dlopen returns, perhaps of a library that the process has already.
static void *cuda_open_library(void);

static int32_t cuda_raise_no_driver(bool launches, const CudaSite *site) {
  const char *why = dlerror();
  CudaMessage message;
  message.length = 0;
  CUDA_SAY(&message,
           CUDA_LIBRARY " could not be loaded to %s '%s': %s (it comes with " CUDA_RUNTIME ")",
           launches ? "launch kernel" : "fill workspaces of", site->name, why);
  return cuda_raise(&message, "RuntimeError", site);
}

// Names the missing function, and the library's version, or 0.0 if it does not say.
static int32_t cuda_raise_too_old(void *driver, const char *missing, bool launches,
                                  const CudaSite *site) {
  int32_t version = 0;
  CUresult (*get_version)(int32_t *);
  void *address = dlsym(driver, cuda_function_names[NUMBER_cuDriverGetVersion]);
  memcpy(&get_version, &address, sizeof address);
  if (address != NULL)
    get_version(&version);
  CudaMessage message;
  message.length = 0;
  CUDA_SAY(&message,
           CUDA_LIBRARY " has no %s, which %s '%s' needs: " CUDA_RUNTIME " is of " CUDA_API
                        " %d.%d; update it to one of " CUDA_API " " CUDA_OLDEST " or later",
           missing, launches ? "launching kernel" : "filling workspaces of", site->name,
           version / CUDA_MAJOR, version % CUDA_MAJOR / CUDA_MINOR);
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
  void *driver = cuda_open_library();
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

// Calls a function of the Python interpreter; returns 0 if the process has no such function.
static int cuda_ask_interpreter(const char *name) {
  int (*function)(void);
  void *address = dlsym(NULL, name);
  memcpy(&function, &address, sizeof address);
  return address == NULL ? 0 : function();
}

// The function is Py_IsFinalizing in Python 3.13 and later, and _Py_IsFinalizing in older versions.
static bool cuda_interpreter_ends(void) {
  return cuda_ask_interpreter("Py_IsFinalizing") || cuda_ask_interpreter("_Py_IsFinalizing");
}
