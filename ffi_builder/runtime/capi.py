"""MLIR's C API, where the libraries of a distribution give it out."""

from __future__ import annotations

import ctypes
import functools
import os
from pathlib import Path
from typing import Any, cast

from ffi_builder.runtime import _optional
from ffi_builder.runtime.protocols import Operation


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
    """Where the operation is that the bindings hand out."""
    capsule = cast("Any", operation)._CAPIPtr
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.argtypes, get.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
    return get(capsule, _name(capsule))


def operation_at(address: int, other: Operation) -> Operation:
    """The operation at `address`, from the bindings that `other` is from.

    It may be used as long as something else keeps it alive.
    """
    bindings = cast("Any", other)
    make = ctypes.pythonapi.PyCapsule_New
    make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    make.restype = ctypes.py_object
    name = _kept(_name(bindings._CAPIPtr))
    return type(bindings)._CAPICreate(make(address, name, None))


def _name(capsule: Any) -> bytes:
    get = ctypes.pythonapi.PyCapsule_GetName
    get.argtypes, get.restype = [ctypes.py_object], ctypes.c_char_p
    return get(capsule)


@functools.cache
def _kept(name: bytes) -> bytes:
    """The one copy of `name` that stays: a capsule refers to its name."""
    return name
