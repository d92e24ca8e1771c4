"""Decodes and checks lists of numbers, texts and lists on the fast path; copies what is in them.

For ``pages: List(int32)`` the code is a loop, with the memory of a list (:mod:`.lists`)::

    for (i = 0; i < %length; ++i) {
      …                                               // the checks of an int32, as of any scalar
      %data[i] = %cells[i].payload
    }

A Shape, whose elements are int64s, has a loop of its own, out of line. Of a str or bytes, its
address and its size are written.

A list of lists has one memory, for which a first loop adds the lengths of all rows up: the
addresses of the rows, their lengths, and behind these the numbers of one row after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ffi_builder import abi, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.builder.fast_path import lists
from ffi_builder.builder.fast_path.context import FastPath
from ffi_builder.builder.fast_path.scalars import narrowed
from ffi_builder.builder.fast_path.state import NumberListValues
from ffi_builder.ir import Block, Value
from ffi_builder.ir.checking import call_support
from ffi_builder.plan import Place
from ffi_builder.plan import steps as s
from ffi_builder.spec.dtypes import parse_dtype
from ffi_builder.spec.numbers import FLOAT_DTYPES


def decode(fast: FastPath, step: s.DecodeList) -> None:
    """Decode the list; check that an int32 can count its elements."""
    others = (TypeIndex.LIST, *([TypeIndex.SHAPE] if step.of is s.Kind.INT else ()))
    object_, length = lists.sequence(fast, step.place, others)
    fast.state.records[step.place.position] = NumberListValues(
        object=object_, length=length, data=fast.b.null(), lengths=None
    )


def open_map(fast: FastPath, place: Place) -> None:
    """Read the keys and values of a Map: two lists, in a tuple that is freed with the lists."""
    b = fast.b
    items = call_support(b, "map_items", [fast.object_at(place.position)])
    with b.when(b.is_null(items), cold=True):
        lists.raise_no_memory(b, f"There is no memory for the map {place.path}")
    b.store(items, fast.memory[place.position])
    both = b.field(b.types.ptr, items, abi.CELL_DATA)
    for part in range(2):
        fast.elements[(*place.position, part)] = b.offset(both, part * abi.ANY_SIZE)


def check_only(fast: FastPath, step: s.EachElement, emit_inside: Callable[[], None]) -> None:
    """Check each element; the list itself is passed on."""
    own, cells = _decoded(fast, step.place)
    with lists.each(fast, own.length) as index:
        fast.elements[step.place.each.position] = fast.b.element(cells, index, lists.CELL)
        emit_inside()


def _decoded(fast: FastPath, place: Place) -> tuple[NumberListValues, Value]:
    """Return the list at a place, and the pointer to its elements."""
    own = fast.record(place.position, NumberListValues)
    return own, lists.cells(fast, own.object, fast.b.eq(own.length, fast.b.i64(0)))


def check_elements(
    fast: FastPath, step: s.EachElement, param: spec.List, emit_inside: Callable[[], None]
) -> None:
    """Check each element, and write it for the kernel."""
    if isinstance(param.element, spec.Var):
        _check_numbers(fast, step, param.element, emit_inside)
    elif isinstance(param.element, spec.List):
        _check_rows(fast, step, param.element, emit_inside)
    else:
        _check_texts(fast, step, emit_inside)


def _check_texts(fast: FastPath, step: s.EachElement, emit_inside: Callable[[], None]) -> None:
    b, place = fast.b, step.place
    own, cells = _decoded(fast, place)
    own.data = lists.memory(fast, place, own.length, abi.BYTE_ARRAY_SIZE)
    with lists.each(fast, own.length) as index:
        fast.elements[place.each.position] = b.element(cells, index, lists.CELL)
        emit_inside()
        text, at = fast.text(place.each.position), b.element(own.data, index, BYTE_ARRAY)
        b.store(text.pointer, at)
        b.store(text.length, b.offset(at, abi.BYTE_ARRAY_LENGTH))


def _check_rows(
    fast: FastPath, step: s.EachElement, row: spec.List, emit_inside: Callable[[], None]
) -> None:
    """Check each row, and write its address and its length."""
    b, place, at = fast.b, step.place, step.place.each.position
    assert isinstance(row.element, spec.Var)
    bits = parse_dtype(row.element.dtype).bits
    own, cells = _decoded(fast, place)
    decode_row = next(inner for inner in step.inside if isinstance(inner, s.DecodeList))
    count = b.alloca(b.types.i64)
    b.store(b.i64(0), count)
    with lists.each(fast, own.length) as index:
        fast.elements[at] = b.element(cells, index, lists.CELL)
        decode(fast, decode_row)
        length = fast.record(at, NumberListValues).length
        b.store(b.add(b.load(b.types.i64, count), length), count)
    total = b.load(b.types.i64, count)
    total = b.select(b.ult(total, b.i64(_BEYOND)), total, b.i64(_BEYOND))
    words = b.lshr(b.add(b.mul(total, b.i64(bits // 8)), b.i64(7)), b.i64(3))
    own.data = lists.memory(fast, place, b.add(b.mul(own.length, b.i64(2)), words), 8)
    own.lengths = lengths = b.element(own.data, own.length, "i64")
    start = b.element(lengths, own.length, "i64")
    slot = b.alloca(b.types.ptr)
    b.store(start, slot)
    fast.rows[at] = slot, b.element(start, words, "i64")
    with lists.each(fast, own.length) as index:
        fast.elements[at] = b.element(cells, index, lists.CELL)
        emit_inside()
        record = fast.record(at, NumberListValues)
        b.store(record.data, b.element(own.data, index, "i64"))
        b.store(record.length, b.element(lengths, index, "i64"))


_BEYOND: Final = 1 << 56
"""More numbers than there is memory for, and few enough to count their bytes."""


def _room(fast: FastPath, place: Place, length: Value, size: int) -> Value:
    """Return memory for numbers of a list; in a list of lists, that behind the row before.

    There is enough of it unless a row has become longer since all rows were added up.
    """
    if place.position not in fast.rows:
        return lists.memory(fast, place, length, size)
    b, (slot, end) = fast.b, fast.rows[place.position]
    start = b.load(b.types.ptr, slot)
    after = b.element(start, length, f"i{8 * size}")
    fast.require(b.ule(b.to_int(after), b.to_int(end)))
    b.store(after, slot)
    return start


BYTE_ARRAY: Final = f"!llvm.array<{abi.BYTE_ARRAY_SIZE // 8} x i64>"


def _check_numbers(
    fast: FastPath, step: s.EachElement, element: spec.Var, emit_inside: Callable[[], None]
) -> None:
    b, t, place = fast.b, fast.b.types, step.place
    own, cells = _decoded(fast, place)
    bits = parse_dtype(element.dtype).bits
    own.data = _room(fast, place, own.length, bits // 8)

    def copy(read: Callable[[Value], tuple[Value, Value]]) -> None:
        """Emit the loop; ``read`` returns the type index and the payload of an element."""
        with lists.each(fast, own.length) as index:
            fast.numbers[place.each.position] = read(index)
            emit_inside()
            value = fast.scalar(place.each.position)
            if element.dtype not in FLOAT_DTYPES:
                value = narrowed(b, value, t.parse(f"i{bits}"))
            b.store(value, b.element(own.data, index, f"i{bits}"))

    def in_array(index: Value) -> tuple[Value, Value]:
        at = b.element(cells, index, lists.CELL)
        return b.load(t.i32, at), b.field(t.i64, at, abi.ANY_PAYLOAD)

    def in_shape(index: Value) -> tuple[Value, Value]:
        return b.i32(TypeIndex.INT), b.load(t.i64, b.element(cells, index, "i64"))

    if not element.is_integer:
        copy(in_array)
        return
    array, shape, done = b.new_block(), b.new_block(cold=True), b.new_block()
    _branch(fast, place, own.object, array, shape)
    b.block = shape
    with b.out_of_line():
        copy(in_shape)
        b.br(done)
    b.block = array
    copy(in_array)
    b.br(done)
    b.block = done


def _branch(fast: FastPath, place: Place, object_: Value, array: Block, shape: Block) -> None:
    """Branch to one of two blocks. Of a moved object, only the header has the type."""
    b = fast.b
    index, _ = fast.look(place.position)
    other = b.new_block(cold=True)
    b.cond_br(b.eq(index, b.i32(TypeIndex.ARRAY)), array, other, likely=True)
    b.block = other
    header = b.field(b.types.i32, object_, abi.OBJECT_TYPE_INDEX)
    moved = b.eq(index, b.i32(TypeIndex.OBJECT_RVALUE_REF))
    kind = b.select(moved, header, index)
    b.cond_br(b.eq(kind, b.i32(TypeIndex.SHAPE)), shape, array)
