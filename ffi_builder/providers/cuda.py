"""Entries of ``args=`` of a ``CudaLaunchCallProvider``; a module of the add-on ``cuda``."""

from ffi_builder.cuda.launch.capability import capability
from ffi_builder.cuda.launch.entries import Nested, Packed, Pointee, Scalar, Struct, TensorMap
from ffi_builder.extending import lazy

__all__ = ["Nested", "Packed", "Pointee", "Scalar", "Struct", "TensorMap", "capability"]

__getattr__, __dir__ = lazy(__name__, {}, __all__)
