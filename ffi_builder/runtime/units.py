"""Wrappers that come back: compiled apart the second time, and not at all from the third on.

A JIT compiles one wrapper over and over, around one kernel after the other. A wrapper of
`ffi_builder` that calls nothing but what other objects can see makes an object of its own, which is
kept by its content and linked again. The first time it is compiled with the rest of its module:
that is quicker by what LLVM takes for any object, however small.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from typing import Any, Final

from ffi_builder.errors import CompileError
from ffi_builder.runtime import codegen, mlir, screen_mlir, shared
from ffi_builder.runtime.link import PREFIX, RESERVED
from ffi_builder.runtime.protocols import Module, Operation

MOST: Final = 256
"""How many objects are kept, of some 1 to 10 KB; those not used for longest go first."""

_MOST_AT_ONCE: Final = 4
"""How many wrappers of one module are compiled apart: more are quicker together."""

_MOST_SEEN: Final = 4096
_CONSTANTS: Final = "__ffi_builder_t"  # tables and texts
_TABLE: Final = "__ffi_builder_table_"
_VISIBLE: Final = "#llvm.linkage<external>"

_seen: Final[OrderedDict[int, None]] = OrderedDict()
_objects: Final[OrderedDict[bytes, bytes]] = OrderedDict()
_lock = threading.Lock()


def take_out(module: Module, level: int) -> list[bytes]:
    """Take wrappers that were compiled before out of `module`, and give the objects that have them.

    All of them or none, so that functions stay in their order.
    """
    symbols = {_name(op): op for op in mlir.body(module) if "sym_name" in op.attributes}
    wrappers = [op for name, op in symbols.items() if _is_wrapper(name, op)]
    if not 0 < len(wrappers) <= _MOST_AT_ONCE or not _all_seen(wrappers, level):
        return []
    found = [(op, screen_mlir.sealed_references(op)) for op in wrappers]
    made: list[bytes] = []
    for operation, references in found:
        unit = None if references is None else _unit(module, operation, references, symbols)
        if unit is None:
            return []
        try:
            made.append(_object_of(unit, level))
        except CompileError:
            return []  # compiling the module as it is says what is wrong with it
    for operation, references in found:
        operation.erase()
        for name in references or ():
            if name.startswith(_TABLE) and name in symbols:
                symbols.pop(name).erase()
    return made


def only_declares(module: Module) -> bool:
    """Whether there is nothing in `module` to make an object of."""
    return all(op.name == "llvm.func" and not len(op.regions[0].blocks) for op in mlir.body(module))


def _is_wrapper(name: str, operation: Operation) -> bool:
    return (
        operation.name == "llvm.func"
        and name.startswith(PREFIX)
        and not name.removeprefix(PREFIX).startswith(RESERVED)
        and not _is_declaration(operation)
    )


def _all_seen(wrappers: list[Operation], level: int) -> bool:
    """Whether ones of the same name and signature were here before; from now on they were."""
    # Hashes take less memory; where two are equal, one wrapper is compiled apart too early.
    keys = [
        hash((_name(op), str(op.attributes["passthrough"]), level))
        for op in wrappers
        if _marked(op)
    ]
    if len(keys) < len(wrappers):
        return False
    with _lock:
        known = all(key in _seen for key in keys)
        _seen.update(dict.fromkeys(keys))
        while len(_seen) > _MOST_SEEN:
            _seen.popitem(last=False)
    return known


def _marked(operation: Operation) -> bool:
    """Whether LLVM's passes leave it alone, so that compiled apart it is no slower."""
    attributes = operation.attributes
    return "passthrough" in attributes and '"optnone"' in str(attributes["passthrough"])


def _unit(
    module: Module, wrapper: Operation, references: set[str], symbols: dict[str, Operation]
) -> Module | None:
    """A module of the wrapper and what it refers to; None if other objects could not see that."""
    unit = mlir.empty_like(module.operation)
    for name in sorted(references):
        found = symbols.get(name)
        if found is None:
            return None
        if _is_constant(name, found) or _is_declaration(found):
            unit.body.append(found.clone())
        elif found.name == "llvm.func" and _is_visible(found):
            unit.body.append(shared.declaration(found))
        else:
            return None
    unit.body.append(wrapper.clone())
    return unit


def _is_constant(name: str, operation: Operation) -> bool:
    return operation.name == "llvm.mlir.global" and name.startswith(_CONSTANTS)


def _is_declaration(operation: Operation) -> bool:
    return operation.name == "llvm.func" and not len(operation.regions[0].blocks)


def _is_visible(function: Operation) -> bool:
    attributes = function.attributes
    return str(attributes["linkage"]) == _VISIBLE and not (
        "visibility_" in attributes and "hidden" in str(attributes["visibility_"])
    )


def _object_of(unit: Module, level: int) -> bytes:
    content = mlir.content(unit)
    key = hashlib.sha256(content).digest() + bytes([level])
    with _lock:
        if key in _objects:
            _objects.move_to_end(key)
            return _objects[key]
    made = codegen.emit_object(mlir.to_llvm_ir(unit), "host", level)
    with _lock:
        _objects[key] = made
        while len(_objects) > MOST:
            _objects.popitem(last=False)
    return made


def _name(operation: Operation) -> Any:
    return operation.attributes["sym_name"].value
