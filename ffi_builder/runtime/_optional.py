"""Import packages that `ffi_builder` does not install by itself, when they are first used.

None of them is typed completely, so `protocols` declares what is used of them, and this is the one
place that hands out `Any`.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module, metadata
from typing import Any

from ffi_builder.errors import CompileError
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
