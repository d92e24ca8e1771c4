"""`install_allocator`: allocate returned tensors where the caller's framework does not.

tvm-ffi uses PyTorch's allocator for calls with PyTorch tensors; NumPy has none. There are two here
with the same results: one of machine code, and one in Python (10 µs a tensor instead of 0.1), for
processes without llvmlite or the JIT.
"""

from __future__ import annotations

import ctypes
from functools import cache
from types import TracebackType

from ffi_builder.errors import CompileError
from ffi_builder.runtime import _optional
from ffi_builder.runtime.allocator import native, python


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
        """Reinstall the allocator that was there before; a second call does nothing."""
        if self._installed:
            self._installed = False
            (_install_everywhere if self._every_thread else _install)(self._before)

    def __enter__(self) -> InstalledAllocator:
        """The allocator is installed already."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.remove()

    def __repr__(self) -> str:
        state = "installed" if self._installed else "removed"
        where = " on every thread" if self._every_thread else ""
        return f"<InstalledAllocator of CPU memory, {state}{where}>"


def install_allocator(*, every_thread: bool = False) -> InstalledAllocator:
    """Let functions that return tensors allocate CPU memory, in calls without PyTorch tensors too.

    The memory is aligned to 64 bytes, not initialised, and freed with the last tensor that uses it,
    also after :meth:`InstalledAllocator.remove`.

    In calls with PyTorch tensors PyTorch's allocator goes first. C and C++ programs install one of
    their own with `TVMFFIEnvSetDLPackManagedTensorAllocator`.

    Args:
        every_thread: for calls on all threads that have none of their own, such as once when a DSL
            is imported; while no other thread calls a function that allocates. Otherwise it is for
            calls on this thread.

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
    """The address of the allocator, which is never freed: others may have copied it."""
    try:
        for name in ("llvmlite", "tvm_ffi_orcjit"):
            _optional.load(name)
    except CompileError:
        return python.address()
    return native.address()


@cache
def _library() -> ctypes.CDLL:
    from tvm_ffi import libinfo

    library = ctypes.CDLL(str(libinfo.find_libtvm_ffi()))
    library.TVMFFIEnvGetDLPackManagedTensorAllocator.restype = ctypes.c_void_p
    return library


def _install(address: int | None, *, everywhere: bool = False) -> int | None:
    """Install an allocator, or none, and return the one that this thread had."""
    before = ctypes.c_void_p()
    status = _library().TVMFFIEnvSetDLPackManagedTensorAllocator(
        ctypes.c_void_p(address), ctypes.c_int(everywhere), ctypes.byref(before)
    )
    assert status == 0
    return before.value


def _install_everywhere(address: int | None) -> int | None:
    """Install an allocator for threads without one, and return the one that was there for them.

    This thread's own goes before it, so it is taken away to ask for the other, and put back.
    """
    own = _install(None)
    before = _library().TVMFFIEnvGetDLPackManagedTensorAllocator()
    _install(address, everywhere=True)
    _install(own)
    return before
