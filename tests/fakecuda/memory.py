"""Arrays in the fake's device memory, as the ``tvm_ffi.Tensor`` that a wrapper takes."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ffi_builder import abi
from ffi_builder.fakecuda.driver import FakeDriver
from ffi_builder.spec.dtypes import parse_dtype
from ffi_builder.testing.make.arrays import Array

_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


@dataclass(frozen=True)
class DeviceArray:
    """A row-major array of zeros on a device; it lives until the driver is reset."""

    driver: FakeDriver
    shape: tuple[int, ...]
    dtype: str
    device: int = 0
    address: int = field(init=False)
    host: npt.NDArray[Any] = field(init=False)
    """The same memory, for the host to read and write."""

    def __post_init__(self) -> None:
        count = prod(self.shape)
        size = max(count, 1) * np.dtype(self.dtype).itemsize
        memory, address = self.driver.allocate(self.device, size)
        self.driver.keep(memory)
        object.__setattr__(self, "address", address)
        flat: Any = memory
        flat = flat[: count * np.dtype(self.dtype).itemsize].view(self.dtype)
        object.__setattr__(self, "host", flat.reshape(self.shape))

    def tensor(
        self,
        strides: Sequence[int] | None = None,
        *,
        byte_offset: int = 0,
        device: int | None = None,
        kind: str = "cuda",
    ) -> Any:
        """The array as a tensor: see :func:`tensor_at`. Another ``device`` than its own is a lie."""
        number = self.device if device is None else device
        return tensor_at(self.address, self.shape, self.dtype, number, strides, byte_offset, kind)


def tensor_at(
    address: int,
    shape: Sequence[int],
    dtype: str,
    device: int = 0,
    strides: Sequence[int] | None = None,
    byte_offset: int = 0,
    kind: str = "cuda",
) -> Any:
    """A ``tvm_ffi.Tensor`` on ``cuda:device``, of memory that it does not own.

    ``strides`` are in elements, left out row-major; ``byte_offset`` is the field of the DLTensor.
    ``kind`` is another type of device, such as ``cuda_managed``.
    """
    import tvm_ffi

    if strides is None:
        strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    element = parse_dtype(dtype)
    # NumPy gets an array that it can allocate, with room for these sizes and strides.
    described = Array("array", element, (2,) * len(shape), (2,) * len(shape), device_id=device)
    code = abi.DEVICE_TYPES[kind]
    entries = tuple(shape), tuple(strides)
    return tvm_ffi.from_dlpack(_Exported(described, entries, address, (code, device), byte_offset))


def device_array(driver: FakeDriver, content: npt.NDArray[Any], device: int = 0) -> DeviceArray:
    """A copy of a host array on a device."""
    made = DeviceArray(driver, content.shape, str(content.dtype), device)
    made.host[...] = content
    return made


class _Exported:
    """NumPy's capsule of other memory, of which what matters is written over; NumPy frees it."""

    def __init__(
        self,
        array: Array,
        entries: tuple[Sequence[int], Sequence[int]],
        address: int,
        device: tuple[int, int],
        byte_offset: int,
    ) -> None:
        self._array = array
        self._entries = entries
        self._address = address
        self._device = device
        self._byte_offset = byte_offset

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device

    def __dlpack__(self, **_: object) -> Any:
        capsule = self._array.capsule(self._array.allocate())
        tensor = _capsule_pointer(capsule, b"dltensor")
        assert tensor is not None
        ctypes.c_uint64.from_address(tensor + abi.DLTENSOR_DATA).value = self._address
        ctypes.c_int32.from_address(tensor + abi.DLTENSOR_DEVICE_TYPE).value = self._device[0]
        ctypes.c_uint64.from_address(tensor + abi.DLTENSOR_BYTE_OFFSET).value = self._byte_offset
        for at, values in zip(
            (abi.DLTENSOR_SHAPE, abi.DLTENSOR_STRIDES), self._entries, strict=True
        ):
            array = ctypes.c_uint64.from_address(tensor + at).value
            for index, value in enumerate(values):
                ctypes.c_int64.from_address(array + 8 * index).value = value
        return capsule
