"""Calls of the functions in C of :mod:`ffi_builder.support`, which a module only declares."""

from __future__ import annotations

from collections.abc import Sequence

from ffi_builder import support
from ffi_builder.ir.builder import Builder
from ffi_builder.ir.protocols import Attribute, Value
from ffi_builder.ir.symbols import Symbols
from ffi_builder.ir.trusted import pass_through
from ffi_builder.ir.types import Types

_EXTENDED = ("i1", "i16")
"""Types that C passes as a whole register."""


def declare_support(symbols: Symbols, name: str) -> str:
    """Declare a function unless the module has it, and return its symbol.

    Raises:
        BuildError: the module has the symbol with another type.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder import ir
        >>> module = mlir.Module.parse("", mlir.Context())
        >>> types = ir.Types(ir.of_module(module).ir, module.context)
        >>> symbols = ir.Symbols(types, module, mlir.Location.unknown(module.context))
        >>> ir.declare_support(symbols, "raise")
        '__ffi_builder_shared_raise_...'
    """
    symbol = support.symbol(name)
    if symbols.has_added(symbol):
        return symbol
    types, function = symbols.types, support.functions()[name]
    is_new = symbol not in symbols
    result = getattr(types, function.result)
    parameters = [getattr(types, letters) for letters in function.parameters]
    attributes = _convention(types, function)
    if any(letters in _EXTENDED for letters in function.parameters):
        extensions = ", ".join(map(_extension, function.parameters))
        attributes["arg_attrs"] = types.attribute(f"[{extensions}]")
    operation = symbols.declare(symbol, result, parameters, attributes)
    if is_new:
        pass_through(types, operation, ("cold", "nounwind"))
    return symbol


def call_support(b: Builder, name: str, operands: Sequence[Value]) -> Value:
    """Call a function that returns a value.

    Args:
        b: emits the call.
        name: one of the names in ``ffi_builder/support/functions.txt``.
        operands: of the types that this file says.

    Examples:
        >>> from ffi_builder import ir
        >>> def provider(current_block, context):
        ...     b = context.builder
        ...     ir.call_support(b, "big_uint64", [b.null(), b.null()])
        ...     return b.block
    """
    value = _call(b, name, operands)
    assert value is not None, f"{name} returns nothing"
    return value


def run_support(b: Builder, name: str, operands: Sequence[Value]) -> None:
    """Call a function that returns nothing; the rest as :func:`call_support`.

    Examples:
        >>> from ffi_builder import ir
        >>> def provider(current_block, context):
        ...     b = context.builder
        ...     ir.run_support(b, "free_copy", [b.null()])
        ...     return b.block
    """
    _call(b, name, operands)


def _call(b: Builder, name: str, operands: Sequence[Value]) -> Value | None:
    types, function = b.types, support.functions()[name]
    symbol = declare_support(b.symbols, name)
    return b.call(symbol, operands, getattr(types, function.result), _convention(types, function))


def _convention(types: Types, function: support.Function) -> dict[str, Attribute]:
    if not function.keeps_registers:
        return {}
    return {"CConv": types.attribute("#llvm.cconv<preserve_mostcc>")}


def _extension(letters: str) -> str:
    return "{llvm.zeroext}" if letters in _EXTENDED else "{}"
