"""An allocator for tvm-ffi: results and Workspaces of wrappers, on devices of the fake driver."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, Final

from ffi_builder.extending import DataType, abi, contiguous, importing
from ffi_builder.runtime.extending import DLTensor, Managed
from ffi_builder.testing.make import devices
from ffi_builder.testing.make.arrays import Array

_SET_ERROR: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
_ALLOCATE: Final = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, _SET_ERROR
)
_DELETE: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_KINDS: Final = {code: kind for kind, code in abi.DEVICE_TYPES.items()}
_DIRT: Final = 0xCB
"""The byte that fills new memory, as a kernel must not rely on what is there."""

_alive: dict[int, Any] = {}
"""What tensors are made of, by the address of their ``DLManagedTensorVersioned``."""


def install(allocator: int | None) -> int | None:
    """Let wrappers that this thread calls use an allocator; return the previous one."""
    before = ctypes.c_void_p()
    status = _library().TVMFFIEnvSetDLPackManagedTensorAllocator(
        ctypes.c_void_p(allocator), 0, ctypes.byref(before)
    )
    assert status == 0
    return before.value


def address() -> int:
    """Return the address of the allocator. It is never freed, since other code may keep it."""
    pointer = ctypes.cast(_allocate, ctypes.c_void_p).value
    assert pointer is not None
    return pointer


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(str(importing.load("tvm_ffi.libinfo").find_libtvm_ffi()))


@_DELETE
def _delete(block: int) -> None:
    del _alive[block]


@_ALLOCATE
def _allocate(prototype: int, out: Any, context: int, set_error: Any) -> int:
    try:
        out[0] = _made(DLTensor.from_address(prototype))
    except Exception as error:  # it cannot pass through C
        set_error(context, b"MemoryError", str(error).encode())
        return -1
    return 0


def _made(prototype: DLTensor) -> int:
    """Make the tensor that a ``DLTensor`` without data describes."""
    device, ndim = prototype.device_id, prototype.ndim
    shape = tuple((ctypes.c_int64 * ndim).from_address(prototype.shape)) if ndim else ()
    name = _KINDS.get(prototype.device_type, str(prototype.device_type))
    if name != "cpu" and devices.active(name) is None:
        raise MemoryError(f"FakeCuda: no memory for a tensor on {name}:{device}")
    dtype, strides = DataType(prototype.code, prototype.bits, prototype.lanes), contiguous(shape)
    array = Array("result", dtype, shape, strides, 256, device, device_type=name)
    memory = array.allocate()
    memory.bytes[:] = _DIRT
    layout = (ctypes.c_int64 * max(2 * ndim, 1))(*shape, *strides)
    block = Managed(1, 1, None, ctypes.cast(_delete, ctypes.c_void_p), 0, prototype)
    block.tensor.data = memory.address + memory.offset
    block.tensor.shape = ctypes.addressof(layout)
    block.tensor.strides = block.tensor.shape + 8 * ndim
    _alive[ctypes.addressof(block)] = block, memory, layout
    return ctypes.addressof(block)
