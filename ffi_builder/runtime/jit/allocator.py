"""An allocator for the tensors that functions return, where the caller's framework brings none.

tvm-ffi takes the allocator of PyTorch for calls with PyTorch tensors. NumPy has none. There are two
of ours with the same results: machine code, and where nothing is installed that makes such, Python
(10 µs a tensor instead of 0.1).
"""

from __future__ import annotations

import ctypes
from functools import cache
from types import TracebackType

from ffi_builder.errors import CompileError
from ffi_builder.runtime import _optional


class InstalledAllocator:
    """What :func:`install_allocator` gives: ``with`` it, or :meth:`remove`, ends what it began."""

    def __init__(self, before: int | None) -> None:
        self._before = before
        self._installed = True

    def remove(self) -> None:
        """Install again what was there before; a second call does nothing."""
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

    The memory is aligned to 64 bytes, not initialised, and freed with the last tensor on it, also
    after :meth:`InstalledAllocator.remove`. It holds for the thread that installs it::

        with runtime.install_allocator():
            y = compiled["softmax"](x)        # a tvm_ffi.Tensor; numpy.from_dlpack(y) is an array

    In calls with PyTorch tensors PyTorch's allocator goes first.

    C and C++ programs install one of their own by `TVMFFIEnvSetDLPackManagedTensorAllocator`.
    """
    return InstalledAllocator(_install(_address()))


@cache
def _address() -> int:
    """Of the function, which stays for good: somebody may have copied its address."""
    try:
        for name in ("llvmlite", "tvm_ffi_orcjit"):
            _optional.load(name)
    except CompileError:
        from ffi_builder.runtime.jit.allocate_python import address
    else:
        from ffi_builder.runtime.jit.allocate_native import address
    return address()


def _install(address: int | None) -> int | None:
    """Install an allocator (None: none), and return the one that was there."""
    from tvm_ffi import libinfo

    library = ctypes.CDLL(str(libinfo.find_libtvm_ffi()))
    before = ctypes.c_void_p()
    status = library.TVMFFIEnvSetDLPackManagedTensorAllocator(
        ctypes.c_void_p(address), ctypes.c_int(0), ctypes.byref(before)
    )
    assert status == 0
    return before.value
