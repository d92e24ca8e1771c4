"""The diagnosis as one constant: words and names, then code for the machine."""

from __future__ import annotations

import hashlib
import struct
from functools import cache
from typing import Final

from ffi_builder import __version__
from ffi_builder.kept import kept, sources
from ffi_builder.records import dataclass

_ENTRY: Final = struct.Struct("<Q")
_ROOMS: Final = ("spec", "plan", "diagnosis", "diagnosis/routines")
"""The folders whose modules decide what is assembled."""


@dataclass(frozen=True)
class Library:
    """``data`` is the constant: words, then code, which starts running at ``entry``."""

    data: bytes
    entry: int
    digest: str
    """Eight hex digits that differ between contents and between versions of the package."""


@cache
def library() -> Library:
    """Return the diagnosis, which is assembled once for all processes of a user."""
    made = kept(("diagnosis", __version__, *sources(*_ROOMS)), _assembled)
    (entry,) = _ENTRY.unpack_from(made)
    data = made[_ENTRY.size :]
    digest = hashlib.sha256(data + __version__.encode()).hexdigest()[:8]
    return Library(data, entry, digest)


def _assembled() -> bytes:
    # With its routines these are 16 modules, which are not needed for what was kept.
    from ffi_builder.diagnosis.assembled import assemble

    data, entry = assemble()
    return _ENTRY.pack(entry) + data
