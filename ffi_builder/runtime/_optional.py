"""Imports of what `runtime` uses but `ffi_builder` does not install by itself, each on first use.

None of these packages is typed completely (llvmlite not at all), so what is used of them is
declared next to where it is used, as small Protocols, and this is the one place that hands out
`Any`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ffi_builder.errors import CompileError

_EXTRAS = {
    "llvmlite": ("llvmlite", "jit"),
    "tvm_ffi_orcjit": ("apache-tvm-ffi-orcjit", "jit"),
    "torch_mlir": ("torch-mlir", "mlir"),
}


def load(name: str) -> Any:
    """Import module `name`.

    Raises CompileError that says which extra to install if it is missing.
    """
    try:
        return import_module(name)
    except ImportError as error:
        top = name.partition(".")[0]
        if top not in _EXTRAS or (error.name is not None and error.name.partition(".")[0] != top):
            raise
        package, extra = _EXTRAS[top]
        raise CompileError(
            f"Compiling needs {package}, which cannot be imported ({error}): "
            f"pip install ffi_builder[{extra}]"
        ) from error
