"""Sets up the reading of calls in C, and says for which frameworks' arrays it works, or why not.

The environment variable `FFI_BUILDER_ENTRY=python` turns it off.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

import tvm_ffi

from ffi_builder.entry import layouts
from ffi_builder.entry.layouts import LayoutError, modes, torch_layout
from ffi_builder.extending import importing
from ffi_builder.runtime.extending import Extension, Reading

VARIABLE: Final = "FFI_BUILDER_ENTRY"
_ADDRESSES: Final = (
    "TVMFFIObjectIncRef",
    "TVMFFIObjectDecRef",
    "TVMFFIStringFromByteArray",
    "TVMFFIBytesFromByteArray",
    "TVMFFIErrorMoveFromRaised",
    "TVMFFIEnvSetStream",
)
_BUFFERS: Final = {
    *("builtins.bytes", "builtins.bytearray", "builtins.memoryview"),
    *("array.array", "mmap.mmap"),
}
_OF_ARRAYS: Final = {"_length_", "_type_", "__module__", "__doc__", "__dict__", "__weakref__"}
"""Attributes of classes of arrays of ctypes. A class with more may export DLPack, too."""

_Made = TypeVar("_Made")

tried: dict[str, Reading] = {}
"""The results of setting up frameworks and classes, by name."""


_extensions: list[Extension | Reading] = []
_operators: list[Any] = []
"""Empty until somebody asks. Then the type of entries for torch's operators, or None."""
_lock = threading.RLock()


def extension(bases: tuple[type, ...], handle: type) -> Extension | Reading:
    """Return the extension, or why it is not used.

    Instances of `handle` have slots: `_address`, an int for those that are open, and `pointee`.
    `bases` are the base classes of the type of entries. They end with `tvm_ffi.Function`, and have
    a `__call__` for tools that look it up. Only the first call uses them, since the process has one
    such type.
    """
    return _once(_extensions, _set_up, bases, handle)


def _once(made: list[_Made], make: Callable[..., _Made], *args: object) -> _Made:
    """Make something when it is first asked for, in one thread."""
    if not made:
        with _lock:
            if not made:
                with importing.Deferred():
                    made.append(make(*args))
    return made[0]


def _set_up(bases: tuple[type, ...], handle: type) -> Extension | Reading:
    if reason := _switched_off():
        return Reading("calls", reason)
    try:
        # No contract sees a binary, here our own. `from … import` would hide that it is missing.
        module = importlib.import_module("ffi_builder.entry._entry")
    except ModuleNotFoundError as error:
        return Reading("calls", f"the extension was not built for this Python ({error})")
    except ImportError as error:
        return Reading("calls", f"the extension cannot be loaded: {error}")
    try:
        finish = tvm_ffi.Function.__from_extern_c__(module.FINISH, keep_alive_object=None)
        finish.release_gil = False
        made = _made_type(module, bases, finish)
        made.__doc__ = bases[0].__dict__["__doc__"]  # the new type's own `__doc__` is None
        module.use_finish(finish)
        offset = layouts.function_layout(_functions(finish)).handle
        _try("tvm_ffi", lambda: _use_managed(module, offset))
        _try("handles", lambda: _use_addresses(module, handle))
        return Extension(module, lambda: made.__new__(made))
    except (LayoutError, AttributeError) as error:
        return Reading("calls", str(error))


def _switched_off() -> str:
    """Return why the extension must not even be loaded; empty if it may be loaded."""
    if os.environ.get(VARIABLE, "") == "python":
        return f"turned off by {VARIABLE}=python"
    if sys.implementation.name != "cpython":
        return f"this is {sys.implementation.name}"
    # Free-threaded builds would load an extension for the limited API, but lay out objects in
    # another way, and the extension does not lock data that threads share.
    if "t" in sys.abiflags:
        return "this is a free-threaded build of CPython"
    return ""


def operators(bases: tuple[type, ...]) -> Callable[[], Any] | None:
    """Return a function that makes entries for operators of torch; None if C cannot read tensors.

    While a mode of torch is on, these entries do not read calls. `bases` are the base classes of
    the type, which is made once. They end with `tvm_ffi.Function`, and have a `__call__` for tools
    that look it up.
    """
    made = _once(_operators, _operator_type, bases)
    return None if made is None else lambda: made.__new__(made)


def _operator_type(bases: tuple[type, ...]) -> Any:
    module = _seeing_modes()
    if module is None:
        return None
    return _made_type(module, bases, tvm_ffi.get_global_func("ffi.Array"))


def watcher() -> Callable[[], bool] | None:
    """Return a C function that tells whether a mode or autocast of torch is on, or None."""
    module = _seeing_modes()
    return None if module is None else module.is_watched


def _seeing_modes() -> Any:
    """Return the extension if it can read torch's tensors and see its modes, else None."""
    chosen = _extensions[0] if _extensions else None
    if not isinstance(chosen, Extension) or tried.get("torch") != Reading("torch"):
        return None
    name = "operators of torch"
    with _lock:
        if name not in tried:
            _try(name, lambda: chosen.module.use_modes(*modes(sys.modules["torch"])))
    return None if tried[name].reason else chosen.module


def _functions(one: tvm_ffi.Function) -> list[tvm_ffi.Function]:
    """Return functions with different handles."""
    return [one, tvm_ffi.get_global_func("ffi.Array"), tvm_ffi.get_global_func("ffi.Map")]


def _made_type(module: Any, bases: tuple[type, ...], function: tvm_ffi.Function) -> Any:
    layout = layouts.function_layout(_functions(function))
    addresses = tuple(layouts.address_of(tvm_ffi.LIB, name) for name in _ADDRESSES)
    return module.make_type(bases, *layout, addresses, _learner(module))


def _learner(module: Any) -> Callable[[type], None]:
    def learn(cls: type) -> None:
        """Read values of this class as buffers, or by its exchange API, if that suffices."""
        if _is_buffer(cls):
            module.use_buffer(cls)
            return
        torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
        # For torch's own tensors the keys must be read, and a subclass may change their meaning.
        if torch is not None and issubclass(cls, torch.Tensor):
            return
        # The general path knows where an array that never changes may be passed.
        if jax is not None and issubclass(cls, jax.Array):
            return
        if "__dlpack_c_exchange_api__" not in cls.__dict__:
            return
        name = f"{cls.__module__}.{cls.__qualname__}"
        _try(name, lambda: module.use_exchange(cls, layouts.exchange_api(cls)))

    return learn


def _is_buffer(cls: type) -> bool:
    """Return whether values of a class are buffers; of others, the general path knows more."""
    is_array = cls.__bases__ == (ctypes.Array,) and vars(cls).keys() <= _OF_ARRAYS
    return is_array or f"{cls.__module__}.{cls.__qualname__}" in _BUFFERS


def use_frameworks(module: Any) -> None:
    """Set up NumPy and PyTorch, if they have been imported since the last call."""
    for name, use in (("numpy", _use_numpy), ("torch", _use_torch)):
        if name in tried or (framework := sys.modules.get(name)) is None:
            continue
        with _lock:
            # Another thread may be importing it, or may have set it up already.
            if name not in tried and not getattr(framework.__spec__, "_initializing", False):
                _try(name, functools.partial(use, module, framework))


def readings() -> list[Reading]:
    """Return the results of all attempts so far, in order."""
    return list(tried.values())


def _try(name: str, use: Callable[[], object]) -> None:
    try:
        with importing.Deferred():
            use()
    except Exception as error:
        # A framework that is not laid out as expected takes the general path.
        tried[name] = Reading(name, str(error) or type(error).__name__)
    else:
        tried[name] = Reading(name)


def _use_managed(module: Any, handle: int) -> None:
    """Read `tvm_ffi.Tensor`s: their handle is where functions have it, as both inherit it."""
    if tvm_ffi.Tensor.__chandle__ is not tvm_ffi.Function.__chandle__:
        raise LayoutError("tvm_ffi.Tensor and tvm_ffi.Function have no handle in common")
    module.use_managed(tvm_ffi.Tensor, tvm_ffi.Shape, handle)


def _use_addresses(module: Any, handle: type) -> None:
    slots = [layouts.slot(handle, name) for name in ("_address", "pointee")]
    module.use_addresses(handle, *slots, ctypes.c_void_p, layouts.contents_of_pointer())


def _use_numpy(module: Any, numpy: Any) -> None:
    dtypes = layouts.numpy_dtypes(numpy)
    # NumPy 2.2 omits strides where it can, and tvm-ffi then writes those of a row-major array.
    odd = numpy.lib.stride_tricks.as_strided(numpy.zeros(8), (1, 2), (400, 8))
    row_major = tvm_ffi.from_dlpack(odd).strides == (2, 1)
    module.use_numpy(numpy.ndarray, dtypes, row_major)


def _use_torch(module: Any, torch: Any) -> None:
    module.use_torch(torch.Tensor, torch.nn.Parameter, *torch_layout(torch))
