"""Checks of strings, bytes and choices, interpreted."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import Final, TypeAlias, Union

from typing_extensions import assert_never

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.plan import Place
from ffi_builder.plan import steps as s
from ffi_builder.plan.messages import LONGEST_NEAREST, NEAREST, choices_text, string_text
from ffi_builder.testing import memory as mem
from ffi_builder.testing.decode import SMALL
from ffi_builder.testing.message import require
from ffi_builder.testing.reading import Found

TextStep: TypeAlias = Union[s.CheckSmall, s.CheckBytes, s.CheckChoice]

_ENOUGH: Final = 256
"""Longer strs than this are no choice, near none, and shown by their first bytes."""


def check_text(found: Found, step: TextStep) -> None:
    """One check.

    Raises:
        Mismatch: it failed.
    """
    match step:
        case s.CheckSmall(place):
            if found.type_index(place) in SMALL:
                length = _span(found, place)[1]
                require(length <= abi.SMALL_CAPACITY, step, got=str(length))
        case s.CheckBytes(place):
            if found.type_index(place) != TypeIndex.RAW_STR:
                data, length = _span(found, place)
                require(data != 0 or length == 0, step)
        case s.CheckChoice(place, choice):
            text = _text(found, place)
            chosen = any(text == name.encode() for name in choice.choices)
            require(
                chosen,
                step,
                text=choices_text(choice.choices),
                string=string_text(text),
                nearest="" if chosen else _hint(text, choice.choices),
            )
        case _:
            assert_never(step)


def _span(found: Found, place: Place) -> tuple[int, int]:
    """Where the bytes are, and how many; not for a ``char*``."""
    address = found.object(place)
    match found.type_index(place):
        case TypeIndex.SMALL_STR | TypeIndex.SMALL_BYTES:
            return address, mem.read_u32(address - abi.ANY_PAYLOAD + abi.ANY_SMALL_LENGTH)
        case TypeIndex.BYTE_ARRAY_PTR:
            data, length = abi.BYTE_ARRAY_DATA, abi.BYTE_ARRAY_LENGTH
        case _:
            data, length = abi.CELL_DATA, abi.CELL_SIZE
    return mem.read_u64(address + data), mem.read_u64(address + length)


def _text(found: Found, place: Place) -> bytes:
    """The str, of a long one as much as may matter."""
    if found.type_index(place) == TypeIndex.RAW_STR:
        return ctypes.string_at(found.object(place))
    data, length = _span(found, place)
    return ctypes.string_at(data, min(length, _ENOUGH)) if length else b""


def _hint(text: bytes, choices: Iterable[str]) -> str:
    """What was perhaps meant: the first of the nearest choices, if it is near enough."""
    # Even of what is this long, more than half would differ.
    if len(text) > 2 * LONGEST_NEAREST:
        return ""
    known = [choice for choice in choices if len(choice) <= LONGEST_NEAREST]
    distances = [edit_distance(text, choice.encode()) for choice in known]
    if not distances:
        return ""
    least = min(distances)
    nearest = known[distances.index(least)]
    near = 2 * least <= max(len(text), len(nearest))
    return NEAREST.format(nearest=nearest) if near else ""


def edit_distance(lhs: bytes, rhs: bytes) -> int:
    """How many bytes to insert, delete or replace to make the one the other."""
    row = list(range(len(rhs) + 1))
    for count, left in enumerate(lhs, start=1):
        before, row[0] = row[0], count
        for column, right in enumerate(rhs, start=1):
            replaced = before + (left != right)
            before = row[column]
            row[column] = min(replaced, before + 1, row[column - 1] + 1)
    return row[-1]
