"""Steps that find out what kind of value came, interpreted."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TypeAlias, Union

from typing_extensions import assert_never

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.plan import Place
from ffi_builder.plan import steps as s
from ffi_builder.plan.messages import OR_NONE, type_name
from ffi_builder.testing import memory as mem
from ffi_builder.testing.message import Scalar, require
from ffi_builder.testing.reading import Found
from ffi_builder.testing.registry import type_key, type_keys
from ffi_builder.testing.rounding import round_to

ObjectStep: TypeAlias = Union[
    s.DecodeTensor, s.DecodeShape, s.DecodeTuple, s.DecodeText, s.DecodeObject
]
DecodeStep: TypeAlias = Union[ObjectStep, s.DecodeScalar, s.DecodeEntry]

SMALL = (TypeIndex.SMALL_STR, TypeIndex.SMALL_BYTES)
"""What is held in place."""


@dataclass(frozen=True)
class Came:
    """What came where an object may: of a moved object that which it holds."""

    type_index: int
    address: int
    moved: bool = False


def decode(found: Found, step: DecodeStep) -> None:
    """Find out what came, and keep it for later steps.

    Raises:
        Mismatch: it is of another kind.
    """
    match step:
        case s.DecodeScalar():
            found.values[step.place] = _scalar(found, step)
        case s.DecodeEntry():
            found.values[step.place] = _entry(found, step)
        case _:
            _object(found, step)


def is_none(found: Found, place: Place) -> bool:
    """Whether what came is None."""
    return mem.read_i32(found.any(place.position)) == TypeIndex.NONE


def _object(found: Found, step: ObjectStep) -> None:
    came = _came(found.any(step.place.position))
    null = came.moved and came.address == 0  # which is for NotNull to refuse
    _require_kind(null or _accepts(step, came), step, came)
    address = came.address
    if came.type_index == TypeIndex.DL_TENSOR_PTR and address:
        address -= mem.DL
    found.objects[step.place.position] = address
    found.types[step.place.position] = came.type_index


def _came(any_: int) -> Came:
    type_index = mem.read_i32(any_)
    if type_index in SMALL:
        return Came(type_index, any_ + abi.ANY_PAYLOAD)
    payload = mem.read_u64(any_ + abi.ANY_PAYLOAD)
    if type_index != TypeIndex.OBJECT_RVALUE_REF:
        return Came(type_index, payload)
    held = mem.read_u64(payload) if payload else 0
    if held:
        type_index = mem.read_i32(held + abi.OBJECT_TYPE_INDEX)
    return Came(type_index, held, moved=True)


def _accepts(step: ObjectStep, came: Came) -> bool:
    """Whether the kind is right; what is no object cannot be moved."""
    others: tuple[TypeIndex, ...] = ()
    match step:
        case s.DecodeTensor():
            objects, others = (TypeIndex.TENSOR,), (TypeIndex.DL_TENSOR_PTR,)
        case s.DecodeShape():
            objects = (TypeIndex.SHAPE, TypeIndex.ARRAY, TypeIndex.LIST)
        case s.DecodeTuple():
            objects = (TypeIndex.ARRAY, TypeIndex.LIST)
        case s.DecodeText(binary=False):
            objects, others = (TypeIndex.STR,), (TypeIndex.RAW_STR, TypeIndex.SMALL_STR)
        case s.DecodeText():
            objects, others = (TypeIndex.BYTES,), (TypeIndex.BYTE_ARRAY_PTR, TypeIndex.SMALL_BYTES)
        case s.DecodeObject(type_index=None, type_key=None):
            return came.type_index >= abi.FIRST_OBJECT
        case s.DecodeObject(type_index=None, type_key=key):
            return key in type_keys(came.type_index, came.address)
        case s.DecodeObject(type_index=index):
            return came.type_index == index
        case _:
            assert_never(step)
    return came.type_index in objects or (came.type_index in others and not came.moved)


def _entry(found: Found, step: s.DecodeEntry) -> int:
    place = step.place
    assert place.index is not None
    cells = mem.read_u64(found.object(place) + abi.CELL_DATA)
    if found.type_index(place) == TypeIndex.SHAPE:
        return mem.read_i64(cells + 8 * place.index)
    any_ = cells + abi.ANY_SIZE * place.index
    came = _unmoved(any_)
    _require_kind(came.type_index in (TypeIndex.INT, TypeIndex.BOOL), step, came)
    return mem.read_i64(any_ + abi.ANY_PAYLOAD)


def _scalar(found: Found, step: s.DecodeScalar) -> Scalar:
    any_ = found.any(step.place.position)
    came = _unmoved(any_)
    _require_kind(came.type_index in step.kind.accepts, step, came)
    value: Scalar
    match came.type_index:
        case TypeIndex.NONE:
            value = 0
        case TypeIndex.FLOAT:
            value = ctypes.c_double.from_address(any_ + abi.ANY_PAYLOAD).value
        case TypeIndex.OPAQUE_PTR:
            value = came.address
        case TypeIndex.BIG_INT:
            value = mem.big_int(came.address)
        case _:
            value = mem.read_i64(any_ + abi.ANY_PAYLOAD)
    if step.kind in (s.Kind.FLOAT, s.Kind.CONST_FLOAT):
        value = round_to(float(value), step.dtype or "float64")
    return value


def _unmoved(any_: int) -> Came:
    """What came where no object may: a moved one is shown as such."""
    return Came(mem.read_i32(any_), mem.read_u64(any_ + abi.ANY_PAYLOAD))


def _require_kind(fine: bool, step: DecodeStep, came: Came) -> None:
    if not fine:
        optional = isinstance(step, s.Decode) and step.optional
        text = step.text if isinstance(step, s.DecodeObject) else ""
        name = type_name(came.type_index, type_key(came.type_index, came.address))
        require(fine, step, type=name, text=text, or_none=OR_NONE if optional else "")
