"""What the kernel of a ``CudaLaunchCallProvider`` gets. A module of the add-on ``cuda``."""

from ffi_builder.cuda.launch import (
    Nested,
    Packed,
    Pointee,
    Scalar,
    Struct,
    TensorMap,
    capability,
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
