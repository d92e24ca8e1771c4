"""Makes ``rocm/support/numbers.h``, for ``tools.support``: numbers of HIP that only the C knows.

Source: ``hip_runtime_api.h`` of HIP 7.1; ``tests/rocm/test_numbers.py`` compares them with that
header where it is installed.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from ffi_builder.cuda.launch import driver
from ffi_builder.rocm.launch.vendor import ROCM
from tools import numbers_header


class Result(IntEnum):
    """``hipError_t``, by CUDA's names, whose numbers these are too but for 98, 218 and 303."""

    SUCCESS = 0
    INVALID_DEVICE_FUNCTION = 98
    INVALID_DEVICE = 101
    INVALID_IMAGE = 200
    NO_BINARY_FOR_GPU = 209
    INVALID_KERNEL_FILE = 218
    SHARED_OBJECT_INIT_FAILED = 303
    NOT_FOUND = 500
    ILLEGAL_ADDRESS = 700
    MISALIGNED_ADDRESS = 716
    """CUDA's alone."""
    LAUNCH_FAILED = 719
    COOPERATIVE_LAUNCH_TOO_LARGE = 720
    STREAM_CAPTURE_IMPLICIT = 906


class DeviceAttribute(IntEnum):
    """``hipDeviceAttribute_t``, by CUDA's names."""

    MAX_BLOCK_DIM_X = 26
    MAX_BLOCK_DIM_Y = 27
    MAX_BLOCK_DIM_Z = 28
    MAX_GRID_DIM_X = 29
    MAX_GRID_DIM_Y = 30
    MAX_GRID_DIM_Z = 31
    MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 74
    """``hipDeviceAttributeMaxSharedMemoryPerBlock``: nothing is to be asked for."""


FUNCTIONS: Final = {
    "hipModuleLaunchKernel": "hipModuleLaunchKernel",
    "hipModuleLaunchCooperativeKernel": "hipModuleLaunchCooperativeKernel",
    "cuInit": "hipInit",
    "hipModuleLoadData": "hipModuleLoadData",
    "hipModuleGetFunction": "hipModuleGetFunction",
    "hipModuleUnload": "hipModuleUnload",
    "hipFuncGetAttribute": "hipFuncGetAttribute",
    "cuThreadExchangeStreamCaptureMode": "hipThreadExchangeStreamCaptureMode",
    "hipGetDevice": "hipGetDevice",
    "hipSetDevice": "hipSetDevice",
    "hipStreamGetDevice": "hipStreamGetDevice",
    "cuDeviceGetAttribute": "hipDeviceGetAttribute",
    "cuGetErrorName": "hipDrvGetErrorName",
    "cuGetErrorString": "hipDrvGetErrorString",
    "cuDriverGetVersion": "hipDriverGetVersion",
    "cuMemsetD8Async": "hipMemsetD8Async",
    "cuStreamIsCapturing": "hipStreamIsCapturing",
    "cuStreamSynchronize": "hipStreamSynchronize",
    "hipGetDevicePropertiesR0600": "hipGetDevicePropertiesR0600",
}
PROPERTIES: Final = 1472
"""The bytes of a ``hipDeviceProp_tR0600``, and where its ``gcnArchName`` begins."""
TARGET_NAME: Final = 1160
TARGET_SIZE: Final = 256

AMD: Final = numbers_header.Numbers(
    vendor=ROCM,
    api="HIP",
    runtime="ROCm",
    library="libamdhip64.so",
    oldest="6.0",
    version=(10**7, 10**5),
    functions=FUNCTIONS,
    required="cuStreamIsCapturing",
    families=(
        ("CUDA_ERROR_", Result),
        ("CU_DEVICE_ATTRIBUTE_", DeviceAttribute),
        ("CU_FUNC_ATTRIBUTE_", numbers_header.FunctionAttribute),
        ("CU_LAUNCH_ATTRIBUTE_", driver.LaunchAttribute),
    ),
    sizes={"PROPERTIES": PROPERTIES, "TARGET_NAME": TARGET_NAME, "TARGET_SIZE": TARGET_SIZE},
)


def text() -> str:
    """Return the header."""
    return numbers_header.text(AMD)
