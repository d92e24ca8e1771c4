"""An allocator of memory of the fake driver's devices, which counts what is alive."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

from tvm_ffi import libinfo

from ffi_builder import abi, spec
from tests.cuda.fake import DeviceArray, FakeDriver

_LIBRARY = ctypes.CDLL(libinfo.find_libtvm_ffi())
_ALLOCATE = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, ctypes.c_void_p
)
_DELETE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_DIRT = 7
_VERSION = struct.pack("<II", 1, 1)


class Allocator:
    """What a framework brings: allocates on the fake's devices, and counts."""

    def __init__(self, driver: FakeDriver) -> None:
        self.driver = driver
        self.alive: dict[int, tuple[Any, DeviceArray]] = {}
        self.arrays: list[DeviceArray] = []
        self.allocate = _ALLOCATE(self._allocate)
        self.delete = _DELETE(self._delete)

    def _allocate(self, prototype: int, out: Any, _context: Any, _set_error: Any) -> int:
        """A DLManagedTensorVersioned: version, context, deleter, flags, DLTensor."""
        tensor = ctypes.string_at(prototype, abi.DLTENSOR_SIZE)
        (device,) = struct.unpack_from("<i", tensor, abi.DLTENSOR_DEVICE_TYPE + 4)
        (ndim,) = struct.unpack_from("<i", tensor, abi.DLTENSOR_NDIM)
        (shape_at,) = struct.unpack_from("<Q", tensor, abi.DLTENSOR_SHAPE)
        shape = tuple((ctypes.c_int64 * ndim).from_address(shape_at))
        dtype = spec.DataType(*struct.unpack_from("<BBH", tensor, abi.DLTENSOR_DTYPE))
        array = DeviceArray(self.driver, shape, str(dtype), device)
        array.host[...] = _DIRT
        strides = [prod(shape[axis + 1 :]) for axis in range(ndim)]
        dims = (ctypes.c_int64 * (2 * ndim))(*shape, *strides)
        at = ctypes.addressof(dims)
        described = bytearray(tensor)
        struct.pack_into("<Q", described, abi.DLTENSOR_DATA, array.address)
        struct.pack_into("<QQ", described, abi.DLTENSOR_SHAPE, at, at + 8 * ndim)
        deleter = ctypes.cast(self.delete, ctypes.c_void_p).value
        block = ctypes.create_string_buffer(
            _VERSION + struct.pack("<QQQ", 0, deleter, 0) + bytes(described)
        )
        self.alive[ctypes.addressof(block)] = ((block, dims), array)
        self.arrays.append(array)
        out[0] = ctypes.addressof(block)
        return 0

    def _delete(self, block: int) -> None:
        del self.alive[block]


@contextmanager
def allocating(driver: FakeDriver) -> Iterator[Allocator]:
    """Make such an allocator the process's, for a while."""
    made = Allocator(driver)
    before = ctypes.c_void_p()
    set_ = _LIBRARY.TVMFFIEnvSetDLPackManagedTensorAllocator
    assert set_(made.allocate, 1, ctypes.byref(before)) == 0
    yield made
    assert set_(before, 1, None) == 0
