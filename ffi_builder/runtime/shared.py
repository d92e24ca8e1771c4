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
from dataclasses import dataclass

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

_kept: dict[tuple[str, ...], _Made] = {}
_lock = threading.Lock()


def has_helpers(module: Module) -> bool:
    """Whether `module` defines helpers."""
    return any(_is_helper(op) for op in mlir.body(module))


def split(module: Module) -> tuple[Module, list[bytes]]:
    """`module` with its helpers declared instead of defined, and the objects that define them.

    Without helpers that is `module` itself and no object. Raises CompileError if a helper does not
    compile.
    """
    body = [(operation, _is_helper(operation)) for operation in mlir.body(module)]
    names = tuple(sorted(_name(operation) for operation, is_helper in body if is_helper))
    if not names:
        return module, []
    try:
        made = _made(module, names)
    except CompileError:
        # Not self-contained, or edited by a pass: compiling the module as it is says what is wrong,
        # if anything.
        return module, []
    result = mlir.empty_like(module.operation)
    for operation, is_helper in body:
        if not is_helper:
            result.body.append(operation.clone())
    mlir.append_from(made.declarations, result)
    return result, [made.code]


@dataclass(frozen=True)
class _Made:
    """What was made of helpers with certain names."""

    code: bytes
    declarations: bytes
    """A module of them, as bytecode or text. Globals are not among them: only helpers use those."""


def _made(module: Module, names: tuple[str, ...]) -> _Made:
    key = (mlir.root_of(module), *names)
    with _lock:
        if key not in _kept:
            unit = _helpers_only(module)
            mlir.verify(unit)
            text = mlir.to_llvm_ir(unit)
            code = codegen.emit_object(text, "host", _OPT_LEVEL, passes=False)
            _kept[key] = _Made(code, mlir.content(_declarations_only(module)))
        return _kept[key]


def _declarations_only(module: Module) -> Module:
    result = mlir.empty_like(module.operation)
    for operation in mlir.body(module):
        if _is_helper(operation) and operation.name == "llvm.func":
            result.body.append(declaration(operation))
    return result


def _helpers_only(module: Module) -> Module:
    """A module of the helpers, visible to other objects, and of the module's declarations."""
    result = mlir.empty_like(module.operation)
    for operation in mlir.body(module):
        if _is_helper(operation):
            copy = operation.clone().operation
            if operation.name == "llvm.func":
                copy.attributes["linkage"] = _external(operation)
            result.body.append(copy)
        elif operation.name == "llvm.func" and not len(operation.regions[0].blocks):
            result.body.append(operation.clone())
    return result


def declaration(function: Operation) -> object:
    """A declaration of what `function` defines."""
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


def _is_helper(operation: Operation) -> bool:
    return (
        operation.name in ("llvm.func", "llvm.mlir.global")
        and "sym_name" in operation.attributes
        and _name(operation).startswith(PREFIX)
    )


def _name(operation: Operation) -> str:
    return str(operation.attributes["sym_name"])[1:-1]
