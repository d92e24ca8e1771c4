"""Bindings that `ffi_builder` does not install by itself, and MLIR's C API below its bindings.

They are imported when they are first used. None of them is typed completely, so `protocols`
declares what is used of them, and this is the one place that hands out `Any`. MLIR's C API is there
where the libraries of a distribution give it out.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Iterable
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Final

from ffi_builder.errors import CompileError
from ffi_builder.runtime.protocols import Operation
from ffi_builder.suggest import install

_EXTRAS = {
    "llvmlite": ("llvmlite", "jit", ""),
    "tvm_ffi_orcjit": (
        "apache-tvm-ffi-orcjit",
        "jit",
        "; or make a library, which does not need it: runtime.lower(…).export_library(path), then "
        "runtime.load(path)",
    ),
    "torch_mlir": ("torch-mlir", "mlir", ""),
}
"""The package, the extra and a hint, by module."""


def load(name: str) -> Any:
    """Import `name`, of an extra, or of the MLIR distribution that a module belongs to.

    Raises CompileError that says what is missing, and for an extra how to install it.
    """
    try:
        return import_module(name)
    except ImportError as error:
        top = name.partition(".")[0]
        if top not in _EXTRAS:
            raise CompileError(
                f"Compiling needs {name} of the MLIR distribution that the module belongs to, "
                f"which cannot be imported ({error}); take the module over to another one, such as "
                f"torch-mlir, which reads it as text: "
                f"module.operation.get_asm(print_generic_op_form=True)"
            ) from error
        if error.name is not None and error.name.partition(".")[0] != top:
            raise
        package, extra, hint = _EXTRAS[top]
        raise CompileError(
            f"Compiling needs {package}, which cannot be imported ({error}): {install(extra)}{hint}"
        ) from error


def lacking(names: Iterable[str]) -> str:
    """Say which of these functions the installed libtvm_ffi should have, and has not.

    Empty if there is none. Later versions of libtvm_ffi have more functions.
    """
    library = load("tvm_ffi").LIB
    lacks = [name for name in names if name.startswith("TVMFFI") and not hasattr(library, name)]
    if not lacks:
        return ""
    listed = ", ".join(f"`{name}`" for name in lacks)
    return (
        f"apache-tvm-ffi {metadata.version('apache-tvm-ffi')} has no {listed}: install a later one"
    )


# ---- MLIR's C API

_POINTER_OF: Final = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_NAME_OF: Final = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(
    ("PyCapsule_GetName", ctypes.pythonapi)
)
_CAPSULE: Final = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))


POINTER, CREATE = "_CAPIPtr", "_CAPICreate"
"""Attributes with which MLIR's bindings take objects to and from its C API."""


def root_of(operation: object) -> str:
    """The package that an operation's bindings live in.

    The type of a Context, or of an op's class, may be in another one.
    """
    return type(operation).__module__.partition("._mlir_libs")[0]


def ir_of(operation: object) -> Any:
    """The `ir` module of the distribution that an operation belongs to."""
    return load(f"{root_of(operation)}.ir")


@functools.cache
def library(root: str, function: str) -> ctypes.PyDLL | None:
    """The library of distribution `root` that has `function`, or None."""
    for folder in load(f"{root}._mlir_libs").__path__:
        for path in sorted(Path(folder).glob("lib*.so*")):
            try:
                # The right one is loaded already. PyDLL keeps the GIL, as the bindings do.
                found = ctypes.PyDLL(str(path), mode=os.RTLD_NOLOAD)
            except OSError:
                continue
            if hasattr(found, function):
                return found
    return None


def address(value: object) -> int | None:
    """Return the address of an object of MLIR's C API; None if its bindings do not tell it."""
    capsule = getattr(value, POINTER, None)
    return None if capsule is None else _POINTER_OF(capsule, _NAME_OF(capsule))


def type_at(address: int, operation: Operation) -> object | None:
    """The type at `address`, from the bindings that `operation` is from; None if they make none."""
    types = ir_of(operation)
    capsule = getattr(types.NoneType.get(operation.context), POINTER, None)
    create = getattr(types.Type, CREATE, None)
    if capsule is None or create is None:
        return None
    return create(_CAPSULE(address, _kept(_NAME_OF(capsule)), None))


@functools.cache
def _kept(name: bytes) -> bytes:
    """The one copy of `name` that stays: a capsule refers to its name."""
    return name
