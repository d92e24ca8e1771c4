"""Checks the arguments of a call while it is traced, in the words of the wrapper.

The wrapper's own check runs over arguments of the traced shapes and dtypes, without memory behind
them. So an error names the argument and the place as a call of the compiled function would.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

from ffi_builder import abi, spec
from ffi_builder.frameworks.jax.sizes import Size, row_major
from ffi_builder.records import dataclass
from ffi_builder.testing import check

_ADDRESS: Final = 1 << 40
"""The data pointer of arrays without memory: it is not read, and meets every alignment."""


@dataclass(frozen=True)
class Described:
    """An array of which only shape, dtype and device type are known; row-major."""

    shape: tuple[Size, ...]
    dtype: str
    device: str


def check_call(signature: spec.Signature, values: Sequence[object]) -> None:
    """Check arguments, of which arrays are :class:`Described`.

    If a size is symbolic, only kinds, ranks and dtypes are checked here; the wrapper checks the
    rest when it is called.

    Raises:
        TypeError, ValueError: the wrapper's error.
    """
    arrays = [value for value in values if isinstance(value, Described)]
    sizes = [size for array in arrays for size in array.shape]
    checked = replace(signature, no_overlap=())  # all have the same address here
    if not all(isinstance(size, int) for size in sizes):
        checked = replace(checked, params=[_relaxed(param) for param in signature.params])
    exported = [_Exported(v) if isinstance(v, Described) else v for v in values]
    try:
        check(checked, *(v.tensor() if isinstance(v, _Exported) else v for v in exported))
    except (TypeError, ValueError) as error:
        texts = spec.short_text(checked), spec.short_text(signature)
        raise type(error)(str(error).replace(*texts)) from None


def _relaxed(param: spec.Param) -> spec.Param:
    """Return a tensor that may be of any size."""
    if isinstance(param, spec.Optional):
        return replace(param, param=_relaxed(param.param))
    if not isinstance(param, spec.Tensor) or param.any_rank:
        return param
    return replace(param, shape=[None] * param.ndim, strides="any")


class _Managed(ctypes.Structure):
    """``DLManagedTensor``; a NULL deleter, as Python owns the memory."""

    _fields_: ClassVar = [
        ("tensor", ctypes.c_char * abi.DLTENSOR_SIZE),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


# A prototype of its own: others set the types of the one that `pythonapi` has.
_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
_NAME: Final = b"dltensor"
"""A capsule keeps the address of its name."""


class _Exported:
    """A DLPack export of an array without memory; it must outlive the tensors made of it."""

    def __init__(self, array: Described) -> None:
        shape = [size if isinstance(size, int) else 1 for size in array.shape]
        self._device = abi.DEVICE_TYPES[array.device]
        self._shape = (ctypes.c_int64 * len(shape))(*shape)
        self._strides = (ctypes.c_int64 * len(shape))(*row_major(shape))
        self._managed = _Managed()
        code, bits, lanes = spec.parse_dtype(array.dtype)
        at = ctypes.addressof(self._managed)
        ctypes.c_uint64.from_address(at + abi.DLTENSOR_DATA).value = _ADDRESS
        ctypes.c_int32.from_address(at + abi.DLTENSOR_DEVICE_TYPE).value = self._device
        ctypes.c_int32.from_address(at + abi.DLTENSOR_NDIM).value = len(shape)
        ctypes.c_uint8.from_address(at + abi.DLTENSOR_DTYPE_CODE).value = code
        ctypes.c_uint8.from_address(at + abi.DLTENSOR_DTYPE_BITS).value = bits
        ctypes.c_uint16.from_address(at + abi.DLTENSOR_DTYPE_LANES).value = lanes
        for offset, values in (
            (abi.DLTENSOR_SHAPE, self._shape),
            (abi.DLTENSOR_STRIDES, self._strides),
        ):
            ctypes.c_uint64.from_address(at + offset).value = ctypes.addressof(values)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device, 0

    def __dlpack__(self, **_: object) -> Any:
        return _capsule(ctypes.addressof(self._managed), _NAME, None)

    def tensor(self) -> Any:
        """Return the ``tvm_ffi.Tensor``."""
        import tvm_ffi

        return tvm_ffi.from_dlpack(self)
