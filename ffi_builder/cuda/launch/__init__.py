"""Launching CUDA kernels from wrappers. Building one needs no GPU, driver or CUDA toolkit."""

from ffi_builder.cuda.launch.capability import capability
from ffi_builder.cuda.launch.entries import (
    Nested,
    Packed,
    Pointee,
    Scalar,
    Struct,
    TensorMap,
)
from ffi_builder.lazy import lazy

__all__ = [
    "Nested",
    "Packed",
    "Pointee",
    "Scalar",
    "Struct",
    "TensorMap",
    "capability",
]

__getattr__, __dir__ = lazy(__name__, {}, __all__)
