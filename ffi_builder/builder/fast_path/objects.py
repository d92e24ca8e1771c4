"""Decodes tuples, objects, strs, bytes, Shapes and Variants on the fast path.

A Shape and an Array of ints are each decoded by emitted code; C decodes all else, such as a List.
For two entries::

    llvm.cond_br (type index == Shape), ^shape(%payload), ^other
  ^shape(%object):
    …                                               // check NULL, length and data
    llvm.br ^ready(%data[0], %data[1])
  ^ready(%first, %second):
    …
  ^other:
    llvm.cond_br (type index == Array), ^array, ^rare
  ^array:
    …                                               // check NULL, length and data
    llvm.cond_br (the type index of both is Int), ^next, ^rare
  ^next:
    llvm.br ^items(%data)
  ^items(%items):
    llvm.br ^ready(%items[0].payload, %items[1].payload)
  ^rare:
    %cells = llvm.call @__ffi_builder_shared_integers(%two, %any)
    llvm.cond_br (%cells != null), ^items(%cells), ^moved
  ^moved:
    %moved = llvm.call @__ffi_builder_shared_moved_object(%kinds, %any)
    llvm.cond_br (%moved != null), ^shape(%moved), ^slow

For ``scale: Variant(float64, Tensor([n], float32))``::

    %tensor = llvm.select (%type == 70 or %type == 7), %two, %zero
    %number = llvm.select (%type - 1 <u 3), %one, %tensor
    llvm.cond_br (%number != 0), ^ready(%number), ^moved
  ^ready(%number):
    …                                               // a branch for each parameter, as an Optional's

A moved object in a Variant is looked into out of line.
"""

from __future__ import annotations

import struct
from functools import reduce

from ffi_builder import abi, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.builder.fast_path import state
from ffi_builder.builder.fast_path.context import FastPath
from ffi_builder.builder.fast_path.scalars import accepted_index
from ffi_builder.diagnosis.writing import as_signed
from ffi_builder.ir import Block, Value
from ffi_builder.ir.builder import Builder
from ffi_builder.ir.checking import call_support
from ffi_builder.plan import Place
from ffi_builder.plan import steps as s


def decode_tuple(fast: FastPath, step: s.DecodeTuple) -> None:
    """Decode an Array or List; check its length."""
    b, place = fast.b, step.place
    object_ = array_object(fast, place)
    fast.state.records[place.position] = state.ContainerValues(object=object_)
    fast.require(b.ne(object_, b.null()))
    size = b.field(b.types.i64, object_, abi.CELL_SIZE)
    fast.require(b.eq(size, b.i64(step.length)))
    if step.length:
        fast.require(b.ne(fast.cells(place.position), b.null()))


def array_object(
    fast: FastPath, place: Place, others: tuple[TypeIndex, ...] = (TypeIndex.LIST,)
) -> Value:
    """Return the Array at a place, or the object of another type, which may be NULL."""
    b, t = fast.b, fast.b.types
    index, payload = fast.look(place.position)
    ready, other = b.new_block(t.ptr), b.new_block(cold=True)
    b.cond_br(b.eq(index, b.i32(TypeIndex.ARRAY)), ready, other, (payload,), likely=True)
    b.block = other
    moved = b.new_block(cold=True)
    b.cond_br(accepted_index(fast, index, others), ready, moved, (payload,))
    b.block = moved
    b.br(ready, moved_object(fast, place, (TypeIndex.ARRAY, *others)))
    b.block = ready
    return ready.arguments[0]


def moved_object(fast: FastPath, place: Place, kinds: tuple[TypeIndex, ...] | None) -> Value:
    """Return the object in a moved object, if its type is one of ``kinds`` (None: any)."""
    b = fast.b
    any_ = b.offset(*fast.any_at(place.position))
    mask = -1 if kinds is None else sum(1 << kind - abi.FIRST_OBJECT for kind in kinds)
    inner = call_support(b, "moved_object", [b.i64(mask), any_])
    following = b.new_block_after(b.block)
    b.cond_br(b.ne(inner, b.null()), following, fast.slow)
    b.block = following
    return inner


def decode_object(fast: FastPath, step: s.DecodeObject) -> None:
    """Decode an object; C looks up dynamic types and their ancestors."""
    b, place, key = fast.b, step.place, step.type_key
    if key is not None and key != abi.TYPE_KEYS[TypeIndex.OBJECT]:
        any_ = b.offset(*fast.any_at(place.position))
        fast.state.records[place.position] = state.ObjectValues(object=typed_object(b, any_, key))
        return
    index, payload = fast.look(place.position)
    kinds = step.accepts
    if kinds is None:
        accepted = b.sge(index, b.i32(abi.FIRST_OBJECT))
    else:
        accepted = accepted_index(fast, index, kinds)
    object_ = fast.usually(accepted, payload, lambda: moved_object(fast, place, kinds))
    fast.state.records[place.position] = state.ObjectValues(object=object_)


def typed_object(b: Builder, any_: Value, key: str) -> Value:
    """Return the object in a ``TVMFFIAny`` if it has the type of this key, else NULL."""
    data = key.encode()
    operands = [
        any_,
        b.text_constant(data),
        b.i64(len(data)),
        b.i32(abi.STATIC_TYPES.get(key, 0)),
    ]
    return call_support(b, "typed_object", operands)


def decode_text(fast: FastPath, place: Place, binary: bool) -> None:
    """Decode a str or bytes; C does all checks and writes pointer and length."""
    b, t = fast.b, fast.b.types
    base, offset = fast.any_at(place.position)
    any_ = b.offset(base, offset)
    array = b.alloca(t.i64, abi.BYTE_ARRAY_SIZE // 8)
    fast.require(fast.shared("text", [any_, b.i32(binary), array]))
    length = b.field(t.i64, array, abi.BYTE_ARRAY_LENGTH)
    fast.state.records[place.position] = state.TextValues(
        choice=None, pointer=b.load(t.ptr, array), length=length, array=array
    )


def check_choice(fast: FastPath, place: Place, choice: spec.Choice) -> None:
    """Look up the int of a str."""
    b, t = fast.b, fast.b.types
    table = struct.pack("<q", len(choice.choices))
    for text, value in choice.choices.items():
        table += struct.pack("<2q", as_signed(value), len(text)) + text.encode()
    out = b.alloca(t.i64)
    address = b.address_of(fast.b.symbols.text(table))
    text = fast.text(place.position)
    fast.require(fast.shared("choose", [text.array, address, out]))
    text.choice = b.load(t.i64, out)


def decode_shape(fast: FastPath, step: s.DecodeShape) -> None:
    """Decode a Shape, or an Array or List of ints and bools; check its length; read its entries."""
    b, t = fast.b, fast.b.types
    place, length = step.place, step.length
    index, payload = fast.look(place.position)
    shape, other = b.new_block(t.ptr), b.new_block(cold=True)
    b.cond_br(b.eq(index, b.i32(TypeIndex.SHAPE)), shape, other, (payload,), likely=True)
    b.block = shape
    cells = _cells(fast, shape.arguments[0], length)
    entries = [b.field(t.i64, cells, 8 * at) for at in range(length)]
    ready = b.new_block(*[t.i64] * length)
    b.br(ready, *entries)
    b.block = other
    items = _items(fast, place, length, index, payload, shape)
    offsets = (at * abi.ANY_SIZE + abi.ANY_PAYLOAD for at in range(length))
    b.br(ready, *(b.field(t.i64, items, offset) for offset in offsets))
    b.block = ready
    fast.state.records[place.position] = state.ShapeValues(entries=list(ready.arguments))


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
    """Return the elements of an Array or List of ints and bools; branch for a moved Shape."""
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


# ---- Variants


def decode_variant(fast: FastPath, step: s.DecodeVariant) -> None:
    """Require that one of the parameters came, and note which."""
    b, place = fast.b, step.place
    index, _ = fast.look(place.position)
    number = _number(fast, index, [each.types for each in step.alternatives])
    movable = [each.movable for each in step.alternatives]
    if any(movable):

        def moved() -> Value:
            kinds = tuple(kind for kinds in movable for kind in kinds)
            inner = moved_object(fast, place, kinds)
            return _number(fast, b.field(b.types.i32, inner, abi.OBJECT_TYPE_INDEX), movable)

        number = fast.usually(b.ne(number, b.i32(0)), number, moved)
    else:
        fast.require(b.ne(number, b.i32(0)))
    fast.state.records[place.position] = state.VariantValues(number=number)


def _number(fast: FastPath, index: Value, types: list[tuple[TypeIndex, ...]]) -> Value:
    """Return the number, from 1 on, of the parameter that a type index chooses; 0 for none."""
    b = fast.b
    chosen = b.i32(0)
    for number, accepts in reversed([*enumerate(types, 1)]):
        if accepts:
            chosen = b.select(accepted_index(fast, index, accepts), b.i32(number), chosen)
    return chosen
