"""Lets the process watch its launches: wrappers wait after each, or call hooks.

All wrappers of the process share one ``CudaWatch`` (``ffi_builder/cuda/support/watch.c``), those
of exported libraries and of other versions too. Whoever needs it first makes it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, Final, TypeVar

from ffi_builder.cuda.launch import driver
from ffi_builder.extending import importing

_F = TypeVar("_F", bound="Callable[..., object]")

_INT: Final = 1
"""The index of tvm-ffi's type ``int``."""
_BEFORE: Final = "before"


def launch_blocking(on: bool) -> None:
    """Let wrappers wait for each kernel that they launch, from now on, or no longer.

    This replaces what the variable ``FFI_BUILDER_LAUNCH_BLOCKING`` says. It holds for all wrappers
    of the process, those of exported libraries too. If a kernel fails, the call that launched it
    raises an error with its name, its grid and block, the stream, and the values that it got.

    Args:
        on: whether to wait.

    Raises:
        TypeError: it is no bool.

    Examples:
        >>> from ffi_builder import cuda
        >>> cuda.launch_blocking(True)
        >>> cuda.launch_blocking(False)
    """
    if not isinstance(on, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"launch_blocking: expected True or False but got {on!r}")
    watch = _watch()
    watch.decided, watch.blocking = 1, on


def launch_hook(hook: _F | str | None) -> _F | None:
    """Call a function before and after each launch of a wrapper, from now on.

    It becomes the global function ``ffi_builder.launch_hook.v1`` of tvm-ffi, in place of the one
    before it. It is called as ``hook(phase, kernel, grid, block, shared, stream, device)``, where
    ``phase`` is ``"before"`` or ``"after"``, ``grid`` and ``block`` have three ints each,
    ``shared`` is the dynamic shared memory in bytes, ``stream`` an address and ``device`` a number.
    What it raises fails the call. docs/profiling.md has examples.

    Args:
        hook: the function; ``"nvtx"`` for a range of NVTX around each launch, with the package
            ``nvtx``; or None to call none.

    Returns:
        ``hook`` if it is a function, so that this is a decorator.

    Raises:
        TypeError: it is none of these.
        ModuleNotFoundError: it is ``"nvtx"``, which is not installed.

    Examples:
        >>> from ffi_builder import cuda
        >>> @cuda.launch_hook
        ... def hook(phase, kernel, grid, block, shared, stream, device):
        ...     print(phase, kernel, *grid)
        >>> cuda.launch_hook(None)
    """
    if hook is not None and not callable(hook) and hook != "nvtx":
        raise TypeError(f"launch_hook: expected a function, 'nvtx' or None but got {hook!r}")
    function = hook if hook is None or callable(hook) else _nvtx_hook()
    _register(driver.LAUNCH_HOOK, function)
    _watch().hook = function is not None
    return hook if callable(hook) else None


def load_hook(hook: _F | None) -> _F | None:
    """Call a function when an image was loaded, before its first launch on each device.

    It becomes the global function ``ffi_builder.load_hook.v1`` of tvm-ffi, in place of the one
    before it. It is called as ``hook(kernel, library, device)``: the kernel that is launched first,
    the address of the ``CUlibrary``, and the number of the device, of which a context is current.
    What it raises fails the call, and the next launch calls it again. Images that are loaded
    already are not left out: their next launches call it.

    Args:
        hook: the function, or None to call none.

    Returns:
        ``hook``, so that this is a decorator.

    Raises:
        TypeError: it is no function.

    Examples:
        >>> import numpy as np
        >>> from ffi_builder import cuda
        >>> @cuda.load_hook
        ... def hook(kernel, library, device):
        ...     if kernel == "scale":
        ...         cuda.device_global(library, "factor", np.float32(2))
        >>> cuda.load_hook(None)
    """
    if hook is not None and not callable(hook):  # pyright: ignore[reportUnnecessaryComparison]
        raise TypeError(f"load_hook: expected a function or None but got {hook!r}")
    _register(driver.LOAD_HOOK, hook)
    _watch().load = hook is not None
    return hook


def _register(name: str, hook: Callable[..., object] | None) -> None:
    """Register a global function of tvm-ffi, or remove it."""
    tvm_ffi = importing.load("tvm_ffi")
    if hook is not None:
        tvm_ffi.register_global_func(name, hook, override=True)
    elif tvm_ffi.get_global_func(name, allow_missing=True) is not None:
        tvm_ffi.registry.remove_global_func(name)


def _nvtx_hook() -> Callable[..., None]:
    """Return a hook that opens and closes ranges, whose names are those of kernels."""
    try:
        nvtx = importing.load("nvtx")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "launch_hook: 'nvtx' needs NVIDIA's package: pip install nvtx", name=error.name
        ) from None

    def hook(phase: str, kernel: str, *_: object) -> None:
        if phase == _BEFORE:
            nvtx.push_range(kernel, domain="ffi_builder")
        else:
            nvtx.pop_range(domain="ffi_builder")

    return hook


# ---- the CudaWatch


class _Flags(ctypes.Structure):
    _fields_ = (
        ("blocking", ctypes.c_uint8),
        ("hook", ctypes.c_uint8),
        ("load", ctypes.c_uint8),
        ("other", ctypes.c_uint8),
        ("decided", ctypes.c_int32),
        ("said", ctypes.c_int32),
    )


class _Bytes(ctypes.Structure):
    _fields_ = (("data", ctypes.c_char_p), ("size", ctypes.c_size_t))


class _Any(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("padding", ctypes.c_int32), ("value", ctypes.c_int64))


class _Column(ctypes.Structure):
    _fields_ = (("data", ctypes.POINTER(_Any)), ("size", ctypes.c_int32), ("begin", ctypes.c_int32))


@cache
def _watch() -> Any:
    """Return what the process watches."""
    library = ctypes.CDLL(str(importing.load("tvm_ffi.libinfo").find_libtvm_ffi()))
    name = driver.WATCH.encode()
    text = _Bytes(name, len(name))
    address = _known(library, text)
    if address is None:
        allocate = ctypes.CDLL(None).calloc
        allocate.restype = ctypes.c_void_p
        made = _Any(_INT, 0, allocate(1, ctypes.sizeof(_Flags)))
        # If other code has registered one meanwhile, this does nothing.
        library.TVMFFITypeRegisterAttr(_INT, ctypes.byref(text), ctypes.byref(made))
        address = _known(library, text)
    assert address is not None
    return _Flags.from_address(address)


def _known(library: ctypes.CDLL, name: _Bytes) -> int | None:
    library.TVMFFIGetTypeAttrColumn.restype = ctypes.POINTER(_Column)
    column = library.TVMFFIGetTypeAttrColumn(ctypes.byref(name))
    if not column:
        return None
    at = _INT - column.contents.begin
    known = 0 <= at < column.contents.size and column.contents.data[at].type == _INT
    return column.contents.data[at].value if known else None
