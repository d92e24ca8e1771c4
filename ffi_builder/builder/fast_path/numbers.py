"""Decodes and checks lists of numbers on the fast path, and copies the numbers for the kernel.

For ``pages: List(int32)`` the code is a loop, with the memory of a list (:mod:`.lists`)::

    %step = a Shape ? 8 : 16                          // an int64, or a TVMFFIAny
    for (i = 0; i < %length; ++i) {
      %type = a Shape ? Int : the type index at %cells + i * %step
      %payload = …
      …                                               // the checks of an int32, as of any scalar
      %data[i] = %payload
    }
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ffi_builder import abi, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.builder.fast_path import lists, objects
from ffi_builder.builder.fast_path.context import FastPath
from ffi_builder.builder.fast_path.scalars import narrowed
from ffi_builder.builder.fast_path.state import NumberListValues
from ffi_builder.ir import Value
from ffi_builder.plan import Place
from ffi_builder.plan import steps as s
from ffi_builder.spec.dtypes import parse_dtype
from ffi_builder.spec.numbers import FLOAT_DTYPES

_ENTRY_SIZE: Final = 8
"""The size of an element of a Shape, an int64."""


def decode(fast: FastPath, step: s.DecodeList) -> None:
    """Decode the list; check that an int32 can count its elements."""
    others = (TypeIndex.LIST, *([TypeIndex.SHAPE] if step.may_be_shape else ()))
    object_, length = lists.sequence(fast, step.place, others)
    fast.state.records[step.place.position] = NumberListValues(
        object=object_, length=length, data=fast.b.null()
    )


def check_elements(
    fast: FastPath, step: s.EachElement, param: spec.List, emit_inside: Callable[[], None]
) -> None:
    """Check each element, and write it for the kernel."""
    b, place = fast.b, step.place
    own = fast.record(place.position, NumberListValues)
    cells = lists.cells(fast, own.object, b.eq(own.length, b.i64(0)))
    bits = parse_dtype(param.dtype).bits
    own.data = lists.memory(fast, place, own.length, bits // 8)
    shape = _is_shape(fast, place, own.object) if param.element.is_integer else None
    before = fast.state
    with b.loop(own.length) as index:
        fast.state = before.fork()
        fast.numbers[place.each.position] = _element(fast, cells, index, shape)
        emit_inside()
        value = fast.scalar(place.each.position)
        if param.dtype not in FLOAT_DTYPES:
            value = narrowed(b, value, b.types.parse(f"i{bits}"))
        b.store(value, b.element(own.data, index, f"i{bits}"))
    fast.state = before


def _is_shape(fast: FastPath, place: Place, object_: Value) -> Value:
    """Return whether a list is a Shape. Of a moved object, only the header has the type."""
    b = fast.b
    index, _ = objects.look(fast, place)
    header = b.field(b.types.i32, object_, abi.OBJECT_TYPE_INDEX)
    moved = b.eq(index, b.i32(TypeIndex.OBJECT_RVALUE_REF))
    return b.eq(b.select(moved, header, index), b.i32(TypeIndex.SHAPE))


def _element(
    fast: FastPath, cells: Value, index: Value, shape: Value | None
) -> tuple[Value, Value]:
    """Load the type index and the payload of an element; ``shape`` says whether of a Shape."""
    b, t = fast.b, fast.b.types
    if shape is None:
        at = b.element(cells, index, lists.CELL)
        return b.load(t.i32, at), b.field(t.i64, at, abi.ANY_PAYLOAD)
    at = b.element(cells, b.mul(index, b.select(shape, b.i64(_ENTRY_SIZE), b.i64(abi.ANY_SIZE))))
    payload = b.element(at, b.select(shape, b.i64(0), b.i64(abi.ANY_PAYLOAD)))
    type_ = b.select(shape, b.i32(TypeIndex.INT), b.load(t.i32, at))
    return type_, b.load(t.i64, payload)
