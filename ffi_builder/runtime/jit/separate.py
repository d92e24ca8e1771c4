"""Helpers and wrappers as modules of their own, for `object_cache`.

Helpers are internal functions and globals that `attach` leaves in a module. In their own module
other objects see them, and the module that they come from only declares them:

    llvm.func internal @__ffi_builder_shared_diagnose_1f2e(…) {…}
    ─►  llvm.func @__ffi_builder_shared_diagnose_1f2e(…)

In a wrapper's own module, the wrapper, its table (which has all texts) and its callee go by
placeholders, so that wrappers of one structure have equal modules:

    llvm.func @__tvm_ffi_matmul(…) { … @__ffi_builder_table_matmul … @matmul … }
    ─►  llvm.func @__tvm_ffi__unit(…) { … @__ffi_builder_unit_1 … @__ffi_builder_unit_2 … }
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from typing import Final, NamedTuple

from ffi_builder import abi, protocol
from ffi_builder.protocol import SHARED, TABLE, TEXT
from ffi_builder.records import dataclass
from ffi_builder.runtime import metadata, mlir
from ffi_builder.runtime.jit.link import RESERVED
from ffi_builder.runtime.protocols import Module, Operation, named_attributes
from ffi_builder.runtime.safety import allowlist_mlir

_WRAPPER: Final = f"{abi.PREFIX}_unit"
_PLACEHOLDER: Final = f"{protocol.PREFIX}unit_"

_EXTERNAL: Final = "#llvm.linkage<external>"
_PRIVATE: Final = "#llvm.linkage<private>"
_HIDDEN: Final = "1 : i64"
_UNSIZED: Final = "!llvm.array<1 x i8>"
_DEBUG_INFORMATION: Final = "#llvm.di_"
# A declaration keeps everything else, such as calling convention and argument attributes.
_ONLY_ON_DEFINITIONS: Final = frozenset(
    {"linkage", "visibility_", "dso_local", "comdat", "section", "personality", "value"}
)


# ---- helpers


def helpers(module: Module) -> dict[str, Operation]:
    """The helpers that `module` defines, by their names."""
    return {_name(op): op for op in mlir.body(module) if _is_helper(op)}


class HelperGroup(NamedTuple):
    """Helpers that refer to each other."""

    names: tuple[str, ...]
    """Sorted."""
    uses: frozenset[str]
    """The other symbols that they refer to."""


def helper_groups(module: Module) -> list[HelperGroup]:
    """Group the helpers of a module."""
    found = helpers(module)
    groups = {name: {name} for name in found}
    uses = {
        name: {symbol for _, symbol in allowlist_mlir.uses(operation) if symbol is not None}
        for name, operation in found.items()
    }
    for name in found:
        for other in uses[name] & found.keys():
            if groups[other] is not groups[name]:
                groups[name] |= groups[other]
                groups.update(dict.fromkeys(groups[other], groups[name]))
    return [
        HelperGroup(names, frozenset().union(*(uses[name] for name in names)).difference(names))
        for names in sorted({tuple(sorted(group)) for group in groups.values()})
    ]


def only_helpers(module: Module, group: HelperGroup) -> Module:
    """A module of a group of helpers, visible to other objects, and of what they refer to.

    It is the same for all modules with these helpers, but for the module's attributes.
    """
    result = mlir.empty_like(module.operation, located=False)
    for operation in mlir.body(module):
        is_helper = _is_helper(operation) and _name(operation) in group.names
        if is_helper or (_is_declaration(operation) and _name(operation) in group.uses):
            copy = operation.clone().operation
            if is_helper and operation.name == "llvm.func":
                ir = mlir.ir_of(operation)
                copy.attributes["linkage"] = ir.Attribute.parse(_EXTERNAL, operation.context)
            result.body.append(copy)
    return result


@contextlib.contextmanager
def without_helpers(module: Module) -> Generator[Module]:
    """Lend a module that has the operations of `module`, but only declares its helpers.

    Wrappers are copied, so that they may be erased there. What else there is, is moved, as a kernel
    may have a hundred thousand operations. Afterwards, `module` is as it was. Only helpers use
    their globals.
    """
    operations = mlir.body(module)
    rest = mlir.empty_like(module.operation)
    declared: list[Operation] = []
    others: list[Operation] = []
    for operation in operations:
        if not _is_helper(operation):
            others.append(operation)
        elif operation.name == "llvm.func":
            declared.append(declaration(operation))
    try:
        for operation in others:
            rest.body.append(operation.clone() if _is_wrapper(operation) else operation)
        for operation in declared:
            rest.body.append(operation)
        yield rest
    finally:
        for operation in operations:
            module.body.append(operation)


def _is_helper(operation: Operation) -> bool:
    return (
        operation.name in ("llvm.func", "llvm.mlir.global")
        and "sym_name" in operation.attributes
        and str(operation.attributes["sym_name"]).startswith(f'"{SHARED}')
    )


def _is_wrapper(operation: Operation) -> bool:
    return "sym_name" in operation.attributes and is_wrapper(_name(operation), operation)


# ---- wrappers


@dataclass(frozen=True)
class WrapperModule:
    """A wrapper by itself."""

    module: Module
    names: dict[str, str]
    """The symbols that placeholders stand for."""
    table: tuple[str, bytes]
    """The symbol of the wrapper's table, which the module only declares, and its bytes."""


def symbols(module: Module) -> dict[str, Operation]:
    """The operations of `module` that have a name."""
    return {_name(op): op for op in mlir.body(module) if "sym_name" in op.attributes}


def is_wrapper(name: str, operation: Operation) -> bool:
    """Tell whether an operation defines a function of the TVM-FFI ABI."""
    return (
        operation.name == "llvm.func"
        and name.startswith(abi.PREFIX)
        and not name.removeprefix(abi.PREFIX).startswith(RESERVED)
        and not _is_declaration(operation)
    )


def is_unoptimised(wrapper: Operation) -> bool:
    """Tell whether LLVM's passes leave a wrapper alone, so that compiled apart it is no slower."""
    attributes = wrapper.attributes
    return "passthrough" in attributes and '"optnone"' in str(attributes["passthrough"])


def only_declares(module: Module) -> bool:
    """Tell whether a module without its wrappers has nothing left to compile but constants."""
    return all(
        _is_declaration(op) or ("sym_name" in op.attributes and _is_constant(_name(op), op))
        for op in mlir.body(module)
    )


def only_wrapper(
    module: Module, wrapper: Operation, symbols: dict[str, Operation]
) -> WrapperModule | None:
    """A module of `wrapper` and what it refers to; None if it cannot be compiled by itself.

    That is so if its mark is not intact, if it refers to what other objects cannot see, and if it
    has debug information, which contains names and is of one function alone.
    """
    references = allowlist_mlir.trusted_references(wrapper)
    if references is None or _DEBUG_INFORMATION in str(wrapper.location):
        return None
    if not all(_is_linkable(name, symbols.get(name)) for name in references):
        return None
    found = {name: symbols[name] for name in references}
    tables = [name for name, operation in found.items() if _is_table(name, operation)]
    return _with_placeholders(module, wrapper, found, *tables) if len(tables) == 1 else None


def _with_placeholders(
    module: Module, wrapper: Operation, references: dict[str, Operation], table: str
) -> WrapperModule:
    alone = mlir.empty_like(module.operation)
    named: dict[str, Operation] = {}
    for name, operation in references.items():
        is_constant = _is_constant(name, operation)
        if name == table:
            # `elf.with_constant` defines it, and only that says how long it is.
            copy = declaration(operation, visibility_=_HIDDEN, global_type=_UNSIZED)
        elif is_constant or _is_declaration(operation):
            copy = operation.clone().operation
        else:
            copy = declaration(operation)
        alone.body.append(copy)
        # The names of helpers and of texts follow from what is in them.
        if name == table or not (is_constant or name.startswith(SHARED)):
            named[name] = copy
    copy = wrapper.clone().operation
    alone.body.append(copy)
    _leave_out_metadata(copy)
    mlir.rename(alone, copy, _name(wrapper), _WRAPPER)
    names = {_WRAPPER: _name(wrapper)}
    # Functions may share a table; each of their objects has one.
    own_table = f"{TABLE}{_name(wrapper)}"
    for name, copy in named.items():
        placeholder = f"{_PLACEHOLDER}{len(names)}"
        mlir.rename(alone, copy, name, placeholder)
        names[placeholder] = own_table if name == table else name
    mlir.forget_locations(alone)
    data: bytes = references[table].attributes["value"].value_bytes
    return WrapperModule(alone, names, (own_table, data))


def _is_linkable(name: str, operation: Operation | None) -> bool:
    """Tell whether another object can refer to a symbol, under any name."""
    if operation is None or name.startswith(("llvm.", _PLACEHOLDER)) or name == _WRAPPER:
        return False
    if _is_constant(name, operation) or _is_declaration(operation):
        return True
    attributes = operation.attributes
    hidden = "visibility_" in attributes and "hidden" in str(attributes["visibility_"])
    external = "linkage" in attributes and str(attributes["linkage"]) == _EXTERNAL
    return operation.name == "llvm.func" and external and not hidden


def _leave_out_metadata(wrapper: Operation) -> None:
    """Metadata contains names, and is in no object."""
    flags = wrapper.attributes["passthrough"]
    others = [flag for flag in flags if metadata.ATTRIBUTE not in str(flag)]
    wrapper.attributes["passthrough"] = mlir.ir_of(wrapper).ArrayAttr.get(others, wrapper.context)


# ---- operations


def declaration(definition: Operation, **changed: str) -> Operation:
    """A declaration of what `definition` defines, without its debug information.

    `changed` are attributes that differ from those of the definition, as text.
    """
    attributes = {
        named.name: named.attr
        for named in named_attributes(definition)
        if named.name not in _ONLY_ON_DEFINITIONS
    }
    ir = mlir.ir_of(definition)
    for name, text in {"linkage": _EXTERNAL, **changed}.items():
        attributes[name] = ir.Attribute.parse(text, definition.context)
    unknown = ir.Location.unknown(definition.context)
    return ir.Operation.create(definition.name, attributes=attributes, regions=1, loc=unknown)


def _is_declaration(operation: Operation) -> bool:
    return operation.name == "llvm.func" and not len(operation.regions[0].blocks)


def _is_constant(name: str, operation: Operation) -> bool:
    """Tell whether an operation is the table or a text of a wrapper."""
    return (
        operation.name == "llvm.mlir.global"
        and name.startswith((TABLE, TEXT))
        and str(operation.attributes["linkage"]) == _PRIVATE
    )


def _is_table(name: str, operation: Operation) -> bool:
    return name.startswith(TABLE) and _is_constant(name, operation)


def _name(operation: Operation) -> str:
    return operation.attributes["sym_name"].value
