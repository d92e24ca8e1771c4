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
    """An allocator that is in use until :meth:`remove`, or the end of a ``with`` block."""

    def __init__(self, before: int | None) -> None:
        self._before = before
        self._installed = True

    def remove(self) -> None:
        """Reinstall the allocator that was there before; a second call does nothing."""
        if self._installed:
            self._installed = False
            _install(self._before)

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
        return f"<InstalledAllocator of CPU memory, {state}>"


def install_allocator() -> InstalledAllocator:
    """Let functions that return tensors allocate CPU memory, in calls without PyTorch tensors too.

    The memory is aligned to 64 bytes, not initialised, and freed with the last tensor that uses it,
    also after :meth:`InstalledAllocator.remove`. It is for calls on the thread that installs it::

        with runtime.install_allocator():
            y = compiled["softmax"](x)        # a tvm_ffi.Tensor; numpy.from_dlpack(y) is an array

    In calls with PyTorch tensors PyTorch's allocator goes first. C and C++ programs install one of
    their own with `TVMFFIEnvSetDLPackManagedTensorAllocator`.
    """
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


def _install(address: int | None) -> int | None:
    """Install an allocator, or none, and return the one that was there."""
    from tvm_ffi import libinfo

    library = ctypes.CDLL(str(libinfo.find_libtvm_ffi()))
    before = ctypes.c_void_p()
    status = library.TVMFFIEnvSetDLPackManagedTensorAllocator(
        ctypes.c_void_p(address), ctypes.c_int(0), ctypes.byref(before)
    )
    assert status == 0
    return before.value
