"""Find what is different in a big kernel: lines of LLVM IR, and operations of MLIR.

A kernel of a hundred thousand operations has a few hundred kinds of them, as it comes from loops
that were unrolled. The rules of `allowlist_llvm` and `allowlist_mlir` ask each kind once. What a
kind is leaves out only what no rule looks at: the numbers of values and metadata, names of values,
locations, successors. `_distinct.c` finds them, if it was built; else Python does, in ten times as
long.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from typing import Final

from ffi_builder.runtime import bindings
from ffi_builder.runtime.protocols import Operation

try:
    from ffi_builder.runtime.safety import _distinct as extension
except ImportError:
    extension = None

FUNCTIONS: Final = (
    "mlirOperationGetRegion",
    "mlirRegionGetFirstBlock",
    "mlirBlockGetNextInRegion",
    "mlirBlockGetFirstOperation",
    "mlirOperationGetNextInBlock",
    "mlirOperationGetName",
    "mlirIdentifierStr",
    "mlirOperationGetNumOperands",
    "mlirOperationGetOperand",
    "mlirOperationGetNumResults",
    "mlirOperationGetResult",
    "mlirValueGetType",
    "mlirOperationGetNumAttributes",
    "mlirOperationGetAttribute",
    "mlirOperationGetNumDiscardableAttributes",
)
"""The functions of MLIR's C API that `_distinct.c` calls, in its order."""

MOST_DIGITS: Final = 9
"""Longer numbers are looked at, each."""

_NUMBER: Final = re.compile(rf"([%!])[0-9]{{1,{MOST_DIGITS}}}(?![0-9])")


def lines(text: str) -> str:
    """Leave out the lines of `text` that differ from an earlier one in numbers alone.

    Numbers are those of values and metadata, of up to 9 digits: `%12`, `!3`.
    """
    if extension is not None:
        return extension.lines(text)
    found: dict[str, str] = {}
    for line, kind in zip(text.split("\n"), _NUMBER.sub(r"\g<1>0", text).split("\n"), strict=True):
        found.setdefault(kind, line)
    return "\n".join(found.values())


def operations(function: Operation, by_name: Set[str]) -> Iterable[Operation]:
    """The operations in the blocks of `function`, at least one of each kind.

    Those of the names `by_name` are of one kind each, if they have no attributes of dialects.
    Others are of a kind if their names, attributes, and the types of their operands and results
    are the same.
    """
    if extension is not None and bindings.makes_operations(function):
        functions = bindings.addresses(bindings.root_of(function), FUNCTIONS)
        address = bindings.address(function)
        if functions is not None and address is not None:
            found = extension.operations(functions, address, by_name)
            return [bindings.operation_at(each, function) for each in found]
    return (op.operation for block in function.regions[0].blocks for op in block.operations)
