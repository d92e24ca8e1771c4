"""A scalar of every type that a kernel can get, and its bytes."""

from __future__ import annotations

import struct
from typing import Any

SCALARS: list[tuple[str, Any, str]] = [
    ("int8", -3, "b"),
    ("int16", -300, "h"),
    ("int32", -70000, "i"),
    ("int64", -(2**40), "q"),
    ("uint8", 200, "B"),
    ("uint16", 60000, "H"),
    ("uint32", 4_000_000_000, "I"),
    ("uint64", 2**64 - 2, "Q"),
    ("bool", True, "B"),
    ("float16", 1.5, "e"),
    ("bfloat16", 1.5, "H"),
    ("float32", 0.1, "f"),
    ("float64", 0.1, "d"),
]
"""Dtype, value, and the letter of ``struct``."""
SIZES = [struct.calcsize(letter) for *_, letter in SCALARS]


def bits(dtype: str, value: Any, letter: str) -> bytes:
    """The bytes of a scalar; 1.5 is the only bfloat16."""
    return struct.pack(f"<{letter}", 0x3FC0 if dtype == "bfloat16" else value)


def passed() -> list[tuple[str, Any, str]]:
    """The same as arguments of a call, whose ints have 64 bits with a sign."""
    return [
        (dtype, min(value, 2**63 - 1) if dtype == "uint64" else value, letter)
        for dtype, value, letter in SCALARS
    ]
