// Made by `make support` from tools/numbers_header.py. Do not edit.

#ifndef FFI_BUILDER_CUDA_NUMBERS_H
#define FFI_BUILDER_CUDA_NUMBERS_H

#define CUDA_LIBRARY "libamdhip64.so"
#define CUDA_API "HIP"
#define CUDA_RUNTIME "ROCm"
#define CUDA_OLDEST "6.0"
#define CUDA_FIRST_WIDE "12.8"
#define CUDA_WATCH "ffi_builder.launch_watch.v1"
#define CUDA_BLOCKING "FFI_BUILDER_LAUNCH_BLOCKING"
#define CUDA_LAUNCH_HOOK "ffi_builder.launch_hook.v1"
#define CUDA_LOAD_HOOK "ffi_builder.load_hook.v1"

// The driver API's own numbers.
enum {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_DEVICE_FUNCTION = 98,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_INVALID_KERNEL_FILE = 218,
  CUDA_ERROR_SHARED_OBJECT_INIT_FAILED = 303,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_MISALIGNED_ADDRESS = 716,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
  CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 26,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 27,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 28,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 29,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 30,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 31,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 74,
  CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH = 11,
  CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT = 12,
  CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH = 13,
  CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
  CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW = 1,
  CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
  CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
  CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 5,
  CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
  CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT = 7,
  CU_LAUNCH_ATTRIBUTE_PRIORITY = 8,
  CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP = 9,
  CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN = 10,
  CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION = 11,
  CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT = 12,
  CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 14,
  CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING = 16,
  CU_LAUNCH_ATTRIBUTE_PORTABLE_CLUSTER_SIZE_MODE = 17,
  CU_LAUNCH_ATTRIBUTE_SHARED_MEMORY_MODE = 18,
  CU_STREAM_CAPTURE_MODE_RELAXED = 2,
};

// Limits, and sizes and offsets in bytes.
enum {
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
  CUDA_DEVICES = 128,
  CUDA_WATCH_SIZE = 12,
  CUDA_WATCH_HOOK = 1,
  CUDA_WATCH_LOAD = 2,
  CUDA_WATCH_DECIDED = 4,
  CUDA_CAPABILITY_SLOTS = 129,
  CUDA_CAPABILITY_BITS = 8,
  CUDA_KERNEL_HANDLE = 0,
  CUDA_PROPERTIES = 1472,
  CUDA_TARGET_NAME = 1160,
  CUDA_TARGET_SIZE = 256,
  CUDA_STATE_SIZE = 176,
  CUDA_STATE_WATCH = 152,
  CUDA_LIBRARY_SIZE = 1184,
  CUDA_KERNEL_SIZE = 1056,
  CUDA_REQUIRED = 16,
  CUDA_MAJOR = 10000000,
  CUDA_MINOR = 100000,
};

// The functions in the order of a state's table.
enum {
  NUMBER_hipModuleLaunchKernel = 0,
  NUMBER_hipModuleLaunchCooperativeKernel = 1,
  NUMBER_cuInit = 2,
  NUMBER_hipModuleLoadData = 3,
  NUMBER_hipModuleGetFunction = 4,
  NUMBER_hipModuleUnload = 5,
  NUMBER_hipFuncGetAttribute = 6,
  NUMBER_cuThreadExchangeStreamCaptureMode = 7,
  NUMBER_hipGetDevice = 8,
  NUMBER_hipSetDevice = 9,
  NUMBER_hipStreamGetDevice = 10,
  NUMBER_cuDeviceGetAttribute = 11,
  NUMBER_cuGetErrorName = 12,
  NUMBER_cuGetErrorString = 13,
  NUMBER_cuDriverGetVersion = 14,
  NUMBER_cuMemsetD8Async = 15,
  NUMBER_cuStreamIsCapturing = 16,
  NUMBER_cuStreamSynchronize = 17,
  NUMBER_hipGetDevicePropertiesR0600 = 18,
};

static const char cuda_function_names[19][40] = {
    "hipModuleLaunchKernel",
    "hipModuleLaunchCooperativeKernel",
    "hipInit",
    "hipModuleLoadData",
    "hipModuleGetFunction",
    "hipModuleUnload",
    "hipFuncGetAttribute",
    "hipThreadExchangeStreamCaptureMode",
    "hipGetDevice",
    "hipSetDevice",
    "hipStreamGetDevice",
    "hipDeviceGetAttribute",
    "hipDrvGetErrorName",
    "hipDrvGetErrorString",
    "hipDriverGetVersion",
    "hipMemsetD8Async",
    "hipStreamIsCapturing",
    "hipStreamSynchronize",
    "hipGetDevicePropertiesR0600",
};

// The names of launch attributes by their numbers.
static const char cuda_attribute_names[][40] = {
    [1] = "access_policy_window",
    [2] = "cooperative",
    [4] = "cluster_dimension",
    [5] = "cluster_scheduling_policy_preference",
    [6] = "programmatic_stream_serialization",
    [7] = "programmatic_event",
    [8] = "priority",
    [9] = "mem_sync_domain_map",
    [10] = "mem_sync_domain",
    [11] = "preferred_cluster_dimension",
    [12] = "launch_completion_event",
    [14] = "preferred_shared_memory_carveout",
    [16] = "nvlink_util_centric_scheduling",
    [17] = "portable_cluster_size_mode",
    [18] = "shared_memory_mode",
};

#endif
