"""Decodes Shapes on the fast path.

A Shape and an Array of ints each have a straight line; C looks at all else, such as a List.
For two entries::

    llvm.cond_br (type index == Shape), ^shape(%payload), ^other
  ^shape(%object):
    …                                               // check NULL, length and data
    llvm.br ^found(%data[0], %data[1])
  ^found(%first, %second):
    …
  ^other:
    llvm.cond_br (type index == Array), ^array, ^rare
  ^array:
    …                                               // check NULL, length and data
    llvm.cond_br (the type index of both is Int), ^next, ^rare
  ^next:
    llvm.br ^items(%data)
  ^items(%items):
    llvm.br ^found(%items[0].payload, %items[1].payload)
  ^rare:
    %cells = llvm.call @__ffi_builder_shared_integers(%two, %any)
    llvm.cond_br (%cells != null), ^items(%cells), ^moved
  ^moved:
    %moved = llvm.call @__ffi_builder_shared_moved_object(%kinds, %any)
    llvm.cond_br (%moved != null), ^shape(%moved), ^slow
"""

from __future__ import annotations

from functools import reduce

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.builder.fast_path.context import FastPath
from ffi_builder.builder.fast_path.objects import look, moved_object
from ffi_builder.builder.fast_path.state import ShapeValues
from ffi_builder.ir import Block, Value, call_support
from ffi_builder.plan import Place
from ffi_builder.plan import steps as s


def decode_shape(fast: FastPath, step: s.DecodeShape) -> None:
    """Decode a Shape, or an Array or List of ints and bools; check its length; read its entries."""
    b, t = fast.b, fast.b.types
    place, length = step.place, step.length
    index, payload = look(fast, place)
    shape, other = b.new_block(t.ptr), b.new_block(cold=True)
    b.cond_br(b.eq(index, b.i32(TypeIndex.SHAPE)), shape, other, (payload,), likely=True)
    b.block = shape
    cells = _cells(fast, shape.arguments[0], length)
    entries = [b.field(t.i64, cells, 8 * at) for at in range(length)]
    found = b.new_block(*[t.i64] * length)
    b.br(found, *entries)
    b.block = other
    items = _items(fast, place, length, index, payload, shape)
    offsets = (at * abi.ANY_SIZE + abi.ANY_PAYLOAD for at in range(length))
    b.br(found, *(b.field(t.i64, items, offset) for offset in offsets))
    b.block = found
    fast.state.records[place.position] = ShapeValues(entries=list(found.arguments))


def _cells(fast: FastPath, container: Value, length: int) -> Value:
    """Check NULL, length and data of a Shape or Array; return the pointer to its elements."""
    b, t = fast.b, fast.b.types
    fast.require(b.ne(container, b.null()))
    fast.require(b.eq(b.field(t.i64, container, abi.CELL_SIZE), b.i64(length)))
    cells = b.field(t.ptr, container, abi.CELL_DATA)
    if length:
        fast.require(b.ne(cells, b.null()))
    return cells


def _items(
    fast: FastPath, place: Place, length: int, index: Value, payload: Value, shape: Block
) -> Value:
    """Return the elements of an Array or List of ints and bools; a moved Shape goes to a block."""
    b, t = fast.b, fast.b.types
    array, rare = b.new_block(cold=True), b.new_block(cold=True)
    b.cond_br(b.eq(index, b.i32(TypeIndex.ARRAY)), array, rare)
    b.block = array
    with b.out_of_line():
        cells = _cells(fast, payload, length)
        kinds = [b.field(t.i32, cells, at * abi.ANY_SIZE) for at in range(length)]
        wrong = [b.xor(kind, b.i32(TypeIndex.INT)) for kind in kinds]
        if wrong:
            following = b.new_block()
            b.cond_br(b.eq(reduce(b.or_, wrong), b.i32(0)), following, rare)
            b.block = following
        items, moved = b.new_block(t.ptr), b.new_block(cold=True)
        b.br(items, cells)
    b.block = rare
    any_ = b.offset(*fast.any_at(place.position))
    looked_at = call_support(b, "integers", [b.i64(length), any_])
    b.cond_br(b.ne(looked_at, b.null()), items, moved, (looked_at,))
    b.block = moved
    b.br(shape, moved_object(fast, place, (TypeIndex.SHAPE,)))
    b.block = items
    return items.arguments[0]
