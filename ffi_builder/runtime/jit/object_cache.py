"""Machine code that this process has made before, linked again instead of compiled again.

Wrappers of one structure recur under other names, around other kernels: a JIT compiles one wrapper
over and over, and many kernels of a library take the same arguments. `separate` makes a module of a
wrapper, in which names are placeholders. Its object is kept by its content, and linked again with
other names. The first time, a wrapper is compiled with the rest of its module, which saves LLVM's
fixed cost per object; the second time it is compiled by itself, and from the third time on not at
all.

Whatever cannot be separated is compiled with the rest of its module.
"""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict
from typing import Final

from ffi_builder.errors import CompileError
from ffi_builder.runtime import elf, mlir
from ffi_builder.runtime.codegen import emit
from ffi_builder.runtime.jit import separate
from ffi_builder.runtime.protocols import Module, Operation
from ffi_builder.runtime.safety import allowlist_mlir
from ffi_builder.runtime.safety.locks import fork_safe_lock

MOST: Final = 256
"""How many wrappers' objects are kept, of 1 to 10 KB each; the least recently used go first."""

_MOST_AT_ONCE: Final = 4
"""How many structures of one module are compiled apart: more are quicker together."""

_MOST_SEEN: Final = 4096

_seen: Final[OrderedDict[tuple[int, int], None]] = OrderedDict()
"""Marks of wrappers, with the optimisation level."""
_objects: Final[OrderedDict[bytes, bytes]] = OrderedDict()
_lock = fork_safe_lock()


def objects(module: Module, level: int) -> list[bytes]:
    """Compile `module` for this CPU: its own object, then its wrappers'.

    Raises CompileError.
    """
    with separate.lent(module) as rest:
        mlir.verify(rest)
        wrappers = _take_wrappers(rest, level)
        if wrappers and separate.only_declares(rest):
            return wrappers
        return [emit.emit_object(mlir.to_llvm_ir(rest), "host", level), *wrappers]


def _take_wrappers(module: Module, level: int) -> list[bytes]:
    """Replace the wrappers in `module` by declarations, and return the objects that define them.

    The module has been verified. It keeps the wrappers' tables, since others may refer to them. All
    wrappers are taken or none, so that functions stay in their order.
    """
    symbols = separate.symbols(module)
    wrappers = [op for name, op in symbols.items() if separate.is_wrapper(name, op)]
    if not wrappers or not _were_seen(wrappers, level):
        return []
    taken: list[bytes] = []
    for wrapper in wrappers:
        alone = separate.only_wrapper(module, wrapper, symbols)
        if alone is None:
            return []
        try:
            code = _wrapper_object(alone.module, level)
        except CompileError:
            return []  # compiling the module as it is says what is wrong
        taken.append(elf.with_constants(elf.rename_symbols(code, alone.names), alone.table))
    for wrapper in wrappers:
        module.body.append(separate.declaration(wrapper))
        wrapper.erase()
    return taken


def _were_seen(wrappers: list[Operation], level: int) -> bool:
    """Tell whether a wrapper like each was probably compiled before, or is twice among these.

    From now on, they were. Where the marks of two different structures are equal, one is compiled
    apart too early, which does no harm.
    """
    marks = [allowlist_mlir.mark(op) for op in wrappers if separate.is_unoptimised(op)]
    keys = Counter((mark, level) for mark in marks if mark is not None)
    if keys.total() < len(wrappers) or len(keys) > _MOST_AT_ONCE:
        return False
    with _lock:
        known = all(count > 1 or key in _seen for key, count in keys.items())
        _seen.update(dict.fromkeys(keys))
        while len(_seen) > _MOST_SEEN:
            _seen.popitem(last=False)
    return known


def _wrapper_object(alone: Module, level: int) -> bytes:
    content = mlir.content_of_verified(alone)
    key = hashlib.sha256(content).digest() + bytes([level])
    with _lock:
        if key in _objects:
            _objects.move_to_end(key)
            return _objects[key]
    code = emit.emit_object(mlir.to_llvm_ir(alone), "host", level)
    with _lock:
        _objects[key] = code
        while len(_objects) > MOST:
            _objects.popitem(last=False)
    return code
