// Preloads and releases kernels, and cleans up for the module's destructor.

#include "cuda.h"
#include <dlfcn.h>

static void cuda_store_none(TVMFFIAny *result) {
  result->type_index = kTVMFFINone;
  result->zero_padding = 0;
  result->v_int64 = 0;
}

static void cuda_expect_device(CudaMessage *message, const CudaSite *site) {
  message->length = 0;
  CUDA_SAY(message,
           "To preload kernel '%s': expected the number of a device, 0 to %d, or nothing for the "
           "current one, but got ",
           site->name, CUDA_DEVICES - 1);
}

// Stores the device that the only argument names, or -1 without an argument.
static int32_t cuda_read_device(const TVMFFIAny *args, int32_t count, CUdevice *device,
                                const CudaSite *site) {
  CudaMessage message;
  *device = -1;
  if (count == 0)
    return 0;
  if (count != 1) {
    cuda_expect_device(&message, site);
    CUDA_SAY(&message, "%d arguments", count);
    return cuda_raise(&message, "TypeError", site);
  }
  if (args->type_index != kTVMFFIInt) {
    cuda_expect_device(&message, site);
    CUDA_SAY(&message, "an argument of another type");
    return cuda_raise(&message, "TypeError", site);
  }
  if (args->v_int64 < 0 || args->v_int64 >= CUDA_DEVICES) {
    cuda_expect_device(&message, site);
    CUDA_SAY(&message, "%lld", (long long)args->v_int64);
    return cuda_raise(&message, "ValueError", site);
  }
  *device = (CUdevice)args->v_int64;
  return 0;
}

// Loads the kernel and prepares it, on the device that the only argument names. Without an argument
// it is the current device.
int32_t SHARED(cuda_preload)(const TVMFFIAny *args, int32_t count, TVMFFIAny *result,
                             CudaState *state, CudaKernel *kernel, CudaInit *init, int32_t needs,
                             CUDA_SITE_PARAMETERS) {
  const CudaSite *site = CUDA_SITE;
  CUdevice device;
  cuda_store_none(result);
  int32_t refused = cuda_read_device(args, count, &device, site);
  if (refused != 0)
    return refused;
  refused = TVMFFIHandleInitOnce(&kernel->handle, init);
  if (refused != 0)
    return refused;
  int32_t status = cuda_load_on(state, kernel, device, needs);
  if (status == 0)
    status = cuda_tell_loaded(state, kernel, NULL, cuda_device_of(state, NULL, device));
  return status <= 0 ? status : cuda_fail_without_launch(state, device, status, site);
}

// Unloads the image. `unload` runs under the lock under which images are loaded.
int32_t SHARED(cuda_release)(int32_t count, CudaState *state, TVMFFIAny *result, CudaInit *unload,
                             CUDA_SITE_PARAMETERS) {
  const CudaSite *site = CUDA_SITE;
  if (count != 0) {
    CudaMessage message;
    message.length = 0;
    CUDA_SAY(&message, "To release kernel '%s': expected no argument but got %d", site->name,
             count);
    return cuda_raise(&message, "TypeError", site);
  }
  cuda_store_none(result);
  void *slot = NULL;
  int32_t refused = TVMFFIHandleInitOnce(&slot, unload);
  if (refused != 0)
    return refused;
  // cuda_unload stores the status plus 1, so that the slot is not NULL.
  int32_t status = (int32_t)((uintptr_t)slot - 1);
  return status == 0 ? 0 : cuda_fail_without_launch(state, -1, status, site);
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
