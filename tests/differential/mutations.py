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

from ffi_builder.abi import FIRST_DYNAMIC, TypeIndex
from ffi_builder.spec import Signature
from tests.differential.description import (
    NONE,
    Arguments,
    ByteArray,
    Chars,
    CString,
    DLTensor,
    Elements,
    Ints,
    Moved,
    Object,
    Plain,
    Pointer,
    Value,
    array,
    bytes_,
    list_,
    of_bool,
    of_float,
    of_int,
    of_pointer,
    shape,
    small,
    str_,
    tensor,
)
from tests.differential.mutated_tensors import changed_entry, changed_int, changed_tensor, lie
from tests.differential.mutated_texts import changed_text
from tests.differential.registered import BASE, LEAF, LONGER, OTHER, TYPES
from tests.differential.signatures import tensors_of

FOLLOWED: Final = {
    TypeIndex.DL_TENSOR_PTR,
    TypeIndex.RAW_STR,
    TypeIndex.BYTE_ARRAY_PTR,
    TypeIndex.OBJECT_RVALUE_REF,
    TypeIndex.STR,
    TypeIndex.BYTES,
    TypeIndex.SHAPE,
    TypeIndex.TENSOR,
    TypeIndex.ARRAY,
    TypeIndex.LIST,
    TypeIndex.BIG_INT,
}
"""Kinds whose payload some check may follow."""
UNKNOWN: Final = (-1, 14, 63, 79, 127, 128, 2**31 - 1, -(2**31))
KINDS: Final = (*TypeIndex, *UNKNOWN)

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
    small(TypeIndex.SMALL_BYTES, b"ab"),
    small(TypeIndex.SMALL_STR, b"12345678"),
    CString(b"relu"),
    str_(b"a longer text"),
    bytes_(b""),
    ByteArray(Chars(b"some bytes")),
    Plain(TypeIndex.DATA_TYPE, 0x00012002),
    Plain(TypeIndex.DEVICE, 2 | 1 << 32),
    *map(Object, (TypeIndex.MAP, TypeIndex.FUNCTION, TypeIndex.MODULE, TypeIndex.OBJECT)),
    *map(Object, TYPES),
    *(Moved(Object(index)) for index in (LEAF, OTHER, LONGER, TypeIndex.FUNCTION, TypeIndex.MAP)),
    # Not registered, or not what the object says of itself.
    *(Object(index, None, says) for index, says in ((2**31 - 1, 64), (LEAF, BASE), (64, LEAF))),
    *(Object(index, None, says) for index, says in ((5000, -1), (68, 72), (BASE, 0), (200, 201))),
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
    *[Moved(shape(2, 3)), Moved(str_(b"moved"))] * 2,
)


def some_values() -> st.SearchStrategy[Value]:
    """Any value: of any kind, NULL, or with a payload that nobody may follow."""
    nulls = st.sampled_from(KINDS).map(Plain)
    unfollowed = [kind for kind in KINDS if kind not in FOLLOWED and kind < FIRST_DYNAMIC]
    garbage = st.builds(Plain, st.sampled_from(unfollowed), st.sampled_from([1, 8, 2**64 - 1]))
    return st.one_of(st.sampled_from(SOME_VALUES), nulls, garbage)


def changed_ints(draw: st.DrawFn, given: Ints) -> Ints:
    values = given.values or ()
    changes = [
        *[lambda: Ints(changed_entry(draw, values))] * 3,
        lambda: Ints((*values, 2)),
        lambda: Ints(values[:-1]),
        lambda: Ints(None, len(values)),
        lambda: Ints(values, lie(draw, len(values), (2**31, 2**62))),
    ]
    return draw(st.sampled_from(changes))()


def changed_elements(draw: st.DrawFn, given: Elements) -> Elements:
    values = given.values or ()
    changes = [
        lambda: Elements((*values, draw(some_values()))),
        lambda: Elements(values[:-1]),
        lambda: Elements(None, len(values)),
        # A list may have as many elements as an int32 counts, and they would be read.
        lambda: Elements(values, lie(draw, len(values), (2**31, 2**62))),
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


def changed_value(draw: st.DrawFn, given: Value, *, any_rank: bool) -> Value:
    """Something else in its place, or, mostly, the same with one thing changed."""
    if draw(st.integers(0, 9)) == 9:
        return draw(some_values())
    if draw(st.integers(0, 29)) == 29 and isinstance(given, Object):
        return Plain(given.type_index)
    match given:
        case Plain(TypeIndex.SMALL_STR | TypeIndex.SMALL_BYTES) | CString() | ByteArray():
            return changed_text(draw, given)
        case Plain():
            return changed_plain(draw, given)
        case Object():
            return changed_object(draw, given, any_rank=any_rank)
        case Pointer(body):
            return Pointer(changed_tensor(draw, body, any_rank=any_rank))
        case Moved(Object() as held):
            other = changed_object(draw, held, any_rank=any_rank)
            return Moved(other) if isinstance(other, Object) else other
        case Moved():
            return draw(some_values())


def changed_object(draw: st.DrawFn, given: Object, *, any_rank: bool) -> Value:
    match given.body:
        case DLTensor() as body:
            return replace(given, body=changed_tensor(draw, body, any_rank=any_rank))
        case Ints() as body:
            return replace(given, body=changed_ints(draw, body))
        case Elements() as body:
            return replace(given, body=changed_elements(draw, body))
        case Chars():
            return changed_text(draw, given)
        case _:
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
        case Moved(Object(kind, Elements(values=tuple(items), size=size))):
            for index, item in enumerate(items):
                for inner, rebuild in sites(item):
                    outer = _inside(kind, items, size, index, rebuild)
                    yield inner, lambda other, outer=outer: Moved(outer(other))
        case _:
            pass


def _inside(
    kind: int, items: tuple[Value, ...], size: int | None, index: int, rebuild: Rebuild
) -> Callable[[Value], Object]:
    def replaced(other: Value) -> Object:
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
def changed_arguments(draw: st.DrawFn, signature: Signature, given: Arguments) -> Arguments:
    """One thing about a call of the signature changed."""
    values = given.values or ()
    if not values or draw(st.integers(0, 49)) == 49:
        return changed_count(draw, given)
    index = draw(st.integers(0, len(values) - 1))
    value, rebuild = draw(st.sampled_from(list(sites(values[index]))))
    any_rank = any(tensor.any_rank for _, tensor in tensors_of(signature.params))
    other = rebuild(changed_value(draw, value, any_rank=any_rank))
    return replace(given, values=(*values[:index], other, *values[index + 1 :]))


@st.composite
def any_arguments(draw: st.DrawFn, count: int) -> Arguments:
    """As many arguments as are wanted, of any kind."""
    return Arguments(tuple(draw(some_values()) for _ in range(count)))
