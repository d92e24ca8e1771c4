"""Loads bindings that `ffi_builder` does not install by itself, and MLIR's C API below them.

The bindings are imported on first use. They lack types, so `protocols` declares those that this
package uses, and only this module returns `Any`. MLIR's C API is available if the libraries of a
distribution export it.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from ffi_builder import importing
from ffi_builder.errors import CompileError
from ffi_builder.importing import Deferred
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
"""The package to install, the extra and a hint, by module."""


def load(name: str) -> Any:
    """Import `name`, which is part of an extra or of the MLIR distribution of a module.

    Raises CompileError that says what is missing, and how to install an extra.
    """
    try:
        return importing.load(name)
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
    """Return a message about those of these functions that the installed libtvm_ffi lacks.

    It is empty if none is missing. Later versions of libtvm_ffi have more functions.
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

capsule_pointer: Final = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
capsule_name: Final = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(
    ("PyCapsule_GetName", ctypes.pythonapi)
)
new_capsule: Final = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))


POINTER, CREATE = "_CAPIPtr", "_CAPICreate"
"""Attributes of MLIR's bindings that convert objects to and from its C API."""


def root_of(operation: object) -> str:
    """Return the root package of an operation's bindings.

    The type of a Context, or of an op's class, may be in another package.
    """
    return type(operation).__module__.partition("._mlir_libs")[0]


def ir_of(operation: object) -> Any:
    """Return the `ir` module of the distribution that an operation belongs to."""
    return ir_named(root_of(operation))


@functools.cache
def ir_named(root: str) -> Any:
    """Return the `ir` module of a distribution, after its dialects of whole functions.

    The bindings would import them once they meet such a function, wherever a handler interrupts it.
    """
    with Deferred():
        for name in ("builtin", "func", "llvm"):
            with contextlib.suppress(ImportError):
                importing.load(f"{root}.dialects.{name}")
        return load(f"{root}.ir")


@functools.cache
def library(root: str, *functions: str) -> ctypes.PyDLL | None:
    """Return the library of distribution `root` that has these functions, or None."""
    for folder in load(f"{root}._mlir_libs").__path__:
        for path in sorted(Path(folder).glob("lib*.so*")):
            try:
                # The right one is loaded already. PyDLL keeps the GIL, as the bindings do.
                candidate = ctypes.PyDLL(str(path), mode=os.RTLD_NOLOAD)
            except OSError:
                continue
            if all(hasattr(candidate, name) for name in functions):
                return candidate
    return None


def address(value: object) -> int | None:
    """Return the address of an object in MLIR's C API; None if its bindings do not give it."""
    capsule = getattr(value, POINTER, None)
    return None if capsule is None else capsule_pointer(capsule, capsule_name(capsule))


def type_at(address: int, operation: Operation) -> object | None:
    """Make a type at `address`, with the bindings of `operation`; None if they cannot."""
    types = ir_of(operation)
    capsule = getattr(types.NoneType.get(operation.context), POINTER, None)
    create = getattr(types.Type, CREATE, None)
    if capsule is None or create is None:
        return None
    return create(new_capsule(address, _kept(capsule_name(capsule)), None))


@functools.cache
def _kept(name: bytes) -> bytes:
    """Return a copy of `name` that stays alive, since a capsule keeps only the address."""
    return name
