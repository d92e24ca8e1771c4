"""`install_allocator`: allocate returned tensors where the caller's framework does not.

tvm-ffi uses PyTorch's allocator for calls with PyTorch tensors; NumPy has none. This package has
two allocators with the same results: one in C, in the extension (`entry/_allocator.h`), and one in
Python for processes without the extension, which takes 10 µs a tensor instead of 0.1 µs.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, Final

from ffi_builder import importing
from ffi_builder.runtime.python.dlpack import DLTensor, Managed
from ffi_builder.runtime.python.functions import extension
from ffi_builder.runtime.python.reading import Extension


class InstalledAllocator:
    """An allocator that is in use until :meth:`remove`, or the end of a ``with`` block.

    Examples:
        >>> from ffi_builder import runtime
        >>> installed = runtime.install_allocator()
        >>> installed.remove()
    """

    def __init__(self, before: int | None, *, every_thread: bool = False) -> None:
        self._before = before
        self._every_thread = every_thread
        self._installed = True

    def remove(self) -> None:
        """Reinstall the previous allocator; a second call does nothing."""
        if self._installed:
            self._installed = False
            (_install_everywhere if self._every_thread else _install)(self._before)

    def __enter__(self) -> InstalledAllocator:
        """Return itself: the allocator is installed already."""
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def __repr__(self) -> str:
        state = "installed" if self._installed else "removed"
        where = " on every thread" if self._every_thread else ""
        return f"<InstalledAllocator of CPU memory, {state}{where}>"


def install_allocator(*, every_thread: bool = False) -> InstalledAllocator:
    """Let functions that return tensors allocate CPU memory, in calls without PyTorch tensors too.

    The memory is aligned to 64 bytes, not initialised, and freed with the last tensor that uses it,
    also after :meth:`InstalledAllocator.remove`.

    In calls with PyTorch tensors, PyTorch's allocator takes precedence. C and C++ programs can
    install another allocator with `TVMFFIEnvSetDLPackManagedTensorAllocator`.

    Args:
        every_thread: install it for all threads that have no allocator, for example when a DSL is
            imported. Meanwhile no other thread may call a function that allocates. By default it
            is installed for this thread alone.

    Examples:
        >>> import numpy as np
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, providers, runtime, spec
        >>> n = spec.Var("n", "int64")
        >>> x = spec.Tensor("x", [n], "float32", device_type="cpu")
        >>> y = spec.Tensor("y", [n], "float32", device_type="cpu")
        >>> module = ir.Module.parse("", ir.Context())
        >>> kernel = providers.DirectCallProvider("memcpy", args=[y, x, n * 4])
        >>> attach(module, spec.Signature("copy", [x], returns=y), kernel)
        >>> copy = runtime.compile(module)["copy"]
        >>> with runtime.install_allocator():
        ...     np.from_dlpack(copy(np.arange(3, dtype="float32")))
        array([0., 1., 2.], dtype=float32)
    """
    if every_thread:
        return InstalledAllocator(_install_everywhere(_address()), every_thread=True)
    return InstalledAllocator(_install(_address()))


@cache
def _address() -> int:
    """Return the address of the allocator. It is never freed, since other code may keep it."""
    c_extension = extension()
    return c_extension.module.ALLOCATE if isinstance(c_extension, Extension) else python_address()


@cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(str(importing.load("tvm_ffi.libinfo").find_libtvm_ffi()))
    library.TVMFFIEnvGetDLPackManagedTensorAllocator.restype = ctypes.c_void_p
    return library


def _install(address: int | None, *, everywhere: bool = False) -> int | None:
    """Install an allocator, or none, and return the previous one of this thread."""
    before = ctypes.c_void_p()
    status = _library().TVMFFIEnvSetDLPackManagedTensorAllocator(
        ctypes.c_void_p(address), ctypes.c_int(everywhere), ctypes.byref(before)
    )
    assert status == 0
    return before.value


def _install_everywhere(address: int | None) -> int | None:
    """Install an allocator for threads without one, and return the previous one for them.

    This thread's own allocator hides the previous one, so remove it to ask, then put it back.
    """
    own = _install(None)
    before = _library().TVMFFIEnvGetDLPackManagedTensorAllocator()
    _install(address, everywhere=True)
    _install(own)
    return before


# ---- in Python; the comments are in `entry/_allocator.h`

ALIGNMENT: Final = 64
"""Alignment of the data in bytes: a cache line, and the widest vectors of x86-64."""
DEVICE: Final = "install_allocator() allocates on the CPU alone; the result is on another device"
SIZE: Final = "the result has more bytes than can be allocated"

_CPU: Final = 1
_LARGEST: Final = 1 << 62
_SetError = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)


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
"""The deleter. A tensor is one block, so freeing it needs no Python."""


def python_address() -> int:
    """Return the address of the allocator in Python, which is never freed."""
    function = _Allocate(_allocate)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(function))
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    return address


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
    shape_at = start + ctypes.sizeof(Managed)
    strides_at = shape_at + ctypes.sizeof(sizes)
    sizes.from_address(shape_at)[:] = shape
    sizes.from_address(strides_at)[:] = _strides(shape)
    managed = Managed.from_address(start)
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
    """Return the number of bytes in front of the data."""
    used = ctypes.sizeof(Managed) + 2 * ctypes.sizeof(ctypes.c_int64) * ndim
    return (used + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


def _strides(shape: tuple[int, ...]) -> list[int]:
    strides: list[int] = []
    stride = 1
    for size in reversed(shape):
        strides.append(stride)
        stride *= size
    return strides[::-1]
