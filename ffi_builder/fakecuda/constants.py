"""Numbers of cuda.h; tests/cuda/test_numbers.py compares them with the header."""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class Result(IntEnum):
    """``CUresult``, without ``CUDA_`` and ``ERROR_``."""

    SUCCESS = 0
    INVALID_VALUE = 1
    OUT_OF_MEMORY = 2
    NOT_INITIALIZED = 3
    DEINITIALIZED = 4
    NO_DEVICE = 100
    INVALID_DEVICE = 101
    INVALID_IMAGE = 200
    INVALID_CONTEXT = 201
    NO_BINARY_FOR_GPU = 209
    INVALID_PTX = 218
    UNSUPPORTED_PTX_VERSION = 222
    INVALID_HANDLE = 400
    NOT_FOUND = 500
    ILLEGAL_ADDRESS = 700
    LAUNCH_OUT_OF_RESOURCES = 701
    LAUNCH_TIMEOUT = 702
    CONTEXT_IS_DESTROYED = 709
    ASSERT = 710
    MISALIGNED_ADDRESS = 716
    LAUNCH_FAILED = 719
    COOPERATIVE_LAUNCH_TOO_LARGE = 720
    NOT_SUPPORTED = 801
    STREAM_CAPTURE_UNSUPPORTED = 900
    STREAM_CAPTURE_INVALIDATED = 901
    STREAM_CAPTURE_IMPLICIT = 906
    INVALID_CLUSTER_SIZE = 912
    UNKNOWN = 999

    @property
    def symbol(self) -> str:
        """The name in cuda.h."""
        return "CUDA_SUCCESS" if self == Result.SUCCESS else f"CUDA_ERROR_{self.name}"


class DeviceAttribute(IntEnum):
    """``CUdevice_attribute``, without ``CU_DEVICE_ATTRIBUTE_``."""

    MAX_THREADS_PER_BLOCK = 1
    MAX_GRID_DIM_X = 5
    COMPUTE_CAPABILITY_MAJOR = 75
    COMPUTE_CAPABILITY_MINOR = 76
    MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97
    CLUSTER_LAUNCH = 120


class CaptureMode(IntEnum):
    """``CUstreamCaptureMode``, without ``CU_STREAM_CAPTURE_MODE_``."""

    GLOBAL = 0
    THREAD_LOCAL = 1
    RELAXED = 2


NON_BLOCKING: Final = 1
"""``CU_STREAM_NON_BLOCKING``, a flag."""
