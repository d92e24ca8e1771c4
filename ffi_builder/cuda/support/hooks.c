// Global functions of tvm-ffi that are called when an image is loaded on a device, and before and
// after each launch.

#include "cuda.h"
#include <poll.h>
#include <pthread.h>

// Not constants: the exporter moves no pointers in data.
#define CUDA_NAME(text) (&(const TVMFFIByteArray){text, sizeof text - 1})

static void cuda_drop_error(void) {
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorMoveFromRaised(&error);
  if (error != NULL)
    TVMFFIObjectDecRef(error);
}

// Calls a function, and drops what it returns.
static int32_t cuda_call_function(TVMFFIObjectHandle function, const TVMFFIAny *args,
                                  int32_t count) {
  TVMFFIAny result = {.type_index = kTVMFFINone};
  int32_t failed = TVMFFIFunctionCall(function, (TVMFFIAny *)args, count, &result);
  if (failed == 0 && result.type_index >= kTVMFFIStaticObjectBegin)
    TVMFFIObjectDecRef(result.v_obj);
  return failed;
}

// Stores in a byte of the watch whether there is such a hook.
static int32_t cuda_look_for(const TVMFFIByteArray *name, uint8_t *found) {
  TVMFFIObjectHandle hook = NULL;
  if (TVMFFIFunctionGetGlobal(name, &hook) != 0)
    return -1;
  __atomic_store_n(found, hook != NULL, __ATOMIC_RELEASE);
  if (hook != NULL)
    TVMFFIObjectDecRef(hook);
  return 0;
}

// ---- the load hook

static uint8_t *cuda_told(CudaLibrary *library, CUdevice device) {
  uint32_t last = CUDA_DEVICES - 1;
  return &library->told[(uint32_t)device < last ? (uint32_t)device : last];
}

// Calls the load hook if there is one, in the context of a launch. A capture, of this or another
// thread, stays valid if the hook copies memory. Returns a status, or less than 0 if an error is
// set.
static int32_t cuda_call_load_hook(CudaState *state, const CudaKernel *kernel, CUstream stream,
                                   CUdevice device, uint8_t *told) {
  TVMFFIObjectHandle hook = NULL;
  CudaEntered entered;
  if (TVMFFIFunctionGetGlobal(CUDA_NAME(CUDA_LOAD_HOOK), &hook) != 0)
    return -1;
  if (hook == NULL) // it has been removed
    return 0;
  int32_t status = cuda_enter_stream(state, stream, device, &entered);
  if (status == 0) {
    const TVMFFIAny args[] = {
        {.type_index = kTVMFFIRawStr, .v_c_str = kernel->symbol},
        {.type_index = kTVMFFIInt,
         .v_int64 = (int64_t)(uintptr_t)cuda_loaded(kernel->library, device)},
        {.type_index = kTVMFFIInt, .v_int64 = device},
    };
    int32_t mode = cuda_relax_capture(state);
    status = cuda_call_function(hook, args, sizeof args / sizeof *args);
    cuda_restore_capture(state, mode);
    cuda_leave(state, entered);
  }
  TVMFFIObjectDecRef(hook);
  if (status == 0)
    __atomic_store_n(told, 1, __ATOMIC_RELEASE);
  return status;
}

// Tells the load hook of a kernel's library before its first launch on a device. Other threads that
// launch kernels of the library wait meanwhile; the hook itself may launch them. Returns a status,
// or less than 0 if an error is set. After a failure, the next launch calls the hook again.
//
// This does not run under the lock under which images are loaded: a hook may launch other kernels.
static int32_t cuda_tell_loaded(CudaState *state, const CudaKernel *kernel, CUstream stream,
                                CUdevice device) {
  CudaLibrary *library = kernel->library;
  uint8_t *told = cuda_told(library, device);
  uintptr_t self = (uintptr_t)pthread_self(), teller = 0;
  if (!__atomic_load_n(&state->watch->load, __ATOMIC_ACQUIRE) ||
      __atomic_load_n(told, __ATOMIC_ACQUIRE))
    return 0;
  while (!__atomic_compare_exchange_n(&library->teller, &teller, self, false, __ATOMIC_ACQ_REL,
                                      __ATOMIC_ACQUIRE)) {
    if (teller == self)
      return 0;
    teller = 0;
    poll(NULL, 0, 1);
  }
  int32_t status = __atomic_load_n(told, __ATOMIC_ACQUIRE)
                       ? 0
                       : cuda_call_load_hook(state, kernel, stream, device, told);
  __atomic_store_n(&library->teller, 0, __ATOMIC_RELEASE);
  return status;
}

// ---- launch hooks

// What is passed to a hook. The function is NULL if there is none.
typedef struct {
  TVMFFIObjectHandle function;
  TVMFFIAny grid, block; // Shapes
  const char *kernel;
  const CUlaunchConfig *config;
  CUdevice device;
} CudaHook;

static int32_t cuda_make_shape(TVMFFIObjectHandle maker, uint32_t x, uint32_t y, uint32_t z,
                               TVMFFIAny *shape) {
  TVMFFIAny sizes[] = {{.type_index = kTVMFFIInt, .v_int64 = x},
                       {.type_index = kTVMFFIInt, .v_int64 = y},
                       {.type_index = kTVMFFIInt, .v_int64 = z}};
  *shape = (TVMFFIAny){.type_index = kTVMFFINone};
  return TVMFFIFunctionCall(maker, sizes, 3, shape);
}

static int32_t cuda_make_shapes(CudaHook *hook) {
  const CUlaunchConfig *config = hook->config;
  TVMFFIObjectHandle maker = NULL;
  int32_t failed = TVMFFIFunctionGetGlobal(CUDA_NAME("ffi.Shape"), &maker);
  if (failed != 0)
    return failed;
  failed =
      cuda_make_shape(maker, config->gridDimX, config->gridDimY, config->gridDimZ, &hook->grid);
  if (failed == 0)
    failed = cuda_make_shape(maker, config->blockDimX, config->blockDimY, config->blockDimZ,
                             &hook->block);
  TVMFFIObjectDecRef(maker);
  return failed;
}

static void cuda_free_shape(const TVMFFIAny *shape) {
  if (shape->type_index >= kTVMFFIStaticObjectBegin)
    TVMFFIObjectDecRef(shape->v_obj);
}

static void cuda_close_hook(const CudaHook *hook) {
  if (hook->function == NULL)
    return;
  cuda_free_shape(&hook->grid);
  cuda_free_shape(&hook->block);
  TVMFFIObjectDecRef(hook->function);
}

// Calls the hook. Returns 0, or what it has returned to raise its error.
static int32_t cuda_call_hook(const CudaHook *hook, const char *phase) {
  if (hook->function == NULL)
    return 0;
  TVMFFIAny args[] = {
      {.type_index = kTVMFFIRawStr, .v_c_str = phase},
      {.type_index = kTVMFFIRawStr, .v_c_str = hook->kernel},
      hook->grid,
      hook->block,
      {.type_index = kTVMFFIInt, .v_int64 = hook->config->sharedMemBytes},
      {.type_index = kTVMFFIInt, .v_int64 = (int64_t)(uintptr_t)hook->config->hStream},
      {.type_index = kTVMFFIInt, .v_int64 = hook->device},
  };
  return cuda_call_function(hook->function, args, sizeof args / sizeof *args);
}

// Finds the hook if there is one, and calls it for the first time.
static int32_t cuda_open_hook(CudaHook *hook, const CudaWatch *watch) {
  if (!__atomic_load_n(&watch->hook, __ATOMIC_ACQUIRE))
    return 0;
  int32_t failed = TVMFFIFunctionGetGlobal(CUDA_NAME(CUDA_LAUNCH_HOOK), &hook->function);
  if (failed == 0 && hook->function != NULL) // it may have been removed
    failed = cuda_make_shapes(hook);
  return failed == 0 ? cuda_call_hook(hook, "before") : failed;
}

// Calls the hook for the second time, also after a failure, which is what the caller is told then.
// Returns the status, or less than 0 if an error is set.
static int32_t cuda_end_hook(const CudaHook *hook, int32_t status) {
  TVMFFIObjectHandle error = NULL;
  if (status < 0)
    TVMFFIErrorMoveFromRaised(&error);
  int32_t failed = cuda_call_hook(hook, "after");
  if (status == 0)
    return failed;
  if (failed != 0)
    cuda_drop_error();
  if (error != NULL) {
    TVMFFIErrorSetRaised(error);
    TVMFFIObjectDecRef(error);
  }
  return status;
}
