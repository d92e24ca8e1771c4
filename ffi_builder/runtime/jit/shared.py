"""Helpers that many modules have in common: compiled once per process instead of once per module.

`attach` leaves internal functions and globals in a module whose names start with PREFIX and carry a
hash of their content, so that the same name means the same body. `split` gives the module without
them

    llvm.func internal @__ffi_builder_shared_diagnose_1f2e(…) {…}   ─►   llvm.func
    @__ffi_builder_shared_diagnose_1f2e(…)

and objects that define them, which are linked into the same library: one for the helpers that refer
to each other, so that modules with other combinations of helpers share them too.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from ffi_builder.errors import CompileError
from ffi_builder.runtime import _optional, mlir
from ffi_builder.runtime.codegen import emit
from ffi_builder.runtime.protocols import Module, Operation, named_attributes
from ffi_builder.runtime.safety import allowlist_mlir

PREFIX = "__ffi_builder_shared_"

# Helpers run when a call failed: what counts is that their code is there soon.
_OPT_LEVEL = 1

# What a declaration does not have; the rest, calling convention and argument attributes among it,
# must stay.
_ONLY_ON_DEFINITIONS = frozenset(
    {"linkage", "visibility_", "dso_local", "comdat", "section", "personality"}
)

_units: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
_kept: dict[tuple[str, ...], _Made] = {}
_lock = threading.Lock()


def has_helpers(module: Module) -> bool:
    """Whether `module` defines helpers."""
    return any(_is_helper(op) for op in mlir.body(module))


def split(module: Module) -> tuple[Module, list[bytes]]:
    """`module` with its helpers declared instead of defined, and the objects that define them.

    Without helpers, or if these do not compile by themselves, that is `module` itself and no
    object.
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
    for unit in made:
        mlir.append_from(unit.declarations, result)
    return result, [unit.code for unit in made]


@dataclass(frozen=True)
class _Made:
    """What was made of helpers with certain names."""

    code: bytes
    declarations: bytes
    """A module of them, as bytecode or text. Globals are not among them: only helpers use those."""


def _made(module: Module, names: tuple[str, ...]) -> list[_Made]:
    """In the order of their names."""
    root = mlir.root_of(module)
    with _lock:
        if (root, *names) not in _units:
            _units[(root, *names)] = _divided(module)
        units = _units[(root, *names)]
        for unit in units:
            if (root, *unit) not in _kept:
                _kept[(root, *unit)] = _compiled(module, frozenset(unit))
        return [_kept[(root, *unit)] for unit in units]


def _divided(module: Module) -> list[tuple[str, ...]]:
    """The names of the helpers, those together that refer to each other."""
    helpers = {_name(op): op for op in mlir.body(module) if _is_helper(op)}
    near: dict[str, set[str]] = {name: set() for name in helpers}
    for name, operation in helpers.items():
        for _, other in allowlist_mlir.uses(operation):
            if other in helpers:
                near[name].add(other)
                near[other].add(name)
    units: list[tuple[str, ...]] = []
    rest = set(helpers)
    for name in sorted(helpers):
        if name in rest:
            unit = _reachable(name, near)
            rest -= unit
            units.append(tuple(sorted(unit)))
    return units


def _reachable(start: str, near: dict[str, set[str]]) -> set[str]:
    found, waiting = {start}, [start]
    while waiting:
        new = near[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def _compiled(module: Module, names: frozenset[str]) -> _Made:
    unit = _helpers_only(module, names)
    mlir.verify(unit)
    text = mlir.to_llvm_ir(unit)
    code = emit.emit_object(text, "host", _OPT_LEVEL, passes=False)
    return _Made(code, mlir.content(_declarations_only(module, names)))


def _declarations_only(module: Module, names: frozenset[str]) -> Module:
    result = mlir.empty_like(module.operation)
    for operation in mlir.body(module):
        if _is_helper(operation) and operation.name == "llvm.func" and _name(operation) in names:
            result.body.append(declaration(operation))
    return result


def _helpers_only(module: Module, names: frozenset[str]) -> Module:
    """A module of some helpers, visible to other objects, and of all functions' declarations."""
    result = mlir.empty_like(module.operation)
    for operation in mlir.body(module):
        if _is_helper(operation):
            is_function = operation.name == "llvm.func"
            if _name(operation) in names:
                copy = operation.clone().operation
                if is_function:
                    copy.attributes["linkage"] = _external(operation)
                result.body.append(copy)
            elif is_function:
                result.body.append(declaration(operation))
        elif operation.name == "llvm.func" and not len(operation.regions[0].blocks):
            result.body.append(operation.clone())
    return result


def declaration(function: Operation) -> Operation:
    """A declaration of what `function` defines, without its debug information."""
    ir = _optional.load(f"{mlir.root_of_operation(function)}.ir")
    attributes = {
        attribute.name: attribute.attr
        for attribute in named_attributes(function)
        if attribute.name not in _ONLY_ON_DEFINITIONS
    }
    attributes["linkage"] = _external(function)
    unknown = ir.Location.unknown(function.context)
    return ir.Operation.create("llvm.func", attributes=attributes, regions=1, loc=unknown)


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
