"""The allocator in Python, for processes without llvmlite or the JIT."""

from __future__ import annotations

import ctypes
from typing import Any, Final

from ffi_builder.runtime.dlpack import DLTensor

ALIGNMENT: Final = 64
"""Alignment of the data in bytes: a cache line, and the widest vectors of x86-64."""
DEVICE: Final = "install_allocator() allocates on the CPU alone; the result is on another device"
SIZE: Final = "the result has more bytes than can be allocated"

_CPU: Final = 1
_LARGEST: Final = 1 << 62
_SetError = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)


class _Managed(ctypes.Structure):
    """`DLManagedTensorVersioned`, followed by shape, strides and the data."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    )


_Allocate = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.POINTER(DLTensor),
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_void_p,
    _SetError,
)
_libc: Final = ctypes.CDLL(None)
_libc.posix_memalign.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
_FREE: Final = ctypes.cast(_libc.free, ctypes.c_void_p).value
"""The deleter. Everything is in one block, so freeing it needs no Python."""


def address() -> int:
    """The address of the function, which is never freed."""
    function = _Allocate(_allocate)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(function))
    found = ctypes.cast(function, ctypes.c_void_p).value
    assert found is not None
    return found


def _allocate(prototype: Any, out: Any, context: int | None, set_error: Any) -> int:
    wanted = prototype.contents
    if wanted.device_type != _CPU:
        set_error(context, b"RuntimeError", DEVICE.encode())
        return -1
    sizes = ctypes.c_int64 * wanted.ndim
    shape = tuple(sizes.from_address(wanted.shape)) if wanted.ndim else ()
    bits = wanted.bits * wanted.lanes
    for size in shape:
        bits *= size
    head = _head(wanted.ndim)
    block = ctypes.c_void_p()
    if bits > _LARGEST or _libc.posix_memalign(
        ctypes.byref(block), ALIGNMENT, head + (bits + 7) // 8
    ):
        set_error(context, b"MemoryError", SIZE.encode())
        return -1
    start = block.value
    assert start is not None
    shape_at = start + ctypes.sizeof(_Managed)
    strides_at = shape_at + ctypes.sizeof(sizes)
    sizes.from_address(shape_at)[:] = shape
    sizes.from_address(strides_at)[:] = _strides(shape)
    managed = _Managed.from_address(start)
    # DLPack 1.0, no flags, no context.
    managed.major, managed.minor, managed.manager_ctx, managed.flags = 1, 0, None, 0
    managed.deleter = _FREE
    ctypes.memmove(ctypes.addressof(managed.tensor), prototype, ctypes.sizeof(DLTensor))
    tensor = managed.tensor
    tensor.data, tensor.shape, tensor.strides = start + head, shape_at, strides_at
    tensor.byte_offset = 0
    out[0] = start
    return 0


def _head(ndim: int) -> int:
    """The number of bytes in front of the data."""
    used = ctypes.sizeof(_Managed) + 2 * ctypes.sizeof(ctypes.c_int64) * ndim
    return (used + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


def _strides(shape: tuple[int, ...]) -> list[int]:
    strides: list[int] = []
    stride = 1
    for size in reversed(shape):
        strides.append(stride)
        stride *= size
    return strides[::-1]
