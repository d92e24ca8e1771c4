"""Launching CUDA kernels from wrappers; nothing here needs a GPU, a driver or a CUDA toolkit."""

from ffi_builder.providers.cuda.entries import (
    LaunchEntry,
    Nested,
    Packed,
    Pointee,
    Scalar,
    Struct,
    TensorMap,
)
from ffi_builder.providers.cuda.provider import CudaLaunchCallProvider

__all__ = [
    "CudaLaunchCallProvider",
    "LaunchEntry",
    "Nested",
    "Packed",
    "Pointee",
    "Scalar",
    "Struct",
    "TensorMap",
]
