"""LLVM IR of plain modules: functions, their bodies, globals, and lists of functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from ffi_builder import BuildError
from ffi_builder.plain import attributes as of
from ffi_builder.plain.attributes import symbol
from ffi_builder.plain.instructions import LIKELY, LIKELY_NODE


def body_text(blocks: Iterable[Any]) -> str:
    """Return the body of a function in LLVM IR; empty for a declaration."""
    lines: list[str] = []
    order = {block: index for index, block in enumerate(blocks)}
    for block, index in order.items():
        lines.append(f"{block.label}:")
        if index and block.arguments:
            # As MLIR writes them: the last block that branches here comes first.
            edges = sorted(block.incoming, key=lambda edge: -order[edge[0]])
            for at, argument in enumerate(block.arguments):
                values = (f"[ {given[at].text}, %{origin.label} ]" for origin, given in edges)
                phi = f"phi {argument.type.llvm} {', '.join(values)}"
                lines.append(f"  {argument.text} = {phi}")
        lines += [f"  {operation.line}" for operation in block.operations if operation.line]
    return "\n".join(["{", *lines, "}"]) if lines else ""


def _head(operation: Any) -> str:
    """Return a function in LLVM IR without its body."""
    of.allow(
        operation,
        *("sym_name", "function_type", "linkage", "visibility_", "CConv", "arg_attrs"),
        "passthrough",
    )
    attributes, region = operation.attributes, operation.regions[0]
    type_ = attributes["function_type"].value
    result, *parameters = type_.members
    extensions = of.of_parameters(attributes.get("arg_attrs"), len(parameters))
    words = [f"{each.llvm}{more}" for each, more in zip(parameters, extensions, strict=True)]
    entry = region.first
    if entry is not None:
        names = [argument.text for argument in entry.arguments]
        words = [f"{word} {name}" for word, name in zip(words, names, strict=True)]
    linkage = of.linkage(attributes.get("linkage"))
    return "".join(
        (
            "declare " if entry is None else "define ",
            "" if linkage == "external" else f"{linkage} ",
            of.visibility(attributes.get("visibility_")),
            of.convention(attributes.get("CConv")),
            f"{result.llvm} {symbol(attributes['sym_name'].value)}",
            f"({', '.join([*words, *(['...'] if type_.bits else [])])})",
            of.of_function(attributes.get("passthrough")),
        )
    )


def _function(operation: Any) -> str:
    body = operation.regions[0].finished()
    return f"{_head(operation)} {body}" if body else _head(operation)


_ADDRESSES: Final = {0: "", 1: "local_unnamed_addr ", 2: "unnamed_addr "}


def _global(operation: Any) -> str:
    of.allow(
        operation,
        *("sym_name", "global_type", "value", "linkage", "visibility_", "unnamed_addr"),
        *("addr_space", "alignment", "constant"),
    )
    attributes = operation.attributes
    linkage = of.linkage(attributes.get("linkage"))
    space = attributes["addr_space"].value if "addr_space" in attributes else 0
    address = attributes["unnamed_addr"].value if "unnamed_addr" in attributes else 0
    align = attributes["alignment"].value if "alignment" in attributes else 0
    value = attributes.get("value")
    shown = "" if value is None else f' c"{_escaped(value.value_bytes)}"'
    return "".join(
        (
            f"{symbol(attributes['sym_name'].value)} = ",
            "" if linkage == "external" and value is not None else f"{linkage} ",
            of.visibility(attributes.get("visibility_")),
            _ADDRESSES[address],
            f"addrspace({space}) " if space else "",
            "constant " if "constant" in attributes else "global ",
            f"{attributes['global_type'].value.llvm}{shown}",
            f", align {align}" if align else "",
        )
    )


def _escaped(data: bytes) -> str:
    return "\\" + data.hex("\\") if data else ""


def _listed(operation: Any) -> str:
    """Return the entries of a list of destructors, without the list."""
    names = re.findall(r"@([^\],\s]+)", operation.attributes["dtors"].value)
    priorities = re.findall(r"(\d+) : i32", operation.attributes["priorities"].value)
    return ", ".join(
        f"{{ i32, ptr, ptr }} {{ i32 {priority}, ptr {symbol(name)}, ptr null }}"
        for name, priority in zip(names, priorities, strict=True)
    )


_DTORS: Final = "llvm.mlir.global_dtors"
HEADS: Final[dict[str, Callable[[Any], str]]] = {"llvm.func": _head, "llvm.mlir.global": _global}
"""What of a symbol can be written before its body is finished."""
TOP_LEVEL: Final[dict[str, Callable[[Any], str]]] = {
    "llvm.func": _function,
    "llvm.mlir.global": _global,
    _DTORS: _listed,
}
"""The operations of modules, with functions that write their LLVM IR."""


def _written(operation: Any) -> str:
    try:
        return TOP_LEVEL[operation.name](operation)
    except (ValueError, KeyError, AttributeError) as error:
        raise BuildError(f"{operation.name}: {error}") from error


def module_text(operations: Sequence[Any]) -> str:
    """Return a module in LLVM IR."""
    parts = [_written(operation) for operation in operations if operation.name != _DTORS]
    listed = [_written(operation) for operation in operations if operation.name == _DTORS]
    if listed:
        joined = ", ".join(listed)
        count = joined.count("{ i32, ptr, ptr } {")
        value = f"[{count} x {{ i32, ptr, ptr }}] [{joined}]"
        parts.append(f"@llvm.global_dtors = appending global {value}")
    if any(LIKELY in part for part in parts):
        parts.append(LIKELY_NODE)
    return "\n\n".join(parts)
