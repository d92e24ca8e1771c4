"""Reads MessagePack, in which AMD's compilers write what they know of kernels.

The format is that of msgpack.org. Extensions, of which the metadata have none, are damage.
"""

from __future__ import annotations

import struct
from typing import Any, Final, NoReturn

from ffi_builder import SpecError
from ffi_builder.extending import elf

_CONSTANTS: Final = {0xC0: None, 0xC2: False, 0xC3: True}
_NUMBERS: Final = dict(zip((0xCA, 0xCB, *range(0xCC, 0xD4)), "fdBHIQbhiq", strict=True))
_BYTES: Final = dict(zip(range(0xC4, 0xC7), "BHI", strict=True))
_TEXTS: Final = dict(zip(range(0xD9, 0xDC), "BHI", strict=True))
_LISTS: Final = dict(zip(range(0xDC, 0xDE), "HI", strict=True))
_MAPS: Final = dict(zip(range(0xDE, 0xE0), "HI", strict=True))
"""The layouts of values, and of sizes, by the byte with which a value begins."""
_DEEPEST: Final = 16
"""How many lists and maps may be in each other: the metadata of kernels have five."""


def unpack(data: bytes, what: str) -> Any:
    r"""Return the value that the bytes are; ``what`` is their name in errors.

    Raises:
        SpecError: the bytes end too early or too late, are not MessagePack, or are too deep.

    Examples:
        >>> from ffi_builder.rocm.images.msgpack import unpack
        >>> unpack(b"\x82\xa2.x\x2a\xa2.y\x93\x01\xff\xc3", "metadata")
        {'.x': 42, '.y': [1, -1, True]}
    """
    reader = _Reader(elf.View(data, what, SpecError))
    value = reader.value(_DEEPEST)
    if reader.at != len(data):
        reader.view.damaged(f"its value ends at byte {reader.at} of {len(data)}")
    return value


class _Reader:
    """Bytes, and how far they are read."""

    def __init__(self, view: elf.View) -> None:
        self.view = view
        self.at = 0

    def value(self, depth: int) -> Any:
        """Read a value that may have this many levels."""
        tag = self._number("B")
        if tag < 0x80:
            return tag
        if tag >= 0xE0:
            return tag - 0x100
        if tag < 0x90:
            return self._map(tag & 0xF, depth)
        if tag < 0xA0:
            return self._list(tag & 0xF, depth)
        if tag < 0xC0:
            return self._text(tag & 0x1F)
        if tag in _CONSTANTS:
            return _CONSTANTS[tag]
        if tag in _NUMBERS:
            return self._number(_NUMBERS[tag])
        if tag in _TEXTS:
            return self._text(self._number(_TEXTS[tag]))
        if tag in _LISTS:
            return self._list(self._number(_LISTS[tag]), depth)
        if tag in _MAPS:
            return self._map(self._number(_MAPS[tag]), depth)
        if tag in _BYTES:
            return self._slice(self._number(_BYTES[tag]))
        return self._damaged(f"{tag:#x} begins no value")

    def _list(self, count: int, depth: int) -> list[Any]:
        if not depth:
            self._damaged("lists and maps are too deep in each other")
        return [self.value(depth - 1) for _ in range(count)]

    def _map(self, count: int, depth: int) -> dict[str, Any]:
        if not depth:
            self._damaged("lists and maps are too deep in each other")
        entries: dict[str, Any] = {}
        for _ in range(count):
            key = self.value(0)
            if not isinstance(key, str) or key in entries:
                self._damaged(f"a map has the key {key!r}, which is twice there or no text")
            entries[key] = self.value(depth - 1)
        return entries

    def _text(self, size: int) -> str:
        return str(self._slice(size), "utf-8", "backslashreplace")

    def _number(self, layout: str) -> Any:
        (number,) = struct.unpack(f">{layout}", self._slice(struct.calcsize(layout)))
        return number

    def _slice(self, size: int) -> bytes:
        content = self.view.slice(self.at, size, "a value")
        self.at += size
        return content

    def _damaged(self, words: str) -> NoReturn:
        self.view.damaged(f"before byte {self.at}, {words}")
