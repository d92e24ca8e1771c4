"""Bytes that may be damaged: reading outside of them raises an error that names the part."""

from __future__ import annotations

import struct
from typing import Any, NoReturn

from ffi_builder.records import dataclass


@dataclass(frozen=True)
class View:
    """Bytes, with their name in errors (``cubin``, ``object file``) and the class of errors."""

    data: bytes
    what: str
    error: type[Exception]

    def unpack(self, layout: struct.Struct, at: int, part: str) -> tuple[Any, ...]:
        """Return the fields of a structure at an offset; ``part`` is its name in errors."""
        self._check(at, layout.size, part)
        return layout.unpack_from(self.data, at)

    def slice(self, at: int, size: int, part: str) -> bytes:
        """Return ``size`` bytes from an offset; ``part`` is their name in errors."""
        self._check(at, size, part)
        return self.data[at : at + size]

    def damaged(self, words: str) -> NoReturn:
        """Raise an error that says why the bytes cannot be right."""
        raise self.error(f"The {self.what} is truncated or damaged: {words}")

    def _check(self, at: int, size: int, part: str) -> None:
        if at + size > len(self.data):
            self.damaged(
                f"{part} would be bytes {at} to {at + size}, but there are {len(self.data)}"
            )
