"""Makes arrays of zeros, of any dtype, shape and strides, of a framework or of tvm_ffi.

NumPy does not export bfloat16, float8, float4, ints below 8 bits and types of several lanes, even
with ml_dtypes installed. Arrays of those are ``tvm_ffi.Tensor``: a DLPack capsule that NumPy makes
of the memory, with other dtype, shape and strides written into it. NumPy frees it.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from ffi_builder import abi, spec
from ffi_builder.testing.make.layout import is_row_major, reach

FRAMEWORKS: Final = ("numpy", "torch", "tvm_ffi")

_NUMPY_NAMES: Final = {
    "bool",
    *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
    *("float16", "float32", "float64", "complex64", "complex128"),
}
"""Dtypes that NumPy has and exports."""

_ALIGNMENT: Final = 64
"""Alignment of the memory that frameworks allocate, in bytes."""

_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


@dataclass(frozen=True)
class Array:
    """Describes an array; ``shape`` and ``strides`` are in elements of ``dtype``."""

    path: str
    dtype: spec.DataType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    alignment: int = 1
    device_id: int = 0

    def make(self, framework: str) -> Any:
        """Make the array with a framework.

        Raises:
            ValueError: the framework cannot represent it.
            ModuleNotFoundError: the framework is not installed.
        """
        if framework == "torch":
            return self._torch()
        return self._numpy() if framework == "numpy" else self.tvm_ffi()

    def _numpy(self) -> Any:
        if str(self.dtype) not in _NUMPY_NAMES:
            return self.tvm_ffi()
        try:
            memory, offset = self._memory()
            itemsize = self.dtype.total_bits // 8
            strides = [stride * itemsize for stride in self.strides]
            made = _numpy().ndarray(self.shape, str(self.dtype), memory, offset, strides)
        except (ValueError, OverflowError):  # empty, with a huge dimension or stride
            return self.tvm_ffi()
        # Some versions of NumPy export other strides than the array has if those are free.
        if made.flags.c_contiguous and not is_row_major(self.shape, self.strides):
            return self.tvm_ffi()
        return made

    def tvm_ffi(self) -> Any:
        """Make the array as a ``tvm_ffi.Tensor``."""
        import tvm_ffi

        return tvm_ffi.from_dlpack(_Exported(self))

    def _torch(self) -> Any:
        torch = _needed("torch", "PyTorch")
        if any(stride < 0 for stride in self.strides):
            raise ValueError(
                f"make_args: {self.path} has the strides {list(self.strides)}, and PyTorch has no "
                f"negative ones; framework='numpy' does"
            )
        try:
            return torch.from_dlpack(_Exported(self))
        except (BufferError, RuntimeError) as error:
            raise ValueError(
                f"make_args: {self.path} is {self.dtype}, of which PyTorch makes no tensor "
                f"({error}); framework='tvm_ffi' does"
            ) from error

    def _memory(self) -> tuple[Any, int]:
        """Return zeros, and the offset in them of the first element, whose address is aligned."""
        before, behind = (
            -(-count * self.dtype.total_bits // 8) for count in reach(self.shape, self.strides)
        )
        alignment = max(self.alignment if before + behind else 1, _ALIGNMENT)
        memory = _numpy().zeros(before + behind + alignment + _EXPORTED_BYTES, "uint8")
        address = memory.ctypes.data + before
        return memory, before + -address % alignment

    def capsule(self) -> Any:
        """Make a DLPack capsule of the array."""
        memory, offset = self._memory()
        # NumPy exports the strides of a view that is not contiguous.
        shape = [1] * (len(self.shape) - 1) + [2] if self.shape else []
        view = _numpy().ndarray(shape, "uint8", memory, offset, [2] * len(shape))
        capsule = view.__dlpack__()
        tensor = _capsule_pointer(capsule, b"dltensor")
        assert tensor is not None
        kind = struct.pack("<BBH", *self.dtype)
        ctypes.memmove(tensor + abi.DLTENSOR_DTYPE, kind, len(kind))
        ctypes.c_int32.from_address(tensor + abi.DLTENSOR_DEVICE_ID).value = self.device_id
        _write(tensor + abi.DLTENSOR_SHAPE, self.shape)
        _write(tensor + abi.DLTENSOR_STRIDES, self.strides)
        return capsule


_EXPORTED_BYTES: Final = 4
"""Size of the view that is exported."""


class _Exported:
    """An array in the form that ``from_dlpack`` takes."""

    def __init__(self, array: Array) -> None:
        self._array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return abi.DEVICE_TYPES["cpu"], self._array.device_id

    def __dlpack__(self, **_: object) -> Any:
        return self._array.capsule()


def _write(field: int, values: Sequence[int]) -> None:
    """Overwrite the int64 values that a field points to."""
    if values:
        pointer = ctypes.c_uint64.from_address(field).value
        assert pointer, "NumPy exports the strides of what is not contiguous"
        (ctypes.c_int64 * len(values)).from_address(pointer)[:] = values


def _numpy() -> ModuleType:
    return _needed("numpy", "NumPy")


def _needed(module: str, name: str) -> ModuleType:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"make_args needs {name} here: pip install {module}", name=module
        ) from error
