"""*Moved objects* and *Objects* of docs/checks.md, and the checks common to all objects."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.spec import Array, Function, Map, Object
from tests.oracle.kinds import is_of_type, kind_of
from tests.oracle.memory import AnyAt, object_type
from tests.oracle.words import Place


@dataclass(frozen=True)
class Held:
    """The object that an argument is, or holds if it is a moved object."""

    type_index: int
    address: int


def check_object(
    given: AnyAt, place: Place, expected: str, is_right: Callable[[int, int], bool]
) -> Held:
    """Check type and NULL of an object; ``is_right`` takes its type index and address."""
    if given.type_index == TypeIndex.OBJECT_RVALUE_REF:
        if given.moved == 0:
            place.wrong_value("a non-NULL object", "NULL")
        held = Held(object_type(given.moved), given.moved)
    else:
        held = Held(given.type_index, given.as_pointer)
    if not is_right(held.type_index, held.address):
        place.wrong_type(expected, kind_of(held.type_index, held.address))
    if held.address == 0:
        place.wrong_value("a non-NULL object", "NULL")
    return held


def check_object_of(given: AnyAt, place: Place, expected: str, types: Collection[int]) -> Held:
    """Check an object whose type index alone decides."""
    return check_object(given, place, expected, lambda type_index, _: type_index in types)


def check_object_param(param: Object | Function | Array | Map, given: AnyAt, place: Place) -> int:
    """Check an object, and return its address."""
    match param:
        case Object(type_key=None):
            held = check_object(given, place, "Object", lambda index, _: index >= abi.FIRST_OBJECT)
        case Object(type_key=str(key)):
            held = check_object(
                given, place, key, lambda index, address: is_of_type(index, address, key)
            )
        case Function():
            held = check_object_of(given, place, "Function", (TypeIndex.FUNCTION,))
        case Array():
            held = check_object_of(given, place, "Array", (TypeIndex.ARRAY,))
        case Map():
            held = check_object_of(given, place, "Map", (TypeIndex.MAP,))
        case _:
            raise AssertionError(param)
    return held.address
