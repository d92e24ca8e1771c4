"""Bytes that may be damaged: reading outside of them is an error that says what was read."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, NoReturn


@dataclass(frozen=True)
class View:
    """Some bytes, what errors call them (``cubin``, ``object file``), and the errors' class."""

    data: bytes
    what: str
    error: type[Exception]

    def unpack(self, layout: struct.Struct, at: int, part: str) -> tuple[Any, ...]:
        """Return the fields of a structure."""
        self._check(at, layout.size, part)
        return layout.unpack_from(self.data, at)

    def slice(self, at: int, size: int, part: str) -> bytes:
        """Return some of the bytes."""
        self._check(at, size, part)
        return self.data[at : at + size]

    def damaged(self, words: str) -> NoReturn:
        """Raise the error of bytes that cannot be what they should be."""
        raise self.error(f"The {self.what} is truncated or damaged: {words}")

    def _check(self, at: int, size: int, part: str) -> None:
        if at + size > len(self.data):
            self.damaged(
                f"{part} would be bytes {at} to {at + size}, but there are {len(self.data)}"
            )
