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

_MODULE: Final = words("func mlir.global mlir.global_ctors mlir.global_dtors", "llvm.")
_OPERATIONS: Final = (
    _MODULE
    | words(
        "return inline_asm call_intrinsic mlir.addressof mlir.constant mlir.poison mlir.undef "
        "mlir.zero cond_br",
        "llvm.",
    )
    | {"builtin.module", *(f"llvm.{name}" for name in INSTRUCTIONS)}
    | {f"llvm.intr.{name}" for name in INTRINSICS}
)
"""Operations whose translation is done or refused, whatever their operands and attributes are."""


# The translation of these attributes relies on their form.
_OTHER_ATTRIBUTES: Final = (
    "llvm.dependent_libraries",
    *(f"{name}." for name in _TRANSLATED - {"builtin", "llvm"}),
)
_OF_ANY_TYPE: Final = {"llvm.alloca", "llvm.mlir.zero"}
_TRIPLE: Final = "llvm.target_triple"
# Types of the dialect, which are text in bytecode: others than these, and what contains itself.
_ODD_TYPE: Final = re.compile(
    rb'!llvm\.(?!(?:ptr|array|struct|func|ppc_fp128)\b)[^\0]*|struct<"[^"]*">'
)
_SCALARS: Final = ("NoneType", "StringAttr", "IntegerAttr", "FloatAttr", "BoolAttr")

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
    odd = [*operations - _OPERATIONS, *(s for s in strings if s.startswith(_OTHER_ATTRIBUTES))]
    if _TRIPLE in module.attributes and type(module.attributes[_TRIPLE]).__name__ != "StringAttr":
        odd.append(_TRIPLE)
    if odd:
        return min(odd)
    kind = _ODD_TYPE.search(sections[bytecode.TYPES])
    if kind is not None:
        return kind[0][:60].decode(errors="replace")
    if len(sections.get(bytecode.RESOURCE_OFFSETS, b"")) > 1:  # it may be missing, or too small
        return "a resource"
    for operation in _body(module):
        if operation.name not in _MODULE or not (
            _all_reachable(operation)
            if operation.name == "llvm.func"
            else _initialiser_known(operation.attributes)
        ):
            return _named(operation)
    if operations & _OF_ANY_TYPE and any(map(_makes_function, _nested(module))):
        return "a function as a value"
    return None


def _makes_function(operation: Operation) -> bool:
    """Tell whether an operation allocates a function, or makes a null of its type."""
    if operation.name not in _OF_ANY_TYPE:
        return False
    is_null = operation.name == "llvm.mlir.zero"
    kind = operation.results[0].type if is_null else operation.attributes["elem_type"]
    return str(kind).startswith("!llvm.func")


def _initialiser_known(attributes: Attributes) -> bool:
    """Tell whether a global variable has no value, or one that MLIR translates or refuses."""
    if "value" not in attributes:
        return True
    value, kind = attributes["value"], str(attributes["global_type"])
    if type(value).__name__.startswith("Dense"):
        return kind.startswith(("!llvm.array<", "vector<"))
    return type(value).__name__ in _SCALARS or str(value).startswith("#llvm.")


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
    waiting = reached = set(blocks[:1])
    while waiting:
        ends = [block.operations[len(block.operations) - 1].operation for block in waiting]
        waiting = {following for end in ends for following in end.successors} - reached
        reached = reached | waiting
    return len(reached) == len(blocks)


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
    places: dict[str, str] = {}
    provided = True
    for top in _body(module):
        wrapper = _wrapper_name(top)
        for operation in _nested(top):
            if not _has_translation(operation.name):
                place = f"in the wrapper @{wrapper}" if wrapper else f"at {operation.location}"
                places.setdefault(operation.name, place)
                provided = provided and bool(wrapper)
    names = ", ".join(f"`{name}` {place}" for name, place in list(places.items())[:_MOST_NAMED])
    cure = f"Lower the module to the LLVM dialect, before or with pipeline={lowering(places)}"
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
