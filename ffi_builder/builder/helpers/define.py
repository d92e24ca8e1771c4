"""Defines the helper functions that all wrappers of a module share.

A helper's name begins with ``__ffi_builder_shared_`` and ends in a digest of the diagnosis and of
this package's version. Equal names therefore mean equal bodies, and a JIT may link one copy for all
modules of a process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

from ffi_builder.diagnosis.library import library
from ffi_builder.ir import Builder, Symbols, Type, Value, mark_trusted
from ffi_builder.protocol import SHARED
from ffi_builder.records import dataclass

EXTENT_SIZE: Final = 16
"""Bytes of the first and the last address of a tensor, as the helpers of lists compare them."""
_KEEPS_REGISTERS: Final = "#llvm.cconv<preserve_mostcc>"


@cache
def shared_name(name: str) -> str:
    """The symbol of a helper."""
    return f"{SHARED}{name}_{library().digest}"


def base_name(name: str) -> str:
    """Return what :func:`shared_name` made a symbol of."""
    return name.removeprefix(SHARED).rpartition("_")[0]


@dataclass(frozen=True)
class Helper:
    """A helper that :func:`call_shared` calls: ``body(builder, *arguments)`` emits it."""

    result: str
    parameters: str
    """Names of attributes of :class:`~ffi_builder.ir.Types`, separated by spaces."""
    body: Callable[..., None]

    def define(self, symbols: Symbols, name: str) -> None:
        """Add it to a module."""
        result, *parameters = (
            getattr(symbols.types, letters) for letters in (self.result, *self.parameters.split())
        )
        define(symbols, name, result, parameters, self.body, keeps_registers=True)


def define(
    symbols: Symbols,
    name: str,
    result: Type,
    parameters: Sequence[Type],
    body: Callable[..., None],
    *,
    keeps_registers: bool = False,
) -> None:
    """Add an internal function; ``body(builder, *arguments)`` emits it.

    ``keeps_registers`` selects LLVM's preserve_most convention: the callee saves the registers, so
    that a rare call does not make its caller spill.
    """
    types = symbols.types
    attributes = {
        "linkage": types.attribute("#llvm.linkage<internal>"),
        # The section of the wrappers, so that exported ones call helpers without a relocation. A
        # cold function would get a section of its own.
        "section": types.string(".text"),
    }
    if keeps_registers:
        attributes["CConv"] = types.attribute(_KEEPS_REGISTERS)
    function = symbols.function(shared_name(name), result, parameters, attributes, body=True)
    entry = function.regions[0].blocks[0]
    body(Builder(symbols, function, entry, symbols.location), *entry.arguments)
    mark_trusted(types, function, ("cold", "minsize", "nounwind"))


def call_shared(b: Builder, name: str, operands: Sequence[Value], result: Type) -> Value:
    """Call a helper that keeps its caller's registers, and note that the module needs it."""
    value = _call(b, name, operands, result)
    assert value is not None, f"{name} returns nothing"
    return value


def run_shared(b: Builder, name: str, operands: Sequence[Value]) -> None:
    """Call a helper that returns nothing, as :func:`call_shared` does."""
    _call(b, name, operands, b.types.void)


def _call(b: Builder, name: str, operands: Sequence[Value], result: Type) -> Value | None:
    b.symbols.wanted.add(shared_name(name))
    attributes = {"CConv": b.types.attribute(_KEEPS_REGISTERS)}
    return b.call(shared_name(name), operands, result, attributes)
