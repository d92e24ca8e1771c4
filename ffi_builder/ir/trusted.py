"""Marking functions that are made of operations known to translate to LLVM IR.

A runtime that looks at every operation before it hands a module to MLIR's translation (which ends
the process on what it cannot translate) need not look at these. The mark names what it vouches for,
so that it is void once a pass or a hook has put other operations into the function.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ffi_builder.ir.protocols import Operation
from ffi_builder.ir.types import Types
from ffi_builder.protocol import TRUSTED, checksum


def mark_trusted(
    types: Types,
    function: Operation,
    passthrough: Sequence[str],
    values: Mapping[str, str] | None = None,
    *,
    made: Iterable[str] | None = None,
) -> None:
    """Give a finished function LLVM attributes, and the mark among them.

    ``made`` are the names of its operations, for whom they are at hand.
    """
    if made is None:
        blocks = function.regions[0].blocks
        made = [operation.operation.name for block in blocks for operation in block.operations]
    mark = f"{TRUSTED}{checksum(made):08x}"
    pass_through(types, function, (*passthrough, mark), values)


def pass_through(
    types: Types,
    function: Operation,
    names: Sequence[str],
    values: Mapping[str, str] | None = None,
) -> None:
    """Give a function LLVM attributes: those with a name alone, then those with a value."""
    quoted = ", ".join(f'"{name}"' for name in names)
    attribute: Any = types.attribute(f"[{quoted}]")
    if values:
        array = types.ir.ArrayAttr.get
        pairs = [
            array([types.string(name), types.string(value)], types.context)
            for name, value in values.items()
        ]
        attribute = array([*attribute, *pairs], types.context)
    function.attributes["passthrough"] = attribute
