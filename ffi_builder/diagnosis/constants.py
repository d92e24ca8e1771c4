"""The words, names and formats of the diagnosis, as bytes."""

from __future__ import annotations

import struct
from typing import Final

from ffi_builder import abi
from ffi_builder.plan.messages import (
    BINDING,
    FRAME,
    FRAME_WITHOUT_ARGUMENT,
    NEAREST,
    OR_NONE,
    PLACEHOLDERS,
    TYPE_NAMES,
    UNDECIDED,
    Words,
    template_parts,
)
from ffi_builder.plan.path import LENGTH_OF, SUFFIXES

KINDS: Final = ("ValueError", "TypeError")
"""Error classes by their number in a row of words."""


def _template(template: str) -> bytes:
    """Encode runs of u8 length, text, u8 placeholder; placeholder 0 ends the last run."""
    encoded = b""
    for words, name in template_parts(template):
        number = 0 if name is None else PLACEHOLDERS.index(name) + 1
        encoded += bytes([len(words)]) + words.encode() + bytes([number])
    return encoded


def _words() -> bytes:
    """Encode the u16 positions of the rows, then the rows.

    A row is u8 kind and the templates prefix, expected and got.
    """
    rows = [
        bytes([KINDS.index(row.kind)])
        + b"".join(map(_template, (row.prefix, row.expected, row.got)))
        for row in Words
    ]
    start = 2 * len(rows)
    positions = [start + sum(map(len, rows[:index])) for index in range(len(rows))]
    return struct.pack(f"<{len(rows)}H", *positions) + b"".join(rows)


def _names(names: dict[int, str]) -> bytes:
    """Encode u8 number, u8 length, text for each name; a length of 0 ends the list."""
    entries = (bytes([number, len(name)]) + name.encode() for number, name in names.items())
    return b"".join(entries) + bytes(2)


_PARTS: Final[dict[str, bytes]] = {
    "words": _words(),
    "frame": _template(FRAME),
    "frame without argument": _template(FRAME_WITHOUT_ARGUMENT),
    "binding": _template(BINDING),
    "types": _names({int(index): name for index, name in TYPE_NAMES.items()}),
    "dtypes": _names({code: name for name, code in abi.DTYPE_CODES.items()}),
    "dtype bits": bytes(
        8 if name == "bool" else abi.FIXED_BITS.get(name, 0) for name in abi.DTYPE_CODES
    ),
    "devices": _names({code: name for name, code in abi.DEVICE_TYPES.items()}),
    "suffixes": _names({int(part): suffix for part, suffix in SUFFIXES.items()}),
    "undecided": UNDECIDED.encode(),
    "kinds": b"".join(kind.encode() for kind in (*KINDS, "RuntimeError")),
}
_STRINGS: Final = (
    *("%lld", "%llu", "0x%llx", "%.15g", "%.17g", "x%lld", "0123456789"),
    *("type index %lld", "device type %lld"),
    *("dtype(code=%lld", ", bits=%lld", ", lanes=%lld)"),
    *("nan", "True", "False", "NULL", "an int beyond 64 bits"),
    *("[", "]", ", ", " to ", " in ", "...", "..., ", ", ...", ")", "'"),
    *("\\x%02llx", OR_NONE, *NEAREST.split("{nearest}"), LENGTH_OF),
)
"""Formats and punctuation; each ends in NUL."""

POSITIONS: Final[dict[str, int]] = {}
"""Start of each part by its name, and of each string by its text."""
_DATA: Final = bytearray()
for _name, _part in (*_PARTS.items(), *((string, string.encode() + b"\0") for string in _STRINGS)):
    POSITIONS[_name] = len(_DATA)
    _DATA.extend(_part)
DATA: Final = bytes(_DATA)
