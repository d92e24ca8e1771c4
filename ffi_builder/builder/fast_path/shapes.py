"""Decodes Shapes on the fast path.

A helper checks an Array or List, whose entries are values of 16 bytes. For two entries::

    llvm.cond_br (type index == Shape), ^shape(%payload), ^other
  ^shape(%object):
    …                                               // check NULL, length and data
    llvm.br ^found(%data[0], %data[1])
  ^found(%first, %second):
    …
  ^other:
    %cells = llvm.call @__ffi_builder_shared_integers(%two, %any)
    llvm.cond_br (%cells != null), ^items, ^moved
  ^items:
    llvm.br ^found(%cells[0].payload, %cells[1].payload)
  ^moved:
    %moved = llvm.call @__ffi_builder_shared_moved_object(%kinds, %any)
    llvm.cond_br (%moved != null), ^shape(%moved), ^slow
"""

from __future__ import annotations

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.builder.fast_path.context import FastPath
from ffi_builder.builder.fast_path.objects import look, moved_object
from ffi_builder.builder.fast_path.state import ShapeValues
from ffi_builder.builder.helpers import call_shared
from ffi_builder.ir import Value
from ffi_builder.plan import fuse as f


def decode_shape(fast: FastPath, step: f.Container) -> None:
    """Decode a Shape, or an Array or List of ints and bools; check its length; read its entries."""
    b, t = fast.b, fast.b.types
    place, length = step.place, step.length.expected
    index, payload = look(fast, place)
    shape, other = b.new_block(t.ptr), b.new_block(cold=True)
    b.cond_br(b.eq(index, b.i32(TypeIndex.SHAPE)), shape, other, (payload,), likely=True)
    b.block = shape
    entries = _entries(fast, shape.arguments[0], length)
    found, items, moved = (
        b.new_block(*[t.i64] * length),
        b.new_block(cold=True),
        b.new_block(cold=True),
    )
    b.br(found, *entries)
    b.block = other
    any_ = b.offset(*fast.any_at(place.position))
    cells = call_shared(b, "integers", [b.i64(length), any_], t.ptr)
    b.cond_br(b.ne(cells, b.null()), items, moved)
    b.block = items
    offsets = (at * abi.ANY_SIZE + abi.ANY_PAYLOAD for at in range(length))
    b.br(found, *(b.field(t.i64, cells, offset) for offset in offsets))
    b.block = moved
    b.br(shape, moved_object(fast, place, (TypeIndex.SHAPE,)))
    b.block = found
    fast.state.records[place.position] = ShapeValues(entries=list(found.arguments))


def _entries(fast: FastPath, shape: Value, length: int) -> list[Value]:
    """Check NULL, length and data of a Shape object; load its entries."""
    b, t = fast.b, fast.b.types
    fast.require(b.ne(shape, b.null()))
    fast.require(b.eq(b.field(t.i64, shape, abi.CELL_SIZE), b.i64(length)))
    if length == 0:
        return []
    cells = b.field(t.ptr, shape, abi.CELL_DATA)
    fast.require(b.ne(cells, b.null()))
    return [b.field(t.i64, cells, 8 * at) for at in range(length)]
