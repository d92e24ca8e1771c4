"""Checks by ``testing`` and the words they end in."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ffi_builder import abi, testing
from ffi_builder.diagnosis.check import check_raw
from ffi_builder.spec import Param, Signature, outline
from tests.differential.description import Arguments, Plain, Value
from tests.differential.memory import Memory


def mismatch(params: Sequence[Param], at: str, expected: str, got: str, argument: int = 0) -> str:
    """The message of a check that failed."""
    return (
        f"Mismatched {at} on argument #{argument} when calling: "
        f"`{outline(Signature('f', params))}`, expected {expected} but got {got}"
    )


def refused(call: Callable[[], object], kind: type[Exception], message: str) -> None:
    """The call raises exactly this."""
    with pytest.raises((TypeError, ValueError)) as error:
        call()
    assert (error.type, str(error.value)) == (kind, message), str(error.value)


def check(params: Sequence[Param], *args: Any) -> dict[str, Any]:
    """The symbols that Python values bind."""
    return testing.check(Signature("f", params), *args)


class Raw:
    """Arguments laid out by hand, and what they point to."""

    def __init__(self) -> None:
        self._memory = Memory(slots=64)
        self._alive: list[object] = []

    def check(self, params: Sequence[Param], *values: Value) -> dict[str, Any]:
        """The symbols that these bind."""
        address = self._memory.place(Arguments(values))
        return check_raw(Signature("f", params), address, len(values))

    def put(self, content: bytes) -> int:
        """The address of these bytes."""
        buffer = ctypes.create_string_buffer(content, len(content))
        self._alive.append(buffer)
        return ctypes.addressof(buffer)

    def byte_array(self, type_index: int, data: bytes | None, size: int | None = None) -> Plain:
        """A ``TVMFFIByteArray*``, or a Str or Bytes object; ``data`` of None is NULL."""
        length = len(data or b"") if size is None else size
        header = b"" if type_index < abi.FIRST_OBJECT else header_of(type_index)
        cell = struct.pack("<QQ", 0 if data is None else self.put(data), length)
        return Plain(type_index, self.put(header + cell))

    def char_pointer(self, text: bytes) -> Plain:
        """A ``char*``."""
        return Plain(abi.TypeIndex.RAW_STR, self.put(text + b"\0"))

    def object_that_says(self, said: int, type_index: int) -> Plain:
        """An Any of one type index, whose object has another."""
        return Plain(type_index, self.put(header_of(said)))


def small(type_index: int, data: bytes, length: int | None = None) -> Plain:
    """A str or bytes held in place."""
    payload = int.from_bytes(data, "little")
    return Plain(type_index, payload, len(data) if length is None else length)


def header_of(type_index: int) -> bytes:
    """An object's header."""
    return struct.pack("<QiIQ", 1 | 1 << 32, type_index, 0, 0)
