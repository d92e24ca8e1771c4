"""Numbers of cuda.h that only tests use; tests/cuda/test_numbers.py compares them with the header."""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class FunctionAttribute(IntEnum):
    """``CUfunction_attribute``, without ``CU_FUNC_ATTRIBUTE_``."""

    MAX_THREADS_PER_BLOCK = 0
    SHARED_SIZE_BYTES = 1
    NUM_REGS = 4
    MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
    NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14


class LaunchAttribute(IntEnum):
    """``CUlaunchAttributeID``, without ``CU_LAUNCH_ATTRIBUTE_``."""

    ACCESS_POLICY_WINDOW = 1
    COOPERATIVE = 2
    SYNCHRONIZATION_POLICY = 3
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


class CaptureStatus(IntEnum):
    """``CUstreamCaptureStatus``, without ``CU_STREAM_CAPTURE_STATUS_``."""

    NONE = 0
    ACTIVE = 1
    INVALIDATED = 2


LEGACY: Final = 1
"""``CU_STREAM_LEGACY``."""
PER_THREAD: Final = 2
"""``CU_STREAM_PER_THREAD``."""
