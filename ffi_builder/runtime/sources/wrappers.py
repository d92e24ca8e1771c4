"""Keeps the machine code of wrappers, to link it instead of compiling equal wrappers again.

Wrappers of one structure recur under other names, around other kernels: a JIT compiles one wrapper
over and over, and many kernels of a library take the same arguments. The first time, a wrapper is
compiled with the rest of its module, which saves LLVM's fixed cost per object. The second time it
is compiled as a separate module, and from the third time on not at all.

In that module, placeholders replace the names of the wrapper, its table (which has all texts) and
its callee. So wrappers of one structure have equal modules:

    llvm.func @__tvm_ffi_matmul(…) { … @__ffi_builder_table_matmul … @matmul … }
    ─►  llvm.func @__tvm_ffi__unit(…) { … @__ffi_builder_unit_1 … @__ffi_builder_unit_2 … }

A wrapper that cannot be separated is compiled with the rest of its module.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections import Counter, OrderedDict
from collections.abc import Callable, Generator, Hashable, Sequence
from typing import Final

from ffi_builder import abi, protocol
from ffi_builder.errors import CompileError
from ffi_builder.protocol import SHARED, TABLE, TEXT
from ffi_builder.records import dataclass
from ffi_builder.runtime import bindings, metadata
from ffi_builder.runtime.codegen import allowlist_mlir, mlir
from ffi_builder.runtime.codegen.constants import LlvmIr
from ffi_builder.runtime.codegen.dense import declaration
from ffi_builder.runtime.codegen.emit import Steps
from ffi_builder.runtime.files import object_files
from ffi_builder.runtime.files.object_files import Constant
from ffi_builder.runtime.isolate.locks import fork_safe_lock
from ffi_builder.runtime.jit.link import RESERVED
from ffi_builder.runtime.protocols import Module, Operation

MOST: Final = 256
"""The number of objects to keep, of 1 to 10 KB each. The least recently used are dropped first."""

_MOST_AT_ONCE: Final = 4
"""The most structures of one module to compile separately. More compile faster together."""

_MOST_SEEN: Final = 4096

_seen: Final[OrderedDict[tuple[Hashable, int], None]] = OrderedDict()
"""The marks of wrappers compiled before, each with the optimisation level."""
_objects: Final[OrderedDict[bytes, bytes]] = OrderedDict()
_lock = fork_safe_lock()


def compiled_objects(module: Module, level: int) -> Steps[list[bytes]]:
    """Compile `module` for this CPU, to its own object, then those of its wrappers.

    Raises CompileError.
    """
    with _lent(module) as rest:
        mlir.verify(rest)
        wrappers = yield from _take_wrappers(rest, level)
        if wrappers and _only_declares(rest):
            return wrappers
        own = yield mlir.to_llvm_ir(rest)
        return [own, *wrappers]


def _take_wrappers(module: Module, level: int) -> Steps[list[bytes]]:
    """Replace the wrappers in `module` by declarations, and make the objects that define them.

    The module must be verified. It keeps the wrappers' tables, since others may refer to them.
    Either all wrappers are taken or none, so that functions keep their order.
    """
    symbols = _symbols(module)
    wrappers = [op for name, op in symbols.items() if _defines_wrapper(name, op)]
    if not wrappers or not _were_seen(wrappers, level):
        return []
    taken: list[bytes] = []
    for wrapper in wrappers:
        alone = _only_wrapper(module, wrapper, symbols)
        if alone is None:
            return []
        try:
            content = mlir.content_of_verified(alone.module)
            translate = functools.partial(mlir.to_llvm_ir, alone.module)
            code = yield from kept_object(content, level, translate)
        except CompileError:
            return []  # compiling the whole module reports the error
        taken.append(
            object_files.with_constants(object_files.rename_symbols(code, alone.names), alone.table)
        )
    for wrapper in wrappers:
        module.body.append(declaration(wrapper))
        wrapper.erase()
    return taken


def _were_seen(wrappers: list[Operation], level: int) -> bool:
    """Tell whether each wrapper's structure was probably compiled before, or occurs twice here.

    This also records the wrappers. If the marks of two different structures are equal, one is
    compiled separately too early, which does no harm.
    """
    marks = [allowlist_mlir.mark(op) for op in wrappers if _is_unoptimised(op)]
    known = [mark for mark in marks if mark is not None]
    return len(known) == len(wrappers) and were_seen(known, level)


def were_seen(marks: Sequence[Hashable], level: int) -> bool:
    """Tell whether each structure was compiled before, or occurs twice; and record them all.

    `marks` has one for the structure of each wrapper of a module.
    """
    keys = Counter((mark, level) for mark in marks)
    if len(keys) > _MOST_AT_ONCE:
        return False
    with _lock:
        known = all(count > 1 or key in _seen for key, count in keys.items())
        _seen.update(dict.fromkeys(keys))
        while len(_seen) > _MOST_SEEN:
            _seen.popitem(last=False)
    return known


def kept_object(content: bytes, level: int, translate: Callable[[], LlvmIr]) -> Steps[bytes]:
    """Compile the module of a wrapper, unless that was done; `content` identifies the module."""
    key = hashlib.sha256(content).digest() + bytes([level])
    with _lock:
        if key in _objects:
            _objects.move_to_end(key)
            return _objects[key]
    code = yield translate()
    with _lock:
        _objects[key] = code
        while len(_objects) > MOST:
            _objects.popitem(last=False)
    return code


# ---- modules of wrappers

_WRAPPER: Final = f"{abi.PREFIX}_unit"
_PLACEHOLDER: Final = f"{protocol.PREFIX}unit_"

_EXTERNAL: Final = "#llvm.linkage<external>"
_PRIVATE: Final = "#llvm.linkage<private>"
_HIDDEN: Final = "1 : i64"
_UNSIZED: Final = "!llvm.array<1 x i8>"
_DEBUG_INFORMATION: Final = "#llvm.di_"


@contextlib.contextmanager
def _lent(module: Module) -> Generator[Module]:
    """Lend a module that has the operations of `module`, and whose wrappers may be erased.

    Wrappers are copied. All other operations are moved, as a kernel may have a hundred thousand of
    them, and moved back afterwards.
    """
    operations = mlir.body(module)
    result = mlir.empty_like(module.operation)
    try:
        for operation in operations:
            named = "sym_name" in operation.attributes
            is_wrapper = named and _defines_wrapper(_name(operation), operation)
            result.body.append(operation.clone() if is_wrapper else operation)
        yield result
    finally:
        for operation in operations:
            module.body.append(operation)


@dataclass(frozen=True)
class _WrapperModule:
    """A module with one wrapper."""

    module: Module
    names: dict[str, str]
    """The symbols that the placeholders stand for."""
    table: dict[str, Constant]
    """The wrapper's table, which the module only declares, by its symbol."""


def _symbols(module: Module) -> dict[str, Operation]:
    """Return the operations of `module` that have a name."""
    return {_name(op): op for op in mlir.body(module) if "sym_name" in op.attributes}


def _defines_wrapper(name: str, operation: Operation) -> bool:
    """Tell whether an operation defines a function of the TVM-FFI ABI."""
    return (
        operation.name == "llvm.func"
        and name.startswith(abi.PREFIX)
        and not name.removeprefix(abi.PREFIX).startswith(RESERVED)
        and not _is_declaration(operation)
    )


def _is_unoptimised(wrapper: Operation) -> bool:
    """Tell whether LLVM's passes skip a wrapper, so that compiling it separately loses no speed."""
    attributes = wrapper.attributes
    return "passthrough" in attributes and '"optnone"' in str(attributes["passthrough"])


def _only_declares(module: Module) -> bool:
    """Tell whether a module without its wrappers has only declarations and constants left."""
    return all(
        _is_declaration(op) or ("sym_name" in op.attributes and _is_constant(_name(op), op))
        for op in mlir.body(module)
    )


def _only_wrapper(
    module: Module, wrapper: Operation, symbols: dict[str, Operation]
) -> _WrapperModule | None:
    """Make a module of `wrapper` and its references; None if it cannot be compiled separately.

    It cannot if its mark is not intact, if it refers to a symbol that other objects cannot see, or
    if it has debug information, which contains names and belongs to one function.
    """
    references = allowlist_mlir.trusted_references(wrapper)
    if references is None or _DEBUG_INFORMATION in str(wrapper.location):
        return None
    if not all(_is_linkable(name, symbols.get(name)) for name in references):
        return None
    found = {name: symbols[name] for name in references}
    tables = [n for n, op in found.items() if n.startswith(TABLE) and _is_constant(n, op)]
    return _with_placeholders(module, wrapper, found, *tables) if len(tables) == 1 else None


def _with_placeholders(
    module: Module, wrapper: Operation, references: dict[str, Operation], table: str
) -> _WrapperModule:
    alone = mlir.empty_like(module.operation)
    named: dict[str, Operation] = {}
    for name, operation in references.items():
        is_constant = _is_constant(name, operation)
        if name == table:
            # `object_files.with_constants` defines it, with its size.
            copy = declaration(operation, visibility_=_HIDDEN, global_type=_UNSIZED)
        elif is_constant or _is_declaration(operation):
            copy = operation.clone().operation
        else:
            copy = declaration(operation)
        alone.body.append(copy)
        # The names of support functions and of texts contain a digest of their contents.
        if name == table or not (is_constant or name.startswith(SHARED)):
            named[name] = copy
    copy = wrapper.clone().operation
    alone.body.append(copy)
    _leave_out_metadata(copy)
    mlir.rename(alone, copy, _name(wrapper), _WRAPPER)
    names = {_WRAPPER: _name(wrapper)}
    # Wrappers may share a table, but each object gets its own copy.
    own_table = f"{TABLE}{_name(wrapper)}"
    for name, copy in named.items():
        placeholder = f"{_PLACEHOLDER}{len(names)}"
        mlir.rename(alone, copy, name, placeholder)
        names[placeholder] = own_table if name == table else name
    mlir.forget_locations(alone)
    data: bytes = references[table].attributes["value"].value_bytes
    return _WrapperModule(alone, names, {own_table: Constant(data)})


def _is_linkable(name: str, operation: Operation | None) -> bool:
    """Tell whether another object can refer to the symbol, and a placeholder can replace it."""
    if operation is None or name.startswith(("llvm.", _PLACEHOLDER)) or name == _WRAPPER:
        return False
    if _is_constant(name, operation) or _is_declaration(operation):
        return True
    attributes = operation.attributes
    hidden = "visibility_" in attributes and "hidden" in str(attributes["visibility_"])
    external = "linkage" in attributes and str(attributes["linkage"]) == _EXTERNAL
    return operation.name == "llvm.func" and external and not hidden


def _leave_out_metadata(wrapper: Operation) -> None:
    """Remove the metadata from a wrapper: it contains names, and no object has it."""
    flags = wrapper.attributes["passthrough"]
    others = [flag for flag in flags if metadata.ATTRIBUTE not in str(flag)]
    wrapper.attributes["passthrough"] = bindings.ir_of(wrapper).ArrayAttr.get(
        others, wrapper.context
    )


# ---- operations


def _is_declaration(operation: Operation) -> bool:
    return operation.name == "llvm.func" and not len(operation.regions[0].blocks)


def _is_constant(name: str, operation: Operation) -> bool:
    """Tell whether an operation is the table or a text of a wrapper."""
    return (
        operation.name == "llvm.mlir.global"
        and name.startswith((TABLE, TEXT))
        and str(operation.attributes["linkage"]) == _PRIVATE
    )


def _name(operation: Operation) -> str:
    return operation.attributes["sym_name"].value
