"""Decide which MLIR modules this process may translate to LLVM IR.

`translate_module_to_llvmir` segfaults, in every distribution, on a module that cannot be translated
or that LLVM's verifier refuses, and MLIR's own verifier lets many of those through: `llvm.trunc %a
: i32 to i64`, a `switch` with the same case twice, attributes that contradict each other. So this
looks at each op for what makes it safe, by tables of what was tried. A wrong alarm costs the detour
through a child process (see `safety.worker`).

The ops of a function that carries TRUSTED and a checksum in its `passthrough` list are not looked
at, as long as the checksum is that of their names: ffi_builder's own wrappers do, which are made of
ops known to be safe and would otherwise take a quarter of the time to compile.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ffi_builder.errors import CompileError
from ffi_builder.protocol import TRUSTED, checksum
from ffi_builder.runtime import metadata
from ffi_builder.runtime.protocols import Operation, named_attributes
from ffi_builder.runtime.safety import distinct
from ffi_builder.runtime.safety.allowlist_ops import (
    CALLING_CONVENTIONS,
    SAFE,
    TRANSLATED,
    alignment_known,
    function_type_known,
    is_ignored,
    op_safe,
    type_known,
)
from ffi_builder.runtime.safety.tables import words

_MARK = re.compile(rf'"{TRUSTED}([0-9a-f]{{8}})"')
# LLVM does not look at the value, and any string will do.
_METADATA = re.compile(rf'\["{metadata.ATTRIBUTE}", "[^"]*"\]')

# How many of them an error names.
_MOST_NAMED = 8

# The verifier looks at the data layout, and `llvm` at the triple. LLVM may refuse a layout of the
# dialect `dlti`, and would end the process then.
_MODULE_ATTRIBUTES = words("sym_name sym_visibility llvm.data_layout llvm.target_triple")
_FUNCTION_ATTRIBUTES = words(
    """
    sym_name function_type linkage CConv visibility_ unnamed_addr dso_local sym_visibility
    passthrough arg_attrs res_attrs frame_pointer no_unwind will_return no_inline
    optimize_none memory_effects uwtable_kind llvm.emit_c_interface llvm.readnone target_cpu
    target_features tune_cpu section convergent noreturn
    """
)
_LINKAGES = frozenset(
    f"#llvm.linkage<{name}>"
    for name in ("private", "internal", "external", "linkonce", "linkonce_odr", "weak", "weak_odr")
)
_CCC = "#llvm.cconv<ccc>"
_WEAK_REFERENCE = "#llvm.linkage<extern_weak>"
# These do not contradict each other, but `optnone` needs `noinline` and excludes `minsize`.
# (`optsize`, `hot`, `alwaysinline` can clash.)
_PASSTHROUGH = words("noinline optnone minsize nounwind cold norecurse noreturn nofree")
_ARGUMENT_ATTRIBUTES = words("noundef noalias nonnull nocapture readonly signext zeroext", "llvm.")
_GLOBAL_ATTRIBUTES = words(
    """
    sym_name global_type linkage value constant addr_space alignment unnamed_addr visibility_
    dso_local thread_local_ tls_mode sym_visibility
    """
)
_GLOBAL_INITIALISER = words(
    """
    mlir.constant mlir.zero mlir.undef mlir.poison mlir.addressof insertvalue getelementptr return
    """,
    "llvm.",
)


def translation_hazard(module: Operation) -> str | None:
    """The first op of `module` that is not known to translate, or None if all are.

    Raises CompileError that names the ops that certainly do not.
    """
    # CUTLASS makes objects of its own of values, and looking at a value of a vector type outside of
    # a context would end the process.
    with module.context:
        unsafe = [operation for operation in _body(module) if not _top_level_safe(operation)]
        attributes_safe = _harmless(
            (attribute.name for attribute in named_attributes(module)), _MODULE_ATTRIBUTES
        )
    if not unsafe:
        return None if attributes_safe else "the attributes of the module"
    for operation in unsafe:
        _check_translatable(operation, module)
    attributes = unsafe[0].attributes
    name = f" @{str(attributes['sym_name'])[1:-1]}" if "sym_name" in attributes else ""
    return unsafe[0].name + name


def _top_level_safe(operation: Operation) -> bool:
    if operation.name == "llvm.func":
        return _function_safe(operation)
    if operation.name == "llvm.mlir.global":
        return _global_safe(operation)
    return operation.name in ("llvm.mlir.global_ctors", "llvm.mlir.global_dtors")


def _function_safe(function: Operation) -> bool:
    blocks = function.regions[0].blocks
    name = str(function.attributes["sym_name"])
    attributes = {a.name: a.attr for a in named_attributes(function)}
    return (
        not name.startswith('"llvm.')
        and _harmless(attributes, _FUNCTION_ATTRIBUTES)
        and _linkage_safe(str(attributes.get("linkage")), declares=not len(blocks))
        and _convention_safe(attributes)
        and function_type_known(attributes["function_type"])
        and _passthrough_safe(attributes.get("passthrough"))
        and not (
            "optimize_none" in attributes and '"minsize"' in str(attributes.get("passthrough"))
        )
        and all(
            _argument_attributes_safe(attributes.get(key)) for key in ("arg_attrs", "res_attrs")
        )
        and (
            _is_trusted(function)
            or (
                all(map(op_safe, distinct.operations(function, SAFE)))
                and (len(blocks) < 2 or _all_reachable(function))
            )
        )
    )


def _convention_safe(attributes: Mapping[str, object]) -> bool:
    convention = str(attributes.get("CConv", _CCC))
    return convention == _CCC or (
        convention in CALLING_CONVENTIONS and "..." not in str(attributes["function_type"])
    )


def _linkage_safe(linkage: str, *, declares: bool) -> bool:
    return linkage in _LINKAGES or (declares and linkage == _WEAK_REFERENCE)


def _global_safe(variable: Operation) -> bool:
    attributes = {a.name: a.attr for a in named_attributes(variable)}
    name, kind = str(attributes["sym_name"]), str(attributes["global_type"])
    if name.startswith('"llvm.') or not type_known(kind):
        return False
    if not _harmless(attributes, _GLOBAL_ATTRIBUTES) or str(attributes["linkage"]) not in _LINKAGES:
        return False
    if "alignment" in attributes and not alignment_known(attributes["alignment"]):
        return False
    if "value" in attributes:
        return _initialiser_safe(attributes["value"], kind)
    return all(
        op.operation.name in _GLOBAL_INITIALISER and op_safe(op.operation)
        for block in variable.regions[0].blocks
        for op in block.operations
    )


def _initialiser_safe(value: object, kind: str) -> bool:
    match type(value).__name__:
        case "StringAttr":
            return True  # the verifier compares the lengths
        case "IntegerAttr" | "FloatAttr" | "BoolAttr":
            return str(value) in ("true", "false") or str(value).endswith(f": {kind}")
        case "DenseIntElementsAttr" | "DenseFPElementsAttr":
            return kind.startswith(("!llvm.array<", "vector<"))
        case _:
            return str(value) in ("#llvm.zero", "#llvm.undef", "#llvm.poison")


def _passthrough_safe(values: object) -> bool:
    if values is None:
        return True
    others = _METADATA.sub("", _MARK.sub("", str(values)))
    found = set(re.findall(r'"([^"]*)"', others))
    return (
        "[[" not in others
        and found <= _PASSTHROUGH
        and ("optnone" not in found or ("noinline" in found and "minsize" not in found))
    )


def _argument_attributes_safe(values: Any) -> bool:
    if values is None:
        return True
    return all(
        _harmless(names, _ARGUMENT_ATTRIBUTES) and not {"llvm.signext", "llvm.zeroext"} <= names
        for names in ({each[at].name for at in range(len(each))} for each in values)
    )


def _harmless(names: Iterable[str], known: frozenset[str]) -> bool:
    """Tell whether attributes are known, or of a dialect that the translation ignores."""
    return all(name in known or is_ignored(name) for name in names)


def _all_reachable(function: Operation) -> bool:
    """Tell whether every block can be reached: only there MLIR checks the order of definitions."""
    blocks = list(function.regions[0].blocks)
    seen: set[object] = set()
    waiting = [blocks[0]]
    while waiting:
        block = waiting.pop()
        if block in seen:
            continue
        seen.add(block)
        waiting.extend(block.operations[len(block.operations) - 1].operation.successors)
    return len(seen) == len(blocks)


def _is_trusted(function: Operation) -> bool:
    """Return whether a function has a mark, and exactly the operations that the mark is for."""
    expected = mark(function)
    if expected is None:
        return False
    blocks = function.regions[0].blocks
    return expected == checksum([op.operation.name for block in blocks for op in block.operations])


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


_REFERENCES = {"llvm.call": "callee", "llvm.mlir.addressof": "global_name"}


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


def _check_translatable(operation: Operation, module: Operation) -> None:
    if not all(_has_translation(inner) for inner in _nested(operation)):
        raise _untranslatable(module)


def _has_translation(operation: Operation) -> bool:
    name = operation.name
    return name.partition(".")[0] in TRANSLATED and name != "builtin.unrealized_conversion_cast"


def _untranslatable(module: Operation) -> CompileError:
    found: dict[str, str] = {}
    provided = True
    for top in _body(module):
        wrapper = _wrapper_name(top)
        for operation in _nested(top):
            if not _has_translation(operation):
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
