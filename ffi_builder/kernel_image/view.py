"""Bytes of which nothing is believed: what lies outside of them is a SpecError that says what."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, NoReturn

from ffi_builder.errors import SpecError


@dataclass(frozen=True)
class View:
    """Some bytes, and what they are in error messages."""

    data: bytes
    what: str
    """``cubin``, ``fatbin``."""

    def unpack(self, layout: struct.Struct, at: int, part: str) -> tuple[Any, ...]:
        """The fields of a structure."""
        self._check(at, layout.size, part)
        return layout.unpack_from(self.data, at)

    def slice(self, at: int, size: int, part: str) -> bytes:
        """Some of the bytes."""
        self._check(at, size, part)
        return self.data[at : at + size]

    def damaged(self, words: str) -> NoReturn:
        """Raise the error of an image that cannot be so."""
        raise SpecError(f"The {self.what} is cut off or damaged: {words}")

    def _check(self, at: int, size: int, part: str) -> None:
        if at + size > len(self.data):
            self.damaged(
                f"{part} would be bytes {at} to {at + size}, but there are {len(self.data)}"
            )
