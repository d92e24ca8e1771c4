// Preloads and releases kernels.

#include "cuda.h"

// A vendor's own: does on a device what the first launch does before it launches, and what a
// capture of the stream would forbid. Returns a status, or less than 0 if an error is set.
static int32_t cuda_load_on(CudaState *state, CudaKernel *kernel, CudaInit *init, CUdevice device,
                            int32_t needs);

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
  int32_t status = cuda_load_on(state, kernel, init, device, needs);
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
