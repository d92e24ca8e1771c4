"""Hypothesis strategies for wrong arguments: right ones with something changed, or anything at all.

What no wrapper can tell is not made: a pointer to garbage that must be followed, an array or object
that is shorter than it says. So counts that lie are smaller than what is there, or absurd, and
payloads that are no pointers stand only under kinds that are never dereferenced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final, TypeAlias

from hypothesis import strategies as st

from ffi_builder.abi import TypeIndex
from tests.differential.description import (
    NONE,
    Arguments,
    DLTensor,
    Elements,
    Ints,
    Moved,
    Object,
    Plain,
    Pointer,
    Value,
    array,
    list_,
    of_bool,
    of_float,
    of_int,
    of_pointer,
    shape,
    tensor,
)
from tests.differential.signatures import MOST_DIMENSIONS

FOLLOWED: Final = {
    TypeIndex.DL_TENSOR_PTR,
    TypeIndex.OBJECT_RVALUE_REF,
    TypeIndex.SHAPE,
    TypeIndex.TENSOR,
    TypeIndex.ARRAY,
    TypeIndex.LIST,
    TypeIndex.BIG_INT,
}
"""Kinds whose payload some check may follow."""
UNKNOWN: Final = (-1, 14, 63, 79, 128, 2**31 - 1, -(2**31))
KINDS: Final = (*TypeIndex, *UNKNOWN)

HUGE: Final = (-1, 2**31, 2**32, 2**62, 2**62 + 1, 2**63 - 1, -(2**62), -(2**63))
SMALL_TENSOR: Final = DLTensor((2, 3), (3, 1))

SOME_VALUES: Final[tuple[Value, ...]] = (
    NONE,
    Plain(TypeIndex.NONE, 123),
    of_int(0),
    of_int(1),
    of_int(2),
    of_int(-1),
    of_int(2**63),
    of_int(2**64 - 1),
    of_int(2**64),
    of_int(-(2**63) - 1),
    of_int(2**200),
    of_bool(True),
    of_bool(False),
    Plain(TypeIndex.BOOL, 2),
    Plain(TypeIndex.BOOL, 256),
    of_float(1.0),
    of_float(0.1),
    of_float(float("nan")),
    of_float(-0.0),
    of_pointer(0),
    of_pointer(0x7F10),
    Plain(TypeIndex.INT, 3, padding=7),
    Plain(TypeIndex.SMALL_STR, 0x616263, padding=3),
    Object(TypeIndex.STR),
    Object(TypeIndex.MAP),
    Object(128),
    shape(),
    shape(2, 3),
    array(),
    array(of_int(2), of_int(3)),
    list_(of_int(1), of_float(2.0)),
    tensor(SMALL_TENSOR),
    tensor(DLTensor((), None)),
    Pointer(SMALL_TENSOR),
    Moved(tensor(SMALL_TENSOR)),
    Moved(None),
    *[Moved(shape(2, 3)), Moved(Object(TypeIndex.STR))] * 2,
)


def some_values() -> st.SearchStrategy[Value]:
    """Any value: of any kind, NULL, or with a payload that nobody may follow."""
    nulls = st.sampled_from(KINDS).map(Plain)
    unfollowed = [kind for kind in KINDS if kind not in FOLLOWED]
    garbage = st.builds(Plain, st.sampled_from(unfollowed), st.sampled_from([1, 8, 2**64 - 1]))
    return st.one_of(st.sampled_from(SOME_VALUES), nulls, garbage)


def changed_int(draw: st.DrawFn, value: int) -> int:
    """Another number, near or far."""
    near = [value + 1, value - 1, value + 3, value * 2, 0, 1, 16, 300, -value, -value - 1]
    return draw(st.sampled_from([number for number in (*near, *near, *HUGE) if number != value]))


def changed_entry(draw: st.DrawFn, values: tuple[int, ...]) -> tuple[int, ...]:
    """One of the numbers changed, if there is one."""
    if not values:
        return values
    index = draw(st.integers(0, len(values) - 1))
    value = (changed_int(draw, values[index]) + 2**63) % 2**64 - 2**63
    return (*values[:index], value, *values[index + 1 :])


def lie(draw: st.DrawFn, count: int) -> int:
    """A count that is smaller than what is there, or absurd."""
    return draw(st.sampled_from([*range(count), -1, 2**31 - 1, -(2**31)]))


def changed_tensor(draw: st.DrawFn, given: DLTensor) -> DLTensor:
    """One field changed."""
    dims, strides = given.shape, given.strides
    if dims is None:  # as many as are said to be there, so that another change may put them there
        dims = (2,) * min(max(given.ndim or 0, 0), MOST_DIMENSIONS)
    code, bits, lanes = given.dtype
    null_shape = replace(given, shape=None, ndim=len(dims))
    more = replace(
        given,
        shape=(*dims, 1),
        strides=None if strides is None else (*strides, 1),
        ndim=len(dims) + 1,
    )
    shapes: list[Callable[[], DLTensor]] = [
        lambda: replace(given, shape=changed_entry(draw, dims)),
        lambda: replace(given, shape=changed_entry(draw, dims)),
        lambda: null_shape if dims else more,
    ]
    layouts: list[Callable[[], DLTensor]] = [
        lambda: replace(given, strides=changed_entry(draw, strides or dims)),
        lambda: replace(given, strides=changed_entry(draw, strides or dims)),
        lambda: replace(given, strides=None),
    ]
    devices: list[Callable[[], DLTensor]] = [
        lambda: replace(given, device_type=draw(st.sampled_from([0, 1, 2, 5, 10, 99, -1]))),
        lambda: replace(given, device_id=draw(st.sampled_from([0, 1, 2, -1, 2**31 - 1]))),
        lambda: replace(given, device_id=given.device_id + 1),
    ]
    others: list[Callable[[], DLTensor]] = [
        lambda: more,
        lambda: replace(given, ndim=lie(draw, len(dims))),
        lambda: replace(given, dtype=((code + draw(st.sampled_from([1, 99]))) % 256, bits, lanes)),
        lambda: replace(given, dtype=(code, (bits * 2 or 8) % 256, lanes)),
        lambda: replace(
            given, dtype=(code, bits, (lanes + draw(st.sampled_from([1, -1]))) % 2**16)
        ),
    ]
    addresses: list[Callable[[], DLTensor]] = [
        lambda: replace(given, data=0),
        lambda: replace(given, data=given.data + draw(st.sampled_from([1, 2, 8, 64])) & 2**64 - 1),
        lambda: replace(given, data=2**64 - 1 - draw(st.sampled_from([0, 1, 63]))),
        lambda: replace(given, byte_offset=draw(st.sampled_from([1, 4, 2**63, 2**64 - 1]))),
        lambda: replace(given, data=2**64 - 8, byte_offset=draw(st.sampled_from([7, 8, 4]))),
    ]
    groups = [shapes, shapes, layouts, layouts, layouts, devices, others, addresses]
    changes = draw(st.sampled_from(groups))
    return draw(st.sampled_from(changes))()


def changed_ints(draw: st.DrawFn, given: Ints) -> Ints:
    values = given.values or ()
    changes = [
        *[lambda: Ints(changed_entry(draw, values))] * 3,
        lambda: Ints((*values, 2)),
        lambda: Ints(values[:-1]),
        lambda: Ints(None, len(values)),
        lambda: Ints(values, lie(draw, len(values))),
    ]
    return draw(st.sampled_from(changes))()


def changed_elements(draw: st.DrawFn, given: Elements) -> Elements:
    values = given.values or ()
    changes = [
        lambda: Elements((*values, draw(some_values()))),
        lambda: Elements(values[:-1]),
        lambda: Elements(None, len(values)),
        lambda: Elements(values, lie(draw, len(values))),
    ]
    return draw(st.sampled_from(changes))()


def changed_plain(draw: st.DrawFn, given: Plain) -> Value:
    match given.type_index:
        case TypeIndex.INT:
            return of_int(changed_int(draw, given.payload))
        case TypeIndex.BOOL:
            other = draw(st.sampled_from([0, 1, 2, -1, 256]))
            return Plain(TypeIndex.BOOL, other)
        case TypeIndex.FLOAT:
            # One unit in the last place, the sign, or another number.
            return Plain(
                TypeIndex.FLOAT, given.payload ^ draw(st.sampled_from([1, -(2**63), 3 << 50]))
            )
        case TypeIndex.OPAQUE_PTR:
            return of_pointer(draw(st.sampled_from([0, 1, 2**64 - 1])))
        case _:
            return draw(some_values())


def changed_value(draw: st.DrawFn, given: Value) -> Value:
    """Something else in its place, or, mostly, the same with one thing changed."""
    if draw(st.integers(0, 9)) == 9:
        return draw(some_values())
    match given:
        case Plain():
            return changed_plain(draw, given)
        case Object(kind, DLTensor() as body):
            return Object(kind, changed_tensor(draw, body))
        case Object(kind, Ints() as body):
            return Object(kind, changed_ints(draw, body))
        case Object(kind, Elements() as body):
            return Object(kind, changed_elements(draw, body))
        case Object():
            return draw(some_values())
        case Pointer(body):
            return Pointer(changed_tensor(draw, body))
        case Moved(Object(kind, DLTensor() as body)):
            return Moved(Object(kind, changed_tensor(draw, body)))
        case Moved():
            return draw(some_values())


Rebuild: TypeAlias = Callable[[Value], Value]
Site: TypeAlias = tuple[Value, Rebuild]


def sites(value: Value) -> Iterator[Site]:
    """Every value in a value, with how to put another into its place."""
    yield value, lambda other: other
    match value:
        case Object(kind, Elements(values=tuple(items), size=size)):
            for index, item in enumerate(items):
                for inner, rebuild in sites(item):
                    yield inner, _inside(kind, items, size, index, rebuild)
        case _:
            pass


def _inside(
    kind: int, items: tuple[Value, ...], size: int | None, index: int, rebuild: Rebuild
) -> Rebuild:
    def replaced(other: Value) -> Value:
        values = (*items[:index], rebuild(other), *items[index + 1 :])
        return Object(kind, Elements(values, size))

    return replaced


def changed_count(draw: st.DrawFn, given: Arguments) -> Arguments:
    """Another number of arguments, or no array of them."""
    values = given.values or ()
    changes = [
        Arguments(values, -1),
        Arguments((*values, NONE)),
        Arguments(values[:-1]),
        Arguments(values, 2**31 - 1),
        Arguments(None, len(values)),
        Arguments(None, len(values)),
        Arguments(None, 0),
    ]
    return draw(st.sampled_from(changes))


@st.composite
def changed_arguments(draw: st.DrawFn, given: Arguments) -> Arguments:
    """One thing about a call changed."""
    values = given.values or ()
    if not values or draw(st.integers(0, 49)) == 49:
        return changed_count(draw, given)
    index = draw(st.integers(0, len(values) - 1))
    value, rebuild = draw(st.sampled_from(list(sites(values[index]))))
    other = rebuild(changed_value(draw, value))
    return replace(given, values=(*values[:index], other, *values[index + 1 :]))


@st.composite
def any_arguments(draw: st.DrawFn, count: int) -> Arguments:
    """As many arguments as are wanted, of any kind."""
    return Arguments(tuple(draw(some_values()) for _ in range(count)))
