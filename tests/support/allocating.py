"""An allocator, as frameworks bring one, that counts what is alive, and fails when asked to."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Generator
from contextlib import contextmanager
from math import prod
from typing import Any, TypeAlias

from tvm_ffi import libinfo

from ffi_builder import abi
from ffi_builder.spec.dtypes import DataType, parse_dtype

_LIBRARY = ctypes.CDLL(libinfo.find_libtvm_ffi())
_SET_ERROR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
_ALLOCATE = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, _SET_ERROR
)
_DELETE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_VERSION = struct.pack("<II", 1, 1)
_ALIGNMENT = 64
_DIRT = 0xA5
"""The byte that fills new memory, which nobody has set to zero."""
_MADE: list[CountingAllocator] = []
"""All allocators. What one has made needs it, and a test may leave a tensor to the garbage."""


Memory: TypeAlias = Callable[[tuple[int, ...], str, int], tuple[int, object]]
"""Makes memory for a shape, a dtype and a device id: returns its address, and what keeps it."""


def host_memory(shape: tuple[int, ...], dtype: str, device_id: int) -> tuple[int, object]:
    """Memory of the CPU, filled with dirt."""
    del device_id
    size = prod(shape) * parse_dtype(dtype).total_bits // 8 + 2 * _ALIGNMENT
    memory = (ctypes.c_uint8 * size)(*[_DIRT] * size)
    return -(-ctypes.addressof(memory) // _ALIGNMENT) * _ALIGNMENT, memory


class CountingAllocator:
    """Counts allocations. ``asked`` has the shape, dtype and device of every one."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.alive: dict[int, Any] = {}
        self.asked: list[tuple[tuple[int, ...], str, tuple[int, int]]] = []
        self.fail_at: int | None = None
        """The number of the allocation that fails, from 0."""
        self.misplaced = 0
        """Bytes between a multiple of 64 and the memory."""
        self.allocate = _ALLOCATE(self._allocate)
        self.delete = _DELETE(self._delete)
        _MADE.append(self)

    def _allocate(self, prototype: int, out: Any, context: int, set_error: Any) -> int:
        tensor = ctypes.string_at(prototype, abi.DLTENSOR_SIZE)
        device = struct.unpack_from("<ii", tensor, abi.DLTENSOR_DEVICE_TYPE)
        (ndim,) = struct.unpack_from("<i", tensor, abi.DLTENSOR_NDIM)
        code, bits, lanes = struct.unpack_from("<BBH", tensor, abi.DLTENSOR_DTYPE)
        (shape_at,) = struct.unpack_from("<Q", tensor, abi.DLTENSOR_SHAPE)
        shape = tuple((ctypes.c_int64 * ndim).from_address(shape_at)) if ndim else ()
        dtype = str(DataType(code, bits, lanes))
        self.asked.append((shape, dtype, device))
        if self.fail_at == len(self.asked) - 1:
            set_error(context, b"MemoryError", b"no room")
            return -1
        address, memory = self.memory(shape, dtype, device[1])
        strides = [prod(shape[axis + 1 :]) for axis in range(ndim)]
        dims = (ctypes.c_int64 * max(2 * ndim, 1))(*shape, *strides)
        described = bytearray(tensor)
        struct.pack_into("<Q", described, abi.DLTENSOR_DATA, address + self.misplaced)
        at = ctypes.addressof(dims)
        struct.pack_into("<QQ", described, abi.DLTENSOR_SHAPE, at, at + 8 * ndim)
        deleter = ctypes.cast(self.delete, ctypes.c_void_p).value
        head = _VERSION + struct.pack("<QQQ", 0, deleter, 0)
        block = ctypes.create_string_buffer(head + bytes(described))
        self.alive[ctypes.addressof(block)] = block, memory, dims
        out[0] = ctypes.addressof(block)
        return 0

    def _delete(self, block: int) -> None:
        del self.alive[block]


@contextmanager
def counting(memory: Memory = host_memory) -> Generator[CountingAllocator]:
    """Make a counting allocator this thread's, for a while."""
    made, before = CountingAllocator(memory), ctypes.c_void_p()
    set_ = _LIBRARY.TVMFFIEnvSetDLPackManagedTensorAllocator
    assert set_(made.allocate, 0, ctypes.byref(before)) == 0
    try:
        yield made
    finally:
        assert set_(before, 0, None) == 0
