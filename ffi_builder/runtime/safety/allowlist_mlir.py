"""Decide which MLIR modules this process may translate to LLVM IR.

MLIR's verifier lets modules through that have no translation, or that LLVM's verifier refuses:
`llvm.trunc %a : i32 to i64`, a `switch` with the same case twice. Where a library exports all that
`runtime.mlir.translate` needs, a refusal is an answer (`_answered_hazard`). What still ends the
process is looked for: types that contain themselves, values and globals of types that have none,
blocks that are not reached, in which MLIR does not check the order of definitions, and dialects
with a translation of their own. Bytecode names all operations, types and attributes of a module
once, and MLIR writes it in the time that it takes to look at each operation.

Other libraries end the process for each refusal (`_unanswered_hazard`). In this process they
translate wrappers of this package and declarations, and in a child process (see `safety.worker`)
everything else. A function that carries TRUSTED and a checksum in its `passthrough` list is such a
wrapper, as long as the checksum is that of the names of its operations.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any, Final

from ffi_builder.errors import CompileError
from ffi_builder.protocol import TRUSTED, checksum
from ffi_builder.runtime import metadata
from ffi_builder.runtime.protocols import Attributes, Operation, named_attributes
from ffi_builder.runtime.safety.allowlist_words import (
    MLIR_ATTRIBUTES,
    MLIR_FUNCTION_FLAGS,
    MLIR_OPERATIONS,
    MLIR_TRANSLATED,
    MLIR_WORDS,
)

_MARK: Final = re.compile(rf'"{TRUSTED}([0-9a-f]{{8}})"')
# LLVM does not look at the value, and any string will do.
_METADATA: Final = re.compile(rf'\["{metadata.ATTRIBUTE}", "[^"]*"\]')
# Words of attributes, but for the sizes of types.
_WORD: Final = re.compile(r"\d+ x |([^\s,=:(){}<>\[\]]+)")
_REFERENCES: Final = {"llvm.call": "callee", "llvm.mlir.addressof": "global_name"}
_MODULE: Final = (
    "llvm.func",
    "llvm.mlir.global",
    "llvm.mlir.global_ctors",
    "llvm.mlir.global_dtors",
)

# Translating attributes of these takes their form for granted.
_OTHER_ATTRIBUTES: Final = tuple(f"{name}." for name in MLIR_TRANSLATED - {"builtin", "llvm"})
# The types of the dialect, which are text in bytecode.
_TYPE: Final = re.compile(rb"!llvm\.[^\0]*")
_KNOWN_TYPE: Final = re.compile(rb"!llvm\.(?:ptr|array|struct|func|ppc_fp128)\b")
_ITSELF: Final = re.compile(rb'struct<"[^"]*">')
_MOST_TYPES: Final = 256
"""Types in a type. What translates a type calls itself for each that is in another."""

# How many operations an error names.
_MOST_NAMED: Final = 8


def translation_hazard(module: Operation, *, answers: bool) -> str | None:
    """Return what may end the process that translates `module`, or None.

    With `answers`, the library reports a refusal; without, a refusal ends the process. Raises
    CompileError that names the operations that certainly have no translation.
    """
    # CUTLASS makes objects of its own of values, and looking at a value of a vector type outside of
    # a context would end the process.
    with module.context:
        return _answered_hazard(module) if answers else _unanswered_hazard(module)


def _answered_hazard(module: Operation) -> str | None:
    """Do what `translation_hazard` does, if a refusal is an answer."""
    buffer = io.BytesIO()
    try:
        module.write_bytecode(buffer)
        sections = dict(_sections(buffer.getvalue()))
        strings = _strings(sections[_STRINGS])
        operations = set(_operations(sections[_DIALECTS], strings))
    except (AttributeError, ValueError, LookupError):  # a dialect, or a version, that has none
        return "bytecode that cannot be read"
    if not all(map(_has_translation, operations)):
        raise _untranslatable(module)
    for name in sorted(operations - MLIR_OPERATIONS):
        return name
    for text in strings:
        if text.startswith(_OTHER_ATTRIBUTES):
            return text
    for kind in set(_TYPE.findall(sections[_TYPES])):
        if (
            _KNOWN_TYPE.match(kind) is None
            or _ITSELF.search(kind) is not None
            or kind.count(b"<") > _MOST_TYPES
        ):
            return kind[:60].decode(errors="replace")
    if len(sections.get(_RESOURCES, b"")) > 1:  # it may be missing, or too small
        return "a resource"
    for operation in _body(module):
        if operation.name not in _MODULE:
            return operation.name
        if operation.name == "llvm.func" and not _all_reachable(operation):
            return _named(operation)
        if operation.name == "llvm.mlir.global" and not _initialiser_known(operation.attributes):
            return _named(operation)
    if "llvm.alloca" in operations:
        for operation in _nested(module):
            if operation.name == "llvm.alloca" and _is_function(operation.attributes["elem_type"]):
                return "an allocation of a function"
    return None


def _initialiser_known(attributes: Attributes) -> bool:
    """Tell whether the value of a global variable is of its type: nothing else looks at that."""
    value = attributes["value"] if "value" in attributes else None  # noqa: SIM401  (it has no get)
    kind = str(attributes["global_type"])
    match type(value).__name__:
        case "StringAttr" | "NoneType":
            return True  # the verifier compares the lengths
        case "IntegerAttr" | "FloatAttr" | "BoolAttr":
            return str(value) in ("true", "false") or str(value).endswith(f": {kind}")
        case "DenseIntElementsAttr" | "DenseFPElementsAttr":
            return kind.startswith(("!llvm.array<", "vector<"))
        case _:
            return str(value) in ("#llvm.zero", "#llvm.undef", "#llvm.poison")


def _is_function(kind: object) -> bool:
    return str(kind).startswith("!llvm.func")


def _unanswered_hazard(module: Operation) -> str | None:
    """Do what `translation_hazard` does, if a refusal ends the process."""
    if not all(_has_translation(operation.name) for operation in _nested(module)):
        raise _untranslatable(module)
    for operation in _body(module):
        if not _is_plain(operation):
            return _named(operation)
    known = MLIR_ATTRIBUTES["builtin.module"]
    for each in named_attributes(module):
        if each.name not in known and not _is_ignored(each.name):
            return "the attributes of the module"
    return None


def _named(operation: Operation) -> str:
    attributes = operation.attributes
    name = f" @{attributes['sym_name'].value}" if "sym_name" in attributes else ""
    return operation.name + name


# ---- bytecode: https://mlir.llvm.org/docs/BytecodeFormat

_STRINGS, _DIALECTS, _TYPES, _RESOURCES = 0, 1, 2, 6


def _sections(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the sections of a module, and their numbers."""
    at = data.index(b"\0", _varint(data, 4)[1]) + 1
    while at < len(data):
        kind = data[at]
        size, at = _varint(data, at + 1)
        if kind >= 0x80:
            alignment, at = _varint(data, at)
            at += -at % alignment
        yield kind & 0x7F, data[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number, and where the next one is. The first byte's zeros count further bytes."""
    if not data[at]:
        return int.from_bytes(data[at + 1 : at + 9], "little"), at + 9
    size = (data[at] & -data[at]).bit_length()
    return int.from_bytes(data[at : at + size], "little") >> size, at + size


def _strings(data: bytes) -> list[str]:
    sizes: list[int] = []
    count, at = _varint(data, 0)
    for _ in range(count):
        size, at = _varint(data, at)
        sizes.append(size)
    strings: list[str] = []
    for size in reversed(sizes):
        strings.append(data[at : at + size - 1].decode(errors="replace"))
        at += size
    return strings


def _operations(data: bytes, strings: list[str]) -> Iterator[str]:
    """Yield the names of all operations."""
    dialects: list[str] = []
    count, at = _varint(data, 0)
    for _ in range(count):
        name, at = _varint(data, at)
        dialects.append(strings[name >> 1])
        if name & 1:  # its version follows, in a section
            size, at = _varint(data, at + 1)
            at += size
    _, at = _varint(data, at)
    while at < len(data):
        dialect, at = _varint(data, at)
        count, at = _varint(data, at)
        for _ in range(count):
            name, at = _varint(data, at)
            yield f"{dialects[dialect]}.{strings[name >> 1]}"


# ---- operations


def _is_plain(operation: Operation) -> bool:
    """Tell whether an operation has no body or a trusted one, and all its attributes are known."""
    known = MLIR_ATTRIBUTES.get(operation.name)
    has_body = len(operation.regions) and len(operation.regions[0].blocks)
    if known is None or (has_body and trusted_references(operation) is None):
        return False
    return all(
        _value_known(each.name, each.attr) if each.name in known else _is_ignored(each.name)
        for each in named_attributes(operation)
    )


def _value_known(name: str, value: Any) -> bool:
    match name:
        case "sym_name":
            return not value.value.startswith("llvm.")
        case "value":
            return type(value).__name__ == "StringAttr"  # the verifier compares lengths
        case "passthrough":
            others = _METADATA.sub("", _MARK.sub("", str(value)))
            return MLIR_FUNCTION_FLAGS.issuperset(_WORD.findall(others))
        case _:
            return MLIR_WORDS.issuperset(_WORD.findall(str(value)))


def _is_ignored(attribute: str) -> bool:
    """Tell whether an attribute is of a dialect that the translation ignores."""
    dialect, dot, _ = attribute.partition(".")
    return bool(dot) and dialect not in MLIR_TRANSLATED


def _all_reachable(function: Operation) -> bool:
    """Tell whether every block can be reached: only there MLIR checks the order of definitions."""
    blocks = list(function.regions[0].blocks)
    seen: set[object] = set()
    waiting = blocks[:1]
    while waiting:
        block = waiting.pop()
        if block in seen:
            continue
        seen.add(block)
        waiting.extend(block.operations[len(block.operations) - 1].operation.successors)
    return len(seen) == len(blocks)


def trusted_references(function: Operation) -> list[str] | None:
    """Return the symbols that a trusted function calls or takes the address of, in order of use.

    None if the function is not trusted. Functions that differ only in names have theirs in the same
    order.
    """
    expected = mark(function)
    if expected is None:
        return None
    names: list[str] = []
    found: dict[str, None] = {}
    for name, symbol in uses(function):
        names.append(name)
        if symbol is not None:
            found[symbol] = None
    return list(found) if expected == checksum(names) else None


def uses(operation: Operation) -> Iterator[tuple[str, str | None]]:
    """Yield the name of each inner operation, and the symbol that it refers to, if any."""
    for region in operation.regions:
        for block in region.blocks:
            for op in block.operations:
                name = op.name
                key = _REFERENCES.get(name)
                attributes = None if key is None else op.attributes
                if attributes is None or key not in attributes:
                    yield name, None
                else:
                    yield name, attributes[key].value


def mark(function: Operation) -> int | None:
    """Return the checksum in the mark of a function; None if it has no mark."""
    attributes = function.attributes
    if "passthrough" not in attributes:
        return None
    found = _MARK.search(str(attributes["passthrough"]))
    return None if found is None else int(found[1], 16)


def _body(module: Operation) -> Iterator[Operation]:
    return (op.operation for op in module.regions[0].blocks[0].operations)


def _nested(operation: Operation) -> Iterator[Operation]:
    """`operation` and everything in it."""
    yield operation
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                if len(inner.operation.regions):
                    yield from _nested(inner.operation)
                else:
                    yield inner.operation


def _has_translation(name: str) -> bool:
    return (
        name.partition(".")[0] in MLIR_TRANSLATED and name != "builtin.unrealized_conversion_cast"
    )


def _untranslatable(module: Operation) -> CompileError:
    found: dict[str, str] = {}
    provided = True
    for top in _body(module):
        wrapper = _wrapper_name(top)
        for operation in _nested(top):
            if not _has_translation(operation.name):
                place = f"in the wrapper @{wrapper}" if wrapper else f"at {operation.location}"
                found.setdefault(operation.name, place)
                provided = provided and bool(wrapper)
    names = ", ".join(f"`{name}` {place}" for name, place in list(found.items())[:_MOST_NAMED])
    cure = "Lower the module to the LLVM dialect, before or with pipeline="
    if provided:
        cure = (
            "The call provider made them. Hooks run after pipeline=, so a provider must make "
            "operations of the LLVM dialect, as its context.builder does"
        )
    return CompileError(f"These operations cannot be translated to LLVM IR: {names}. {cure}")


def _wrapper_name(operation: Operation) -> str:
    """Return the name of a wrapper that `attach` added; empty for any other operation."""
    attributes = operation.attributes
    if "passthrough" not in attributes or metadata.ATTRIBUTE not in str(attributes["passthrough"]):
        return ""
    return str(attributes["sym_name"])[1:-1]
