"""MLIR's C API, where the libraries of a distribution give it out."""

from __future__ import annotations

import ctypes
import functools
import os
from pathlib import Path
from typing import Any, Final, cast

from ffi_builder.runtime import _optional
from ffi_builder.runtime.protocols import Operation

_POINTER_OF: Final = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_NAME_OF: Final = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(
    ("PyCapsule_GetName", ctypes.pythonapi)
)
_CAPSULE: Final = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))


@functools.cache
def library(root: str, function: str) -> ctypes.PyDLL | None:
    """The library of distribution `root` that has `function`, or None."""
    for folder in _optional.load(f"{root}._mlir_libs").__path__:
        for path in sorted(Path(folder).glob("lib*.so*")):
            try:
                # The right one is loaded already. PyDLL keeps the GIL, as the bindings do.
                found = ctypes.PyDLL(str(path), mode=os.RTLD_NOLOAD)
            except OSError:
                continue
            if hasattr(found, function):
                return found
    return None


@functools.cache
def addresses(root: str, functions: tuple[str, ...]) -> tuple[int, ...] | None:
    """The addresses of `functions`, all of one library, or None."""
    found = library(root, functions[0])
    if found is None or not all(hasattr(found, name) for name in functions):
        return None
    return tuple(ctypes.cast(found[name], ctypes.c_void_p).value or 0 for name in functions)


def address(operation: Operation) -> int:
    """Return the address of an operation of MLIR's C API."""
    capsule = cast("Any", operation)._CAPIPtr
    return _POINTER_OF(capsule, _NAME_OF(capsule))


def operation_at(address: int, other: Operation) -> Operation:
    """The operation at `address`, from the bindings that `other` is from.

    It may be used as long as something else keeps it alive.
    """
    name = _kept(_NAME_OF(cast("Any", other)._CAPIPtr))
    return cast("Any", type(other))._CAPICreate(_CAPSULE(address, name, None))


@functools.cache
def _kept(name: bytes) -> bytes:
    """The one copy of `name` that stays: a capsule refers to its name."""
    return name
