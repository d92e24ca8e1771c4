"""`install_allocator`: allocate returned tensors where the caller's framework does not.

tvm-ffi uses PyTorch's allocator for calls with PyTorch tensors; NumPy has none. The one that is
installed here is a support function (`support/allocator.c`).
"""

from __future__ import annotations

import ctypes
from functools import cache

from ffi_builder import importing
from ffi_builder.runtime.jit.link import support_address


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
        return InstalledAllocator(
            _install_everywhere(support_address("allocate")), every_thread=True
        )
    return InstalledAllocator(_install(support_address("allocate")))


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
