"""Launching CUDA kernels from wrappers. Building one needs no GPU, driver or CUDA toolkit."""

from ffi_builder.providers.cuda.capability import capability
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
    "capability",
]
