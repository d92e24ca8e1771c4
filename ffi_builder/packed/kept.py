"""Objects that a module finds once, and keeps until its code is unloaded.

==================================== ========================================================
``__ffi_builder_kept_…``             the slot: an internal pointer, NULL at first
``__ffi_builder_forget_…``           a destructor of the module, which releases what is there
==================================== ========================================================

No lock is held while the object is looked for, since that may run code of others. Two threads may
both find it; one of them stores it, and the other releases its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Final

from ffi_builder.ir import (
    Builder,
    CheckingBuilder,
    Value,
    exchange_null,
    load_acquire,
    mark_trusted,
)
from ffi_builder.packed.anys import DEC_REF
from ffi_builder.protocol import PREFIX

_DEINIT: Final = "TVMFFIHandleDeinitOnce"
_IS_INITIALIZED: Final = "Py_IsInitialized"


def kept(b: CheckingBuilder, key: str, find: Callable[[], Value]) -> Value:
    """Return an object that all calls of a module share.

    Args:
        b: emits the look-up; its cursor moves on.
        key: identifies the object in the module.
        find: emits code that returns a reference, or ends the function with an error.
    """
    t = b.types
    b.symbols.declare(DEC_REF, t.i32, [t.ptr])
    slot = b.address_of(_slot(b, hashlib.sha256(key.encode()).hexdigest()[:16]))
    known = load_acquire(b, t.ptr, slot, size=8)
    following = b.new_block(t.ptr)
    missing, lost = b.new_block(cold=True), b.new_block(cold=True)
    b.cond_br(b.ne(known, b.null()), following, missing, [known], likely=True)
    b.block = missing
    with b.out_of_line():
        found = find()
        before = exchange_null(b, slot, found)
        b.cond_br(b.is_null(before), following, lost, [found])
    b.block = lost
    b.call(DEC_REF, [found], t.i32)
    b.br(following, before)
    b.block = following
    return following.arguments[0]


def _slot(b: Builder, digest: str) -> str:
    """Return the name of a slot; add it and its destructor if the module has none."""
    t, symbols = b.types, b.symbols
    slot, forget = f"{PREFIX}kept_{digest}", f"{PREFIX}forget_{digest}"
    if slot in symbols:
        return slot
    symbols.variable(slot, bytes(8), align=8)
    internal = {"linkage": t.attribute("#llvm.linkage<internal>")}
    function = symbols.function(forget, t.void, [], internal, body=True)
    f = Builder(symbols, function, function.regions[0].blocks[0], symbols.location)
    _forget(f, slot)
    mark_trusted(t, function, ("cold", "minsize", "nounwind"))
    symbols.destructor(forget)
    return slot


def _forget(f: Builder, slot: str) -> None:
    """Release what is in a slot, unless Python has ended: its functions are gone then.

    Libraries run their destructors at the end of a process too, after Python has ended.
    """
    t, symbols = f.types, f.symbols
    weak = {"linkage": t.attribute("#llvm.linkage<extern_weak>")}
    symbols.declare(_IS_INITIALIZED, t.i32, [], weak)
    symbols.declare(_DEINIT, t.i32, [t.ptr, t.ptr])
    has_python = f.ne(f.address_of(_IS_INITIALIZED), f.null())
    with f.when(has_python), f.when(f.eq(f.call_value(_IS_INITIALIZED, [], t.i32), f.i32(0))):
        f.ret()
    f.call(_DEINIT, [f.address_of(slot), f.address_of(DEC_REF)], t.i32)
    f.ret()
