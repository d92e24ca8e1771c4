"""Imports JAX and jax-tvm-ffi, which are not installed with ffi_builder, on first use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ffi_builder.suggest import install


def load(name: str) -> Any:
    """Import ``name``, a module of JAX or of jax-tvm-ffi.

    Raises:
        ModuleNotFoundError: it is not installed; the message says how to install it.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"a function of JAX needs {name.partition('.')[0]}, which cannot be imported "
            f"({error}): {install('jax')}, with Python 3.11 or later",
            name=error.name,
        ) from error
