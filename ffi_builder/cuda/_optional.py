"""Imports cuda-python, which is not installed with ffi_builder, on first use."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from ffi_builder.errors import CompileError
from ffi_builder.suggest import install

INSTALL: Final = f"{install('cuda')}, or [cuda12] for drivers of CUDA 12"


def bindings(name: str, what: str) -> Any:
    """Import ``cuda.bindings.<name>``; ``what`` is the function that needs it.

    Raises:
        CompileError: if it is not installed; the message says how to install it.
    """
    try:
        return import_module(f"cuda.bindings.{name}")
    except ImportError as error:
        raise CompileError(
            f"{what} needs cuda-bindings, which cannot be imported ({error}): {INSTALL}"
        ) from error
