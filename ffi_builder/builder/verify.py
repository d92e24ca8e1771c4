"""Verifies attached code, in time proportional to that code, not to the module."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Final

from ffi_builder.errors import BuildError
from ffi_builder.ir import Block, Symbols
from ffi_builder.ir.distribution import OPERATIONS
from ffi_builder.ir.protocols import Operation
from ffi_builder.ir.symbols import describe, function_parts
from ffi_builder.protocol import PREFIX, SHARED

_KNOWN: Final = frozenset(OPERATIONS)


def verify_added(
    symbols: Symbols, wrapper: Operation, provided: Block, references: Sequence[Operation] | None
) -> None:
    """Verify the wrapper and the operations that were added with it.

    MLIR checks that a call names a function of the right type only when it verifies the whole
    module. This function does so for the code from block ``provided`` on, where the provider began,
    so that attaching many wrappers in a row stays cheap. ``references`` are all operations there
    that name a symbol, if the caller knows them.

    Raises:
        BuildError: with MLIR's message, if something does not verify.
    """
    # The provider's operations are checked; this package's own operations need no check.
    names = ((each, each.attributes["sym_name"].value) for each in symbols.added)
    added = [operation for operation, name in names if not name.startswith(PREFIX)]
    try:
        for operation in added:
            operation.verify()
        if not symbols.only_ours:
            symbols.module.operation.verify()
    except Exception as error:
        raise BuildError(f"the wrapper does not verify: {error}") from error
    for operation in references or ():
        _verify_symbols(symbols, operation)
    for function in added:
        if function is wrapper and references is not None:
            continue
        start = provided if function is wrapper else None
        for block in _blocks_from(function, start):
            for operation in block.operations:
                _verify_symbols(symbols, operation.operation)


def _blocks_from(function: Operation, start: Block | None) -> list[Any]:
    """Return the entry block, and the blocks from ``start`` on; without ``start``, all blocks."""
    blocks = [block for region in function.regions for block in region.blocks]
    if start is None:
        return blocks
    # Providers get the entry block too, to reserve stack space there.
    return [*blocks[:1], *itertools.dropwhile(lambda block: block != start, blocks)]


def _verify_symbols(symbols: Symbols, operation: Any) -> None:
    match operation.name:
        case "llvm.call":
            _verify_call(symbols, operation)
        case "llvm.mlir.addressof":
            name = operation.attributes["global_name"].value
            if _find(symbols, name) is None:
                raise BuildError(
                    f"the wrapper takes the address of @{name}, which the module does not have"
                )
        case name if name.startswith("llvm.") and name not in _KNOWN:
            # The LLVM dialect allows unknown operations.
            if not symbols.types.context.is_registered_operation(name):
                raise BuildError(
                    f"the wrapper has {name!r}, which is not an operation of the LLVM dialect"
                )
        case _:
            return


def _find(symbols: Symbols, name: str) -> Operation | None:
    symbol = symbols.find(name)
    if symbol is None:  # a provider may have added it directly by the bindings
        symbols.refresh()
        symbol = symbols.find(name)
    return symbol


def _verify_call(symbols: Symbols, operation: Any) -> None:
    if "callee" not in operation.attributes:
        return
    name = operation.attributes["callee"].value
    if name.startswith(SHARED):
        return  # only this package calls support functions, and declares them as it calls them
    callee = _find(symbols, name)
    if callee is None:
        raise BuildError(f"the wrapper calls @{name}, which the module does not declare")
    if callee.name != "llvm.func":
        raise BuildError(f"the wrapper calls @{name}, which is {describe(callee)}")
    wanted, given_convention = _convention(callee), _convention(operation)
    if wanted != given_convention:
        raise BuildError(
            f"the wrapper calls @{name} in the convention {given_convention}, but it has {wanted}; "
            f"give the call that CConv"
        )
    result, parameters = function_parts(callee)
    if "..." in parameters:
        return
    given = tuple(str(value.type) for value in operation.operands)
    got = [str(value.type) for value in operation.results] or ["!llvm.void"]
    if given != parameters or got != [result]:
        raise BuildError(
            f"the wrapper calls @{name} with ({', '.join(given)}) -> {got[0]}, but it is "
            f"({', '.join(parameters)}) -> {result}"
        )


def _convention(operation: Any) -> str:
    """Return the calling convention of a function or a call."""
    attributes = operation.attributes
    return str(attributes["CConv"]) if "CConv" in attributes else "#llvm.cconv<ccc>"
