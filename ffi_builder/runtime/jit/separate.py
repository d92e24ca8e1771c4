"""Wrappers as modules of their own, for `object_cache`.

The wrapper, its table (which has all texts) and its callee go by placeholders, so that wrappers of
one structure have equal modules:

    llvm.func @__tvm_ffi_matmul(…) { … @__ffi_builder_table_matmul … @matmul … }
    ─►  llvm.func @__tvm_ffi__unit(…) { … @__ffi_builder_unit_1 … @__ffi_builder_unit_2 … }
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from typing import Final

from ffi_builder import abi, protocol
from ffi_builder.protocol import SHARED, TABLE, TEXT
from ffi_builder.records import dataclass
from ffi_builder.runtime import capi, metadata, mlir
from ffi_builder.runtime.elf import Constant
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


@contextlib.contextmanager
def lent(module: Module) -> Generator[Module]:
    """Lend a module that has the operations of `module`, whose wrappers may be erased there.

    Wrappers are copied. What else there is, is moved, as a kernel may have a hundred thousand
    operations. Afterwards, `module` is as it was.
    """
    operations = mlir.body(module)
    result = mlir.empty_like(module.operation)
    try:
        for operation in operations:
            result.body.append(operation.clone() if _is_wrapper(operation) else operation)
        yield result
    finally:
        for operation in operations:
            module.body.append(operation)


def _is_wrapper(operation: Operation) -> bool:
    return "sym_name" in operation.attributes and is_wrapper(_name(operation), operation)


@dataclass(frozen=True)
class WrapperModule:
    """A wrapper by itself."""

    module: Module
    names: dict[str, str]
    """The symbols that placeholders stand for."""
    table: dict[str, Constant]
    """The wrapper's table by its symbol, which the module only declares."""


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
            # `elf.with_constants` defines it, and only that says how long it is.
            copy = declaration(operation, visibility_=_HIDDEN, global_type=_UNSIZED)
        elif is_constant or _is_declaration(operation):
            copy = operation.clone().operation
        else:
            copy = declaration(operation)
        alone.body.append(copy)
        # The names of support functions and of texts follow from what is in them.
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
    return WrapperModule(alone, names, {own_table: Constant(data)})


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
    wrapper.attributes["passthrough"] = capi.ir_of(wrapper).ArrayAttr.get(others, wrapper.context)


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
    ir = capi.ir_of(definition)
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
