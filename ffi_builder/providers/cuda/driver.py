"""Numbers of the CUDA driver API, and the layout of its structures and of a module's states.

Source: ``cuda.h`` of CUDA 12.0 to 13.3 (64-bit Linux); ``tests/cuda/test_numbers.py`` compares them
with the header of the nvidia-cuda-runtime wheel. Sizes and offsets are bytes.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

LIBRARY: Final = "libcuda.so.1"
OLDEST: Final = "12.0"
"""The first CUDA version whose driver has cuLibrary*, cuKernel* and cuLaunchKernelEx."""

FUNCTIONS: Final = (
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
)
"""Exported names, in the order of a module's table; the launch has the number 0."""
NUMBER: Final = {name: number for number, name in enumerate(FUNCTIONS)}
NAME_STRIDE: Final = 40
"""Bytes of each name in the constant that has them all."""

CODE_BITS: Final = 16
"""A status has a CUresult in these low bits, and above them the number of the failed function."""

# CUlaunchConfig
CONFIG_SIZE: Final = 56
CONFIG_GRID: Final = 0
CONFIG_BLOCK: Final = 12
CONFIG_SHARED: Final = 24
CONFIG_STREAM: Final = 32
CONFIG_ATTRIBUTES: Final = 40
CONFIG_COUNT: Final = 48

# CUlaunchAttribute
ATTRIBUTE_SIZE: Final = 72
ATTRIBUTE_VALUE: Final = 8
COOPERATIVE: Final = 2
CLUSTER_DIMENSION: Final = 4
PROGRAMMATIC_STREAM_SERIALIZATION: Final = 6
FLAGS: Final = {
    "cooperative": COOPERATIVE,
    "programmatic_stream_serialization": PROGRAMMATIC_STREAM_SERIALIZATION,
}
"""Attributes whose value is an int: 1 sets them."""

TENSOR_MAP_SIZE: Final = 128
TENSOR_MAP_ALIGN: Final = 128
"""The alignment in CUDA 13. CUDA 12 requires 64, of which 128 is a multiple."""

SPECIAL_STREAMS: Final = 3
"""NULL, CU_STREAM_LEGACY (1), CU_STREAM_PER_THREAD (2) are streams of the current context."""
CAPTURE_MODE_RELAXED: Final = 2


class FunctionAttribute(IntEnum):
    """``CUfunction_attribute``."""

    MAX_THREADS_PER_BLOCK = 0
    SHARED_SIZE_BYTES = 1
    MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
    REQUIRED_CLUSTER_WIDTH = 11
    REQUIRED_CLUSTER_HEIGHT = 12
    REQUIRED_CLUSTER_DEPTH = 13
    NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14


class DeviceAttribute(IntEnum):
    """``CUdevice_attribute``."""

    MAX_THREADS_PER_BLOCK = 1
    MAX_BLOCK_DIM_X = 2
    MAX_BLOCK_DIM_Y = 3
    MAX_BLOCK_DIM_Z = 4
    MAX_GRID_DIM_X = 5
    MAX_GRID_DIM_Y = 6
    MAX_GRID_DIM_Z = 7
    COMPUTE_CAPABILITY_MAJOR = 75
    COMPUTE_CAPABILITY_MINOR = 76
    MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97
    CLUSTER_LAUNCH = 120


class JitOption(IntEnum):
    """``CUjit_option``."""

    ERROR_LOG_BUFFER = 5
    ERROR_LOG_BUFFER_SIZE_BYTES = 6


class Result(IntEnum):
    """``CUresult``."""

    SUCCESS = 0
    INVALID_DEVICE = 101
    INVALID_CONTEXT = 201
    NO_BINARY_FOR_GPU = 209
    INVALID_PTX = 218
    UNSUPPORTED_PTX_VERSION = 222
    NOT_FOUND = 500
    CONTEXT_IS_DESTROYED = 709
    COOPERATIVE_LAUNCH_TOO_LARGE = 720


# Limits of every GPU.
MAX_GRID: Final = (2**31 - 1, 65535, 65535)
WORDS: Final = (2**31 - 1,) * 3
"""The largest sizes that fit a launch. A device that allows less refuses the launch itself."""
MAX_BLOCK: Final = (1024, 1024, 64)
MAX_THREADS: Final = 1024
MAX_PORTABLE_CLUSTER: Final = 8
MAX_CLUSTER: Final = 16
SHARED_WITHOUT_ASKING: Final = 48 << 10
"""Static and dynamic shared memory of a block that needs no kernel attribute."""
MAX_SHARED_KIB: Final = {5: 48, 6: 48, 7: 96, 8: 163, 9: 227, 10: 227, 11: 227, 12: 99}
"""The most shared memory of a block on any GPU of a major compute capability, in KiB.

From the table of technical specifications in the CUDA C++ Programming Guide.
"""

DEVICES: Final = 128
STATE_SIZE: Final = 8 * (len(FUNCTIONS) + 2 + DEVICES)
"""The state of a module: the table of functions, whether it is ready, the first loaded library, and
the primary contexts that were retained, by device."""

# The capabilities of a module's devices.
CAPABILITY_SLOTS: Final = DEVICES + 1
CAPABILITY_BITS: Final = 8
"""A capability is an int with the minor version in these low bits."""

LIBRARY_SIZE: Final = 32
"""The state of an image: its handle, the next image, whether it is listed, its first kernel."""

# The state of a kernel: its handle, the next kernel, whether it is listed, what is prepared. What
# was listed once stays listed.
KERNEL_HANDLE: Final = 0
"""The CUkernel, which TVMFFIHandleInitOnce initialises."""
KERNEL_LISTED: Final = 16
KERNEL_PREPARED: Final = 24
"""A byte for each device: the attributes that are set there. The last one is for all others."""
KERNEL_SIZE: Final = KERNEL_PREPARED + DEVICES
PREPARED_SHARED: Final = 1
PREPARED_CLUSTER: Final = 2
