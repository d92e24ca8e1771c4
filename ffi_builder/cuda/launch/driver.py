"""Numbers of the CUDA driver API, and of the states that wrappers and C share.

What the C alone knows is in ``tools/numbers_header.py``.

Source: ``cuda.h`` of CUDA 12.0 to 13.5 (64-bit Linux); ``tests/cuda/test_numbers.py`` compares them
with the header of the nvidia-cuda-runtime wheel. Sizes and offsets are bytes.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Final

LIBRARY: Final = "libcuda.so.1"

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
    "cuTensorMapEncodeTiled",
    "cuTensorMapEncodeIm2col",
    "cuTensorMapEncodeIm2colWide",
    "cuStreamIsCapturing",
    "cuStreamSynchronize",
)
"""Exported names, in the order of a module's table; the launch has the number 0."""
NUMBER: Final = {name: number for number, name in enumerate(FUNCTIONS)}

CODE_BITS: Final = 16
"""A status has a CUresult in this many low bits, and above it the failed function's number."""

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

SPECIAL_STREAMS: Final = 3
"""NULL, CU_STREAM_LEGACY (1), CU_STREAM_PER_THREAD (2) are streams of the current context."""


class LaunchAttribute(IntEnum):
    """``CUlaunchAttributeID``: those that a launch may have here."""

    ACCESS_POLICY_WINDOW = 1
    COOPERATIVE = 2
    CLUSTER_DIMENSION = 4
    CLUSTER_SCHEDULING_POLICY_PREFERENCE = 5
    PROGRAMMATIC_STREAM_SERIALIZATION = 6
    PROGRAMMATIC_EVENT = 7
    PRIORITY = 8
    MEM_SYNC_DOMAIN_MAP = 9
    MEM_SYNC_DOMAIN = 10
    PREFERRED_CLUSTER_DIMENSION = 11
    LAUNCH_COMPLETION_EVENT = 12
    PREFERRED_SHARED_MEMORY_CARVEOUT = 14
    NVLINK_UTIL_CENTRIC_SCHEDULING = 16
    PORTABLE_CLUSTER_SIZE_MODE = 17
    SHARED_MEMORY_MODE = 18


class Result(IntEnum):
    """``CUresult``."""

    SUCCESS = 0
    INVALID_DEVICE = 101
    INVALID_CONTEXT = 201
    NO_BINARY_FOR_GPU = 209
    INVALID_PTX = 218
    UNSUPPORTED_PTX_VERSION = 222
    NOT_FOUND = 500
    ILLEGAL_ADDRESS = 700
    CONTEXT_IS_DESTROYED = 709
    MISALIGNED_ADDRESS = 716
    LAUNCH_FAILED = 719
    COOPERATIVE_LAUNCH_TOO_LARGE = 720
    STREAM_CAPTURE_IMPLICIT = 906


# Limits of every GPU.
MAX_GRID: Final = (2**31 - 1, 65535, 65535)
MAX_INT: Final = 2**31 - 1
WORDS: Final = (MAX_INT, MAX_INT, MAX_INT)
"""The largest sizes that fit a launch. A device that allows less refuses the launch itself."""
MAX_BLOCK: Final = (1024, 1024, 64)
MAX_THREADS: Final = 1024
MAX_PORTABLE_CLUSTER: Final = 8
MAX_CLUSTER: Final = 16
SHARED_WITHOUT_ASKING: Final = 48 << 10
"""The most static and dynamic shared memory of a block without a kernel attribute."""
MAX_SHARED_KIB: Final = {5: 48, 6: 48, 7: 96, 8: 163, 9: 227, 10: 227, 11: 227, 12: 99}
"""The most shared memory of a block on any GPU of a major compute capability, in KiB.

From the table of technical specifications in the CUDA C++ Programming Guide.
"""

DEVICES: Final = 128
STATE_WATCH: Final = 8 * len(FUNCTIONS)
STATE_SIZE: Final = STATE_WATCH + 8 * (3 + DEVICES)
"""The state of a module: the table of functions, the address of what the process watches, whether
it is ready, the first loaded library, and the retained primary contexts, by device."""

# A CudaWatch says what a process watches.
WATCH: Final = "ffi_builder.launch_watch.v1"
"""The attribute of tvm-ffi's type ``int`` that has its address."""
LAUNCH_HOOK: Final = "ffi_builder.launch_hook.v1"
"""The global function of tvm-ffi that is called at launches."""
LOAD_HOOK: Final = "ffi_builder.load_hook.v1"
"""The global function of tvm-ffi that is called when images are loaded."""

# The capabilities of a module's devices.
CAPABILITY_SLOTS: Final = DEVICES + 1
CAPABILITY_BITS: Final = 8
"""A capability is an int with the minor version in this many low bits."""

LIBRARY_SIZE: Final = 40 + DEVICES
"""The state of an image: its handle, the next image, whether it is listed, its first kernel, the
thread that calls the load hook, and for each device a byte: whether that was called."""

# The state of a kernel: its CUkernel, which TVMFFIHandleInitOnce initialises, the next kernel, its
# library once it is listed there, its name, what is prepared. What was listed once stays listed.
KERNEL_PREPARED: Final = 32
"""A byte for each device: the attributes that are set on it. All further devices share the last."""
KERNEL_SIZE: Final = KERNEL_PREPARED + DEVICES
PREPARED_SHARED: Final = 1
PREPARED_CLUSTER: Final = 2

TENSOR_MAP_SIZE: Final = 128
TENSOR_MAP_ALIGN: Final = 128
"""The alignment in CUDA 13. CUDA 12 requires 64, of which 128 is a multiple."""

# A call site of tensor maps: the places of the driver's arguments, each an int64.
MAP_RANK: Final = 5
MAP_ADDRESS: Final = 0
MAP_SIZES: Final = 1
MAP_STRIDES: Final = MAP_SIZES + MAP_RANK
MAP_BOX: Final = MAP_STRIDES + MAP_RANK
MAP_STEPS: Final = MAP_BOX + MAP_RANK
MAP_LOWER: Final = MAP_STEPS + MAP_RANK
MAP_UPPER: Final = MAP_LOWER + MAP_RANK
MAP_CHANNELS: Final = MAP_UPPER + MAP_RANK
MAP_PIXELS: Final = MAP_CHANNELS + 1
MAP_PLACES: Final = MAP_PIXELS + 1
MAP_VALUES: Final = 8 * MAP_PLACES + 40
"""The offset in bytes of the limits of what a call brings."""
MAP_VALUE: Final = 40
MAP_SLOTS: Final = 8
"""The maps that a call site keeps."""


def float_bits(value: float) -> int:
    """Return the bits of a float of C."""
    return int.from_bytes(struct.pack("<f", value), "little")
