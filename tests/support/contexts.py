"""MLIR contexts that tests share: making one takes longer than to compile a wrapper."""

from __future__ import annotations

from typing import Any, Final

from ffi_builder.ir.distribution import named

MOST: Final = 32
"""Modules in one context. If a replaced one stays alive, tests/conftest.py fails the test of that moment."""

current: Final[dict[str, tuple[Any, int]]] = {}
"""The context of each distribution, and how many modules were made in it."""


def shared_context(distribution: str = "torch_mlir") -> Any:
    """Return a context that has the LLVM dialect, for one module."""
    context, used = current.get(distribution, (None, MOST))
    if used == MOST:
        bindings = named(distribution)
        context, used = bindings.ir.Context(), 0
        bindings.load_llvm(context)
    current[distribution] = context, used + 1
    return context
