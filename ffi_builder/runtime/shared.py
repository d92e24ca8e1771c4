"""Helpers that many modules have in common: compiled once per process instead of once per module.

`attach` leaves internal functions and globals in a module whose names start with PREFIX and carry a
hash of their content, so that the same name means the same body. All of them in a module make one
unit. `split` gives the module without them

    llvm.func internal @__ffi_builder_shared_diagnose_1f2e(…) {…}   ─►   llvm.func
    @__ffi_builder_shared_diagnose_1f2e(…)

and an object that defines them, which is linked into the same library.
"""

from __future__ import annotations

import threading

from ffi_builder.errors import CompileError
from ffi_builder.runtime import _optional, codegen, mlir
from ffi_builder.runtime.protocols import Module, Operation, named_attributes

PREFIX = "__ffi_builder_shared_"

# Helpers run when a call failed: what counts is that their code is there soon.
_OPT_LEVEL = 1

# What a declaration does not have; the rest, calling convention and argument attributes among it,
# must stay.
_ONLY_ON_DEFINITIONS = frozenset(
    {"linkage", "visibility_", "dso_local", "comdat", "section", "personality"}
)

_objects: dict[tuple[str, ...], bytes] = {}
_lock = threading.Lock()


def has_helpers(module: Module) -> bool:
    """Whether `module` defines helpers."""
    return any(_is_helper(op) for op in _body(module))


def split(module: Module) -> tuple[Module, list[bytes]]:
    """`module` with its helpers declared instead of defined, and the objects that define them.

    Without helpers that is `module` itself and no object. Raises CompileError if a helper does not
    compile.
    """
    helpers = [op for op in _body(module) if _is_helper(op)]
    if not helpers:
        return module, []
    try:
        objects = [_object_of(module, helpers)]
    except CompileError:
        # Not self-contained, or edited by a pass: compiling the module as it is says what is wrong,
        # if anything.
        return module, []
    return _without(module, helpers), objects


def _object_of(module: Module, helpers: list[Operation]) -> bytes:
    key = tuple(sorted(_name(op) for op in helpers))
    with _lock:
        if key not in _objects:
            unit = _helpers_only(module)
            mlir.verify(unit)
            text = mlir.to_llvm_ir(unit)
            _objects[key] = codegen.emit_object(text, "host", _OPT_LEVEL, passes=False)
        return _objects[key]


def _without(module: Module, helpers: list[Operation]) -> Module:
    """A copy of `module` in which functions among `helpers` are declared.

    Their globals, which only they use, are gone.
    """
    result = mlir.empty_like(module.operation)
    for operation in _body(module):
        if not _is_helper(operation):
            result.body.append(operation.clone())
        elif operation.name == "llvm.func":
            result.body.append(_declaration(operation))
    return result


def _helpers_only(module: Module) -> Module:
    """A module of the helpers, visible to other objects, and of the module's declarations."""
    result = mlir.empty_like(module.operation)
    for operation in _body(module):
        if _is_helper(operation):
            copy = operation.clone().operation
            if operation.name == "llvm.func":
                copy.attributes["linkage"] = _external(operation)
            result.body.append(copy)
        elif operation.name == "llvm.func" and not len(operation.regions[0].blocks):
            result.body.append(operation.clone())
    return result


def _declaration(function: Operation) -> object:
    ir = _optional.load(f"{mlir.root_of_operation(function)}.ir")
    attributes = {
        attribute.name: attribute.attr
        for attribute in named_attributes(function)
        if attribute.name not in _ONLY_ON_DEFINITIONS
    }
    attributes["linkage"] = _external(function)
    return ir.Operation.create("llvm.func", attributes=attributes, regions=1, loc=function.location)


def _external(operation: Operation) -> object:
    ir = _optional.load(f"{mlir.root_of_operation(operation)}.ir")
    return ir.Attribute.parse("#llvm.linkage<external>", operation.context)


def _body(module: Module) -> list[Operation]:
    return [op.operation for op in module.body.operations]


def _is_helper(operation: Operation) -> bool:
    return (
        operation.name in ("llvm.func", "llvm.mlir.global")
        and "sym_name" in operation.attributes
        and _name(operation).startswith(PREFIX)
    )


def _name(operation: Operation) -> str:
    return str(operation.attributes["sym_name"])[1:-1]
