"""Which MLIR Python distribution a module comes from, and the little that differs between them.

The wrapper is built with the bindings of the module it goes into: ``torch_mlir``,
``jaxlib.mlir``, ``iree.compiler``, ``mlir``, or any other package of the same upstream bindings.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache
from typing import Any

from ffi_builder.errors import BuildError
from ffi_builder.ir.protocols import Module

_MARK = "._mlir_libs"
"""Upstream's native bindings live in this subpackage of every distribution."""


_REGISTERING = ("_jax_mlir_ext", "register_jax_dialects")
"""Native modules that register jaxlib's dialects: of today, and of jaxlib 0.6."""


@dataclass(frozen=True)
class Distribution:
    """The Python modules of one distribution; ``root`` is its package, such as ``jaxlib.mlir``."""

    root: str
    ir: Any

    def load_llvm(self, context: Any) -> None:
        """Load the LLVM dialect into a context that may not have it yet.

        Raises:
            BuildError: if the distribution has no LLVM dialect.
        """
        if hasattr(context, "is_dialect_loaded") and context.is_dialect_loaded("llvm"):
            return
        try:
            context.dialects["llvm"]
        except Exception as error:
            if not self._register(context):
                raise BuildError(
                    f"the MLIR distribution {self.root!r} has no LLVM dialect to build a wrapper "
                    f"in: {error}"
                ) from error

    def _register(self, context: Any) -> bool:
        """What jaxlib leaves to its users: to register its dialects with a context."""
        for name in _REGISTERING:
            try:
                extension = importlib.import_module(f"{self.root}{_MARK}.{name}")
            except ImportError:
                continue
            registry = self.ir.DialectRegistry()
            extension.register_dialects(registry)
            context.append_dialect_registry(registry)
            context.load_all_available_dialects()
            return True
        return False


def of_module(module: Module) -> Distribution:
    """The distribution whose ``ir.Module`` this is.

    Raises:
        BuildError: if it is not a module of upstream's MLIR bindings.
    """
    home = type(module).__module__
    root, mark, _ = home.partition(_MARK)
    if not mark or not hasattr(module, "body") or not hasattr(module, "context"):
        raise BuildError(
            "expected an ir.Module of an MLIR Python distribution (torch_mlir, jaxlib.mlir, "
            f"iree.compiler, mlir, …) but got {type(module).__name__} from {home!r}"
        )
    return named(root)


@cache
def named(root: str) -> Distribution:
    """The distribution whose package is ``root``, such as ``torch_mlir``.

    Raises:
        BuildError: if it cannot be imported.
    """
    try:
        bindings = importlib.import_module(f"{root}.ir")
        # Registers the classes of the dialect's operations with the bindings, for users' sake too.
        importlib.import_module(f"{root}.dialects.llvm")
    except ImportError as error:
        raise BuildError(
            f"the MLIR distribution {root!r} lacks a part that wrappers need: {error}"
        ) from error
    return Distribution(root, bindings)
