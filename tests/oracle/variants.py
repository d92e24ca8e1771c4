"""*A Variant* of docs/checks.md: which of its parameters an argument is for."""

from __future__ import annotations

from typing import Final

from ffi_builder.abi import TypeIndex
from ffi_builder.spec import Array, Bytes, Device, DType, String, Tensor, Variant
from ffi_builder.spec.variant import Alternative
from tests.oracle.kinds import kind_at, kind_of
from tests.oracle.memory import AnyAt, object_type
from tests.oracle.words import Place

INT, BOOL, FLOAT = TypeIndex.INT, TypeIndex.BOOL, TypeIndex.FLOAT
OWN: Final[dict[str, tuple[int, ...]]] = {
    "int": (INT, TypeIndex.BIG_INT),
    "bool": (BOOL,),
    "float": (FLOAT,),
    "Tensor": (TypeIndex.TENSOR, TypeIndex.DL_TENSOR_PTR),
    "str": (TypeIndex.STR, TypeIndex.SMALL_STR, TypeIndex.RAW_STR),
    "bytes": (TypeIndex.BYTES, TypeIndex.SMALL_BYTES, TypeIndex.BYTE_ARRAY_PTR),
    "dtype": (TypeIndex.DATA_TYPE,),
    "device": (TypeIndex.DEVICE,),
    "list": (TypeIndex.ARRAY, TypeIndex.LIST),
}
CONVERTED: Final[dict[str, tuple[int, ...]]] = {
    "int": (BOOL,),
    "bool": (INT,),
    "float": (INT, BOOL),
}
OBJECTS: Final = {"Tensor", "str", "bytes", "list"}
"""The types of which there are moved objects."""


def type_of(param: Alternative) -> str:
    match param:
        case Tensor():
            return "Tensor"
        case String():
            return "str"
        case Bytes():
            return "bytes"
        case DType():
            return "dtype"
        case Device():
            return "device"
        case Array():
            return "list"
        case _:
            kind = param.dtype.rstrip("0123456789")
            return {"uint": "int", "bfloat": "float"}.get(kind, kind)


def choose(param: Variant, given: AnyAt, place: Place) -> int:
    """Return the number of the parameter that comes."""
    types = [type_of(each) for each in param.params]
    kind, shown, among = given.type_index, kind_at(given), types
    if kind == TypeIndex.OBJECT_RVALUE_REF and OBJECTS & set(types) and given.moved:
        kind, among = object_type(given.moved), [each if each in OBJECTS else "" for each in types]
        shown = kind_of(kind, given.moved)
    for table in (OWN, CONVERTED):
        for number, each in enumerate(among):
            if kind in table.get(each, ()):
                return number
    return place.wrong_type(f"{', '.join(types[:-1])} or {types[-1]}", shown)
