"""Machine code that this process has made before, linked again instead of compiled again.

Two parts of a module recur in other modules; `separate` makes modules of them:

- Helpers are the same wherever they occur, and their names say so: they end in a hash of what they
  do. They are compiled the first time, unless an earlier process has (`ffi_builder.kept`). Helpers
  that refer to each other are one object, so that modules with other combinations of helpers share
  them too.
- Wrappers of one structure recur under other names, around other kernels: a JIT compiles one
  wrapper over and over, and many kernels of a library take the same arguments. In their object,
  names are placeholders. It is kept by its content, and linked again with other names. The first
  time, a wrapper is compiled with the rest of its module, which saves LLVM's fixed cost per object;
  the second time it is compiled by itself, and from the third time on not at all.

Whatever cannot be separated is compiled with the rest of its module.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections import Counter, OrderedDict
from collections.abc import Generator
from typing import Final, TypeAlias

from ffi_builder.errors import CompileError
from ffi_builder.kept import kept
from ffi_builder.runtime import elf, mlir
from ffi_builder.runtime.codegen import emit, llvm
from ffi_builder.runtime.jit import separate
from ffi_builder.runtime.jit.separate import HelperGroup
from ffi_builder.runtime.protocols import Module, Operation
from ffi_builder.runtime.safety import allowlist_mlir
from ffi_builder.runtime.safety.locks import fork_safe_lock

MOST: Final = 256
"""How many wrappers' objects are kept, of 1 to 10 KB each; the least recently used go first."""

_MOST_AT_ONCE: Final = 4
"""How many structures of one module are compiled apart: more are quicker together."""

_MOST_SEEN: Final = 4096

_HELPER_OPT_LEVEL: Final = 1
"""Most helpers run when a call has failed: what counts is that their code is there soon."""

_Names: TypeAlias = "tuple[str, ...]"


_groups: Final[dict[_Names, list[HelperGroup]]] = {}
"""By the sorted names of a module's helpers."""
_helpers: Final[dict[HelperGroup, bytes]] = {}
"""The objects of groups of helpers."""
_seen: Final[OrderedDict[tuple[int, int], None]] = OrderedDict()
"""Marks of wrappers, with the optimisation level."""
_objects: Final[OrderedDict[bytes, bytes]] = OrderedDict()
_lock = fork_safe_lock()


def objects(module: Module, level: int) -> list[bytes]:
    """Compile `module` for this CPU: its own object, then its wrappers' and helpers'.

    Raises CompileError.
    """
    with split_helpers(module) as (rest, helpers):
        mlir.verify(rest)  # the helpers were verified when they were compiled
        wrappers = _take_wrappers(rest, level) if helpers else []
        if wrappers and separate.only_declares(rest):
            return [*wrappers, *helpers]
        return [emit.emit_object(mlir.to_llvm_ir(rest), "host", level), *wrappers, *helpers]


# ---- helpers


@contextlib.contextmanager
def split_helpers(module: Module) -> Generator[tuple[Module, list[bytes]]]:
    """Lend a module that has the operations of `module`, but only declares its helpers.

    It comes with the objects that define the helpers. Afterwards, `module` is as it was.

    Gives `module` itself and no object if it has no helpers, or if they do not compile by
    themselves.
    """
    names = tuple(sorted(separate.helpers(module)))
    try:
        found = _compiled_helpers(module, names) if names else []
    except CompileError:
        # Not self-contained, or edited by a pass: compiling the module as it is says what is
        # wrong, if anything.
        found = []
    if not found:
        yield module, []
        return
    with separate.without_helpers(module) as rest:
        yield rest, found


def _compiled_helpers(module: Module, names: _Names) -> list[bytes]:
    with _lock:
        if names not in _groups:
            _groups[names] = separate.helper_groups(module)
        groups = _groups[names]
        for group in groups:
            if group not in _helpers:
                _helpers[group] = _compile_helpers(module, group)
        return [_helpers[group] for group in groups]


def _compile_helpers(module: Module, group: HelperGroup) -> bytes:
    alone = separate.only_helpers(module, group)
    digest = hashlib.sha256(mlir.content(alone)).hexdigest()
    return kept(
        ("helpers", digest, str(_HELPER_OPT_LEVEL), *llvm.identity()),
        lambda: emit.emit_object(mlir.to_llvm_ir(alone), "host", _HELPER_OPT_LEVEL, passes=False),
    )


# ---- wrappers


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
        taken.append(elf.with_constant(elf.rename_symbols(code, alone.names), *alone.table))
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
