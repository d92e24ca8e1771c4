"""*Strings, bytes and choices* of docs/checks.md."""

from __future__ import annotations

import ctypes
from typing import Final

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.spec import Bytes, Choice, String
from tests.oracle.memory import AnyAt, read_bytes, read_u64
from tests.oracle.objects import check_object_of
from tests.oracle.words import Place, show_str

LONGEST_HINT: Final = 63
"""The longest choice that a hint names, in bytes."""


def check_string(param: String | Bytes | Choice, given: AnyAt, place: Place) -> bytes | int:
    """Check a str or bytes, and return its content; for a Choice, the int that it stands for."""
    if isinstance(param, Bytes):
        return check_content(
            given,
            place,
            expected="bytes",
            pointer=TypeIndex.BYTE_ARRAY_PTR,
            small=TypeIndex.SMALL_BYTES,
            object_type=TypeIndex.BYTES,
        )
    content = check_content(
        given,
        place,
        expected="str",
        pointer=TypeIndex.RAW_STR,
        small=TypeIndex.SMALL_STR,
        object_type=TypeIndex.STR,
    )
    return check_choice(param, content, place) if isinstance(param, Choice) else content


def check_content(
    given: AnyAt, place: Place, *, expected: str, pointer: int, small: int, object_type: int
) -> bytes:
    """Check a str or bytes in any of its forms, and return its content."""
    if given.type_index == small:
        length = given.small_length
        if length > abi.SMALL_CAPACITY:
            place.wrong_length("at most 7, as it is held in place", length)
        return ctypes.string_at(given.address + abi.ANY_PAYLOAD, length)
    if given.type_index == pointer:
        if given.as_pointer == 0:
            place.wrong_value("a non-NULL object", "NULL")
        if pointer == TypeIndex.RAW_STR:
            return ctypes.string_at(given.as_pointer)
        array = given.as_pointer
    else:
        array = check_object_of(given, place, expected, (object_type,)).address + abi.CELL_DATA
    if read_u64(array + abi.BYTE_ARRAY_LENGTH) and not read_u64(array + abi.BYTE_ARRAY_DATA):
        place.wrong_value("non-NULL elements", "NULL")
    return read_bytes(array)


class Chosen(int):
    """The value of a Choice, with the str that was given: several may have one value."""

    word: str


def check_choice(param: Choice, content: bytes, place: Place) -> Chosen:
    values = {choice.encode(): value for choice, value in param.choices.items()}
    if content not in values:
        expected = f"one of {', '.join(map(repr, param.choices))}"
        place.wrong_value(expected, show_str(content) + hint(content, list(values)))
    chosen = Chosen(values[content])
    chosen.word = content.decode()
    return chosen


def hint(given: bytes, choices: list[bytes]) -> str:
    """Return `` (did you mean 'relu'?)``, or an empty text."""
    candidates = [choice for choice in choices if len(choice) <= LONGEST_HINT]
    if not candidates:
        return ""
    nearest = min(candidates, key=lambda choice: edit_distance(given, choice))
    if 2 * edit_distance(given, nearest) > max(len(given), len(nearest)):
        return ""
    return f" (did you mean {show_str(nearest)}?)"


def edit_distance(left: bytes, right: bytes) -> int:
    """Return the number of bytes to insert, delete or replace to turn one into the other."""
    row = list(range(len(right) + 1))
    for count, byte in enumerate(left, 1):
        above, row = row, [count]
        for column, other in enumerate(right):
            replaced = above[column] + (byte != other)
            row.append(min(above[column + 1] + 1, row[column] + 1, replaced))
    return row[-1]
