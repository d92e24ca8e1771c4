"""Decides which MLIR modules this process may translate to LLVM IR.

MLIR's verifier accepts modules that have no translation, or that LLVM's verifier refuses:
`llvm.trunc %a : i32 to i64`, a `switch` with the same case twice. If a library exports all
functions that `codegen.mlir.translate` needs, such a refusal raises an error. This module looks for
what still ends the process: types that contain themselves; values and globals of types that can
have none; unreachable blocks, in which MLIR does not check the order of definitions; and dialects
with their own translation. It reads the bytecode, which names all operations, types and attributes
of a module once, and which MLIR writes as fast as Python could visit each operation.

With other libraries each refusal ends the process, so a child process (see `isolate.worker`)
translates their modules.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Final

from ffi_builder.errors import CompileError
from ffi_builder.runtime import metadata
from ffi_builder.runtime.codegen import bytecode
from ffi_builder.runtime.codegen.allowlist_llvm import INSTRUCTIONS, INTRINSICS, words
from ffi_builder.runtime.codegen.passes import lowering
from ffi_builder.runtime.protocols import Attributes, Operation

_TRANSLATED: Final = words(
    """
    llvm builtin nvvm rocdl xevm omp acc gpu arm_neon arm_sme arm_sve amx x86 x86vector vcix ptr
    dlti
    """
)
"""Dialects that have a translation, and the one of data layouts."""

_OPERATIONS: Final = (
    words("builtin.module")
    | words(
        """
        func return call br cond_br switch unreachable inline_asm call_intrinsic mlir.addressof
        mlir.constant mlir.global mlir.global_ctors mlir.global_dtors mlir.poison mlir.undef
        mlir.zero intr.assume
        """,
        "llvm.",
    )
    | {f"llvm.{name}" for name in INSTRUCTIONS}
    | {f"llvm.intr.{name}" for name in INTRINSICS}
)
"""Operations whose translation is done or refused, whatever their operands and attributes are."""

_MODULE: Final = (
    "llvm.func",
    "llvm.mlir.global",
    "llvm.mlir.global_ctors",
    "llvm.mlir.global_dtors",
)

# The translation of these attributes relies on their form.
_OTHER_ATTRIBUTES: Final = tuple(f"{name}." for name in _TRANSLATED - {"builtin", "llvm"})
# The types of the dialect, which are text in bytecode.
_TYPE: Final = re.compile(rb"!llvm\.[^\0]*")
_KNOWN_TYPE: Final = re.compile(rb"!llvm\.(?:ptr|array|struct|func|ppc_fp128)\b")
_ITSELF: Final = re.compile(rb'struct<"[^"]*">')
_MOST_TYPES: Final = 256
"""The most types nested in a type: the translation of types is recursive."""

# The most operations that an error names.
_MOST_NAMED: Final = 8


def translation_hazard(module: Operation) -> str | None:
    """Return what may end the process that translates `module`, if refusals raise errors; or None.

    Raises CompileError that names the operations that certainly have no translation.
    """
    buffer = io.BytesIO()
    try:
        module.write_bytecode(buffer)
        data = buffer.getvalue()
        sections = {kind: data[at:end] for kind, at, end in bytecode.sections(data)}
        strings = bytecode.strings(sections[bytecode.STRINGS])
        operations = set(bytecode.operations(sections[bytecode.DIALECTS], strings))
    except (AttributeError, ValueError, LookupError):  # a dialect or version without bytecode
        return "bytecode that cannot be read"
    if not all(map(_has_translation, operations)):
        raise _untranslatable(module)
    for name in sorted(operations - _OPERATIONS):
        return name
    for text in strings:
        if text.startswith(_OTHER_ATTRIBUTES):
            return text
    for kind in set(_TYPE.findall(sections[bytecode.TYPES])):
        if (
            _KNOWN_TYPE.match(kind) is None
            or _ITSELF.search(kind) is not None
            or kind.count(b"<") > _MOST_TYPES
        ):
            return kind[:60].decode(errors="replace")
    if len(sections.get(bytecode.RESOURCE_OFFSETS, b"")) > 1:  # it may be missing, or too small
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
            if operation.name == "llvm.alloca" and str(
                operation.attributes["elem_type"]
            ).startswith("!llvm.func"):
                return "an allocation of a function"
    return None


def _initialiser_known(attributes: Attributes) -> bool:
    """Tell whether the value of a global variable has its type, which nothing else checks."""
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


def check_operations(module: Operation) -> None:
    """Raise CompileError that names the operations that certainly have no translation."""
    if not all(_has_translation(operation.name) for operation in _nested(module)):
        raise _untranslatable(module)


def _named(operation: Operation) -> str:
    attributes = operation.attributes
    name = f" @{attributes['sym_name'].value}" if "sym_name" in attributes else ""
    return operation.name + name


# ---- operations


def _all_reachable(function: Operation) -> bool:
    """Tell whether every block is reachable: only there MLIR checks the order of definitions."""
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
    return name.partition(".")[0] in _TRANSLATED and name != "builtin.unrealized_conversion_cast"


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
    cure = f"Lower the module to the LLVM dialect, before or with pipeline={lowering(found)}"
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
