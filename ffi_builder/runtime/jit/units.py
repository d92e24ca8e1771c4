"""Wrappers of one structure: compiled apart the second time, and not at all from the third on.

A JIT compiles one wrapper over and over, around one kernel after the other; a library has many
kernels that take the same arguments. A wrapper of `ffi_builder` that calls nothing but what other
objects can see makes an object of its own, in which what has a name is a placeholder: the function,
its table (which has all the texts), and what it calls. That is kept by its content, and linked
again with other names. The first time a wrapper is compiled with the rest of its module: that is
quicker by what LLVM takes for any object, however small.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter, OrderedDict
from dataclasses import dataclass
from typing import Any, Final

from ffi_builder.errors import CompileError
from ffi_builder.runtime import _optional, elf, metadata, mlir
from ffi_builder.runtime.codegen import emit
from ffi_builder.runtime.jit import shared
from ffi_builder.runtime.jit.link import PREFIX, RESERVED
from ffi_builder.runtime.protocols import Module, Operation, named_attributes
from ffi_builder.runtime.safety import allowlist_mlir

MOST: Final = 256
"""How many objects are kept, of some 1 to 10 KB; those not used for longest go first."""

_MOST_AT_ONCE: Final = 4
"""How many structures of one module are compiled apart: more are quicker together."""

_MOST_SEEN: Final = 4096
_CONSTANTS: Final = "__ffi_builder_t"  # tables and texts
_TABLE: Final = "__ffi_builder_table_"
_PLACEHOLDER: Final = "__ffi_builder_unit_"
_FUNCTION: Final = f"{PREFIX}_unit"
_VISIBLE: Final = "#llvm.linkage<external>"
_PRIVATE: Final = "#llvm.linkage<private>"
_HIDDEN: Final = "1 : i64"
_DEBUG_INFORMATION: Final = "#llvm.di_"

_seen: Final[OrderedDict[tuple[int, int], None]] = OrderedDict()
_objects: Final[OrderedDict[bytes, bytes]] = OrderedDict()
_lock = threading.Lock()


@dataclass(frozen=True)
class _Unit:
    """A wrapper by itself."""

    module: Module
    names: dict[str, str]
    """What the placeholders in it stand for."""
    table: tuple[str, bytes]
    """The symbol that stands for it, and its bytes."""


def take_out(module: Module, level: int) -> list[bytes]:
    """Take wrappers that were compiled before out of `module`, and give the objects that have them.

    The module has been verified. Wrappers are declared in it then, and their tables stay: somebody
    else may refer to both. It is all of them or none, so that functions stay in their order.
    """
    symbols = {_name(op): op for op in mlir.body(module) if "sym_name" in op.attributes}
    wrappers = [op for name, op in symbols.items() if _is_wrapper(name, op)]
    if not wrappers or not _all_seen(wrappers, level):
        return []
    made: list[bytes] = []
    for operation in wrappers:
        references = allowlist_mlir.sealed_references(operation)
        unit = None if references is None else _unit(module, operation, references, symbols)
        if unit is None:
            return []
        try:
            code = _object_of(unit.module, level)
        except CompileError:
            return []  # compiling the module as it is says what is wrong with it
        made.append(elf.with_constant(elf.rename_symbols(code, unit.names), *unit.table))
    for operation in wrappers:
        module.body.append(shared.declaration(operation))
        operation.erase()
    return made


def only_declares(module: Module) -> bool:
    """Whether there is nothing in `module` to make an object of: what is left are constants."""
    return all(_is_declaration(op) or _is_left(op) for op in mlir.body(module))


def _is_left(operation: Operation) -> bool:
    return "sym_name" in operation.attributes and _is_constant(_name(operation), operation)


def _is_wrapper(name: str, operation: Operation) -> bool:
    return (
        operation.name == "llvm.func"
        and name.startswith(PREFIX)
        and not name.removeprefix(PREFIX).startswith(RESERVED)
        and not _is_declaration(operation)
    )


def _all_seen(wrappers: list[Operation], level: int) -> bool:
    """Whether each is probably like one that was here before, or like another; now they were."""
    # Where the marks of two that are not alike are equal, one is compiled apart too early.
    marks = [allowlist_mlir.mark(op) for op in wrappers if _is_plain(op)]
    keys = Counter((mark, level) for mark in marks if mark is not None)
    if keys.total() < len(wrappers) or len(keys) > _MOST_AT_ONCE:
        return False
    with _lock:
        known = all(count > 1 or key in _seen for key, count in keys.items())
        _seen.update(dict.fromkeys(keys))
        while len(_seen) > _MOST_SEEN:
            _seen.popitem(last=False)
    return known


def _is_plain(operation: Operation) -> bool:
    """Whether LLVM's passes leave it alone, so that compiled apart it is no slower."""
    attributes = operation.attributes
    return "passthrough" in attributes and '"optnone"' in str(attributes["passthrough"])


def _unit(
    module: Module, wrapper: Operation, references: list[str], symbols: dict[str, Operation]
) -> _Unit | None:
    """A wrapper and what it refers to; None if other objects could not see that.

    Nor one with debug information, which has its own names, and is of one function alone.
    """
    if _DEBUG_INFORMATION in str(wrapper.location):
        return None
    if not all(_is_linkable(name, symbols.get(name)) for name in references):
        return None
    constants = [name for name in references if _is_constant(name, symbols[name])]
    tables = [name for name in constants if name.startswith(_TABLE)]
    if len(tables) != 1:
        return None
    (table,) = tables
    unit = mlir.empty_like(module.operation)
    named: dict[str, Operation] = {}
    for name in references:
        operation = symbols[name]
        if name == table:
            copy = _declared_table(operation)
        elif name in constants or _is_declaration(operation):
            copy = operation.clone().operation
        else:
            copy = shared.declaration(operation)
        unit.body.append(copy)
        # Of helpers and texts the name says what is in them.
        if name == table or not (name in constants or name.startswith(shared.PREFIX)):
            named[name] = copy
    copy = wrapper.clone().operation
    unit.body.append(copy)
    _leave_out_metadata(copy)
    mlir.rename(unit, copy, _name(wrapper), _FUNCTION)
    names = {_FUNCTION: _name(wrapper)}
    # Functions may share a table; each of their objects has one.
    own = f"{_TABLE}{_name(wrapper)}"
    for name, copy in named.items():
        placeholder = f"{_PLACEHOLDER}{len(names)}"
        mlir.rename(unit, copy, name, placeholder)
        names[placeholder] = own if name == table else name
    mlir.forget_locations(unit)
    data: bytes = symbols[table].attributes["value"].value_bytes
    return _Unit(unit, names, (own, data))


def _is_linkable(name: str, operation: Operation | None) -> bool:
    """Whether an object of its own can refer to a symbol, under any name."""
    return (
        operation is not None
        and not name.startswith(("llvm.", _PLACEHOLDER))
        and name != _FUNCTION
        and (
            _is_constant(name, operation)
            or _is_declaration(operation)
            or (operation.name == "llvm.func" and _is_visible(operation))
        )
    )


def _declared_table(table: Operation) -> Operation:
    """A declaration of what `with_constant` defines."""
    ir = _optional.load(f"{mlir.root_of_operation(table)}.ir")
    parse = ir.Attribute.parse
    attributes = {named.name: named.attr for named in named_attributes(table)}
    del attributes["value"]
    attributes |= {
        "linkage": parse(_VISIBLE, table.context),
        "visibility_": parse(_HIDDEN, table.context),
        # How long it is says its definition.
        "global_type": parse("!llvm.array<1 x i8>", table.context),
    }
    return ir.Operation.create(
        "llvm.mlir.global", attributes=attributes, regions=1, loc=table.location
    )


def _leave_out_metadata(wrapper: Operation) -> None:
    """It is in no object, and has names."""
    ir = _optional.load(f"{mlir.root_of_operation(wrapper)}.ir")
    flags = [
        flag for flag in wrapper.attributes["passthrough"] if metadata.ATTRIBUTE not in str(flag)
    ]
    wrapper.attributes["passthrough"] = ir.ArrayAttr.get(flags, wrapper.context)


def _is_constant(name: str, operation: Operation) -> bool:
    return (
        operation.name == "llvm.mlir.global"
        and name.startswith(_CONSTANTS)
        and str(operation.attributes["linkage"]) == _PRIVATE
    )


def _is_declaration(operation: Operation) -> bool:
    return operation.name == "llvm.func" and not len(operation.regions[0].blocks)


def _is_visible(function: Operation) -> bool:
    attributes = function.attributes
    return str(attributes["linkage"]) == _VISIBLE and not (
        "visibility_" in attributes and "hidden" in str(attributes["visibility_"])
    )


def _object_of(unit: Module, level: int) -> bytes:
    content = mlir.content_of_verified(unit)
    key = hashlib.sha256(content).digest() + bytes([level])
    with _lock:
        if key in _objects:
            _objects.move_to_end(key)
            return _objects[key]
    made = emit.emit_object(mlir.to_llvm_ir(unit), "host", level)
    with _lock:
        _objects[key] = made
        while len(_objects) > MOST:
            _objects.popitem(last=False)
    return made


def _name(operation: Operation) -> Any:
    return operation.attributes["sym_name"].value
