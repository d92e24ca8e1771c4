"""*Scalars and constants* of docs/checks.md."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from ffi_builder.abi import TypeIndex
from ffi_builder.spec import (
    ConstBool,
    ConstFloat,
    ConstInt,
    ConstNone,
    DataPointer,
    Device,
    DType,
    Stream,
    Var,
)
from ffi_builder.spec.numbers import FLOAT_DTYPES
from tests.oracle.kinds import kind_at
from tests.oracle.memory import AnyAt, read_big_int
from tests.oracle.rounding import int_to_float, round_float
from tests.oracle.symbols import Symbols, Where, check_fits, check_not_negative, same
from tests.oracle.words import Place, Value, show_float

INTEGERS: Final = (TypeIndex.INT, TypeIndex.BOOL, TypeIndex.BIG_INT)
BOOLS: Final = (TypeIndex.BOOL, TypeIndex.INT)
FLOATS: Final = (TypeIndex.FLOAT, TypeIndex.INT, TypeIndex.BOOL)
HANDLES: Final = (TypeIndex.OPAQUE_PTR, TypeIndex.NONE)
STREAMS: Final = (TypeIndex.OPAQUE_PTR, TypeIndex.NONE, TypeIndex.INT)
ADDRESSES: Final = (TypeIndex.OPAQUE_PTR, TypeIndex.NONE, TypeIndex.INT, TypeIndex.BIG_INT)


def check_scalar(var: Var, given: AnyAt, place: Place, symbols: Symbols) -> None:
    """Check a symbol that is a parameter."""
    where = Where(place)
    match var.dtype:
        case "handle":
            check_kind(given, HANDLES, "opaque pointer or None", place)
            symbols.meet(var, pointer(given), where)
        case _ if var.is_integer:
            check_kind(given, INTEGERS, "int", place)
            symbols.check_integer(var, integer(given), where)
        case _:
            symbols.meet(var, check_number(var.dtype, given, place), where)


def check_number(dtype: str, given: AnyAt, place: Place) -> Value:
    """Check an int, float or bool that is no symbol, and return it in its dtype."""
    if dtype == "bool":
        check_kind(given, BOOLS, "bool", place)
        if given.as_int not in (0, 1):
            place.wrong_value("True, False, 0 or 1", str(given.as_int))
        return bool(given.as_int)
    if dtype in FLOAT_DTYPES:
        check_kind(given, FLOATS, "float", place)
        return round_float(number(given), dtype)
    check_kind(given, INTEGERS, "int", place)
    value = integer(given)
    check_fits(dtype, value, place)
    return value


def check_single(
    param: Stream | DataPointer | DType | Device, given: AnyAt, place: Place
) -> int | tuple[int, int]:
    """Check a parameter that is an address, a dtype or a device, and return its value."""
    match param:
        case Stream():
            check_kind(given, STREAMS, "opaque pointer, None or int", place)
            return pointer(given)
        case DataPointer():
            check_kind(given, ADDRESSES, "opaque pointer, None or int", place)
            return data_pointer(given, place)
        case DType():
            check_kind(given, (TypeIndex.DATA_TYPE,), "dtype", place)
            return given.as_dtype
        case Device():
            check_kind(given, (TypeIndex.DEVICE,), "device", place)
            return given.as_device
        case _:
            raise AssertionError(param)


def data_pointer(given: AnyAt, place: Place) -> int:
    if given.type_index not in (TypeIndex.INT, TypeIndex.BIG_INT):
        return pointer(given)
    value = integer(given)
    check_not_negative(place, value)
    check_fits("uint64", value, place)
    return value


def check_constant(
    param: ConstNone | ConstInt | ConstBool | ConstFloat, given: AnyAt, place: Place
) -> None:
    match param:
        case ConstNone():
            check_kind(given, (TypeIndex.NONE,), "None", place)
        case ConstInt(value=value):
            check_kind(given, (TypeIndex.INT,), "int", place)
            if given.as_int != value:
                place.wrong_value(str(value), str(given.as_int))
        case ConstBool(value=value):
            check_kind(given, (TypeIndex.BOOL,), "bool", place)
            if given.as_int != value:
                place.wrong_value(str(value), show_bool(given.as_int))
        case ConstFloat(value=value):
            check_kind(given, (TypeIndex.FLOAT, TypeIndex.INT), "float", place)
            if not same(number(given), value):
                place.wrong_value(show_float(value), show_float(number(given)))


def check_kind(given: AnyAt, types: Collection[int], expected: str, place: Place) -> None:
    if given.type_index not in types:
        place.wrong_type(expected, kind_at(given))


def integer(given: AnyAt) -> int:
    """Read an int, bool or BigInt."""
    if given.type_index == TypeIndex.BIG_INT:
        return read_big_int(given.as_pointer)
    return given.as_int


def number(given: AnyAt) -> float:
    """Read a float, or the float64 nearest to an int or bool."""
    if given.type_index == TypeIndex.FLOAT:
        return given.as_float
    return int_to_float(given.as_int)


def pointer(given: AnyAt) -> int:
    """Read an opaque pointer, or an int as one; None is 0, whatever its payload."""
    return 0 if given.type_index == TypeIndex.NONE else given.as_pointer


def show_bool(payload: int) -> str:
    """Show the value given for a bool; a payload other than 0 and 1 is shown as an int."""
    return str(bool(payload)) if payload in (0, 1) else str(payload)
