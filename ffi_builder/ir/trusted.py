"""Marks on functions whose operations are known to translate to LLVM IR.

MLIR's translation ends the process on operations that it cannot translate, so a runtime checks
every operation first. It can skip functions with this mark. The mark has a checksum of the
operations, so that it is void once a pass or a hook has added others to the function.
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
    """Set the LLVM attributes of a finished function, including the mark.

    Args:
        types: types and attributes of the function's context.
        function: an ``llvm.func``; it is changed.
        passthrough: names of LLVM attributes without a value.
        values: LLVM attributes with a value.
        made: the names of the function's operations, if the caller has them; they are read from
            the function otherwise.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder import ir
        >>> module = mlir.Module.parse("llvm.func @nop() { llvm.return }", mlir.Context())
        >>> types = ir.Types(ir.of_module(module).ir, module.context)
        >>> function = module.body.operations[0]
        >>> ir.mark_trusted(types, function, ["noinline"])
        >>> print(function.attributes["passthrough"])
        ["noinline", "ffi-builder-trusted-..."]
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
    """Set the LLVM attributes of a function: ``names`` without a value, and ``values``.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder import ir
        >>> module = mlir.Module.parse("llvm.func @nop() { llvm.return }", mlir.Context())
        >>> types = ir.Types(ir.of_module(module).ir, module.context)
        >>> function = module.body.operations[0]
        >>> ir.pass_through(types, function, ["noinline"], {"frame-pointer": "all"})
        >>> print(function.attributes["passthrough"])
        ["noinline", ["frame-pointer", "all"]]
    """
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
