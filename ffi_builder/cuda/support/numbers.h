// Made from driver.py by ffi_builder/cuda/launch/header.py. Do not edit.

#ifndef FFI_BUILDER_CUDA_NUMBERS_H
#define FFI_BUILDER_CUDA_NUMBERS_H

#define CUDA_LIBRARY "libcuda.so.1"
#define CUDA_OLDEST "12.0"
#define CUDA_WATCH "ffi_builder.launch_watch.v1"
#define CUDA_BLOCKING "FFI_BUILDER_LAUNCH_BLOCKING"
#define CUDA_LAUNCH_HOOK "ffi_builder.launch_hook.v1"

// The driver API's own numbers.
enum {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
  CUDA_ERROR_MISALIGNED_ADDRESS = 716,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
  CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906,
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
  CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH = 120,
  CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH = 11,
  CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT = 12,
  CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH = 13,
  CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
  CU_JIT_ERROR_LOG_BUFFER = 5,
  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
  CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
  CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
  CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
  CU_STREAM_CAPTURE_MODE_RELAXED = 2,
};

// Limits, and sizes and offsets in bytes.
enum {
  CUDA_NEEDED = 21,
  CUDA_CODE_BITS = 16,
  CUDA_CONFIG_SIZE = 56,
  CUDA_CONFIG_GRID = 0,
  CUDA_CONFIG_BLOCK = 12,
  CUDA_CONFIG_SHARED = 24,
  CUDA_CONFIG_STREAM = 32,
  CUDA_CONFIG_ATTRIBUTES = 40,
  CUDA_CONFIG_COUNT = 48,
  CUDA_ATTRIBUTE_SIZE = 72,
  CUDA_ATTRIBUTE_VALUE = 8,
  CUDA_SPECIAL_STREAMS = 3,
  CUDA_MAX_PORTABLE_CLUSTER = 8,
  CUDA_DEVICES = 128,
  CUDA_STATE_SIZE = 1232,
  CUDA_STATE_WATCH = 184,
  CUDA_WATCH_SIZE = 12,
  CUDA_WATCH_HOOK = 1,
  CUDA_WATCH_DECIDED = 4,
  CUDA_CAPABILITY_SLOTS = 129,
  CUDA_CAPABILITY_BITS = 8,
  CUDA_LIBRARY_SIZE = 32,
  CUDA_KERNEL_HANDLE = 0,
  CUDA_KERNEL_PREPARED = 24,
  CUDA_KERNEL_SIZE = 152,
  CUDA_PREPARED_SHARED = 1,
  CUDA_PREPARED_CLUSTER = 2,
};

// The functions in the order of a state's table.
enum {
  NUMBER_cuLaunchKernelEx = 0,
  NUMBER_cuInit = 1,
  NUMBER_cuLibraryLoadData = 2,
  NUMBER_cuLibraryGetKernel = 3,
  NUMBER_cuLibraryUnload = 4,
  NUMBER_cuKernelGetFunction = 5,
  NUMBER_cuKernelGetAttribute = 6,
  NUMBER_cuKernelSetAttribute = 7,
  NUMBER_cuThreadExchangeStreamCaptureMode = 8,
  NUMBER_cuCtxGetCurrent = 9,
  NUMBER_cuCtxGetDevice = 10,
  NUMBER_cuCtxPushCurrent_v2 = 11,
  NUMBER_cuCtxPopCurrent_v2 = 12,
  NUMBER_cuDevicePrimaryCtxRetain = 13,
  NUMBER_cuDevicePrimaryCtxRelease_v2 = 14,
  NUMBER_cuDeviceGetAttribute = 15,
  NUMBER_cuStreamGetCtx = 16,
  NUMBER_cuGetErrorName = 17,
  NUMBER_cuGetErrorString = 18,
  NUMBER_cuDriverGetVersion = 19,
  NUMBER_cuMemsetD8Async = 20,
  NUMBER_cuStreamIsCapturing = 21,
  NUMBER_cuStreamSynchronize = 22,
};

static const char cuda_function_names[23][40] = {
    "cuLaunchKernelEx",
    "cuInit",
    "cuLibraryLoadData",
    "cuLibraryGetKernel",
    "cuLibraryUnload",
    "cuKernelGetFunction",
    "cuKernelGetAttribute",
    "cuKernelSetAttribute",
    "cuThreadExchangeStreamCaptureMode",
    "cuCtxGetCurrent",
    "cuCtxGetDevice",
    "cuCtxPushCurrent_v2",
    "cuCtxPopCurrent_v2",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDeviceGetAttribute",
    "cuStreamGetCtx",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuDriverGetVersion",
    "cuMemsetD8Async",
    "cuStreamIsCapturing",
    "cuStreamSynchronize",
};

#endif
