"""Arguments of every dtype, and the bytes that a callee must get for them."""

from __future__ import annotations

import struct
from typing import Final

from ffi_builder.ir.types import LLVM_TYPES
from tests.differential.description import Plain, Value, of_bool, of_float, of_int, of_pointer

BYTES: Final = {"bool": 1, "bfloat16": 2, "handle": 8} | {
    dtype: int(dtype.lstrip("uintfloa")) // 8
    for dtype in LLVM_TYPES
    if dtype not in ("bool", "bfloat16", "handle")
}
LLVM: Final = LLVM_TYPES

ERRORS: Final = (
    *(RuntimeError, ValueError, TypeError, AttributeError),
    *(KeyError, IndexError, AssertionError, MemoryError),
)
"""The classes of errors that wrappers raise."""

CASES: Final[list[tuple[str, Value, bytes]]] = [
    ("int8", of_int(-128), b"\x80"),
    ("int8", of_int(127), b"\x7f"),
    ("uint8", of_int(255), b"\xff"),
    ("int16", of_int(-2), b"\xfe\xff"),
    ("uint16", of_int(65535), b"\xff\xff"),
    ("int32", of_int(-(2**31)), b"\x00\x00\x00\x80"),
    ("uint32", of_int(2**32 - 1), b"\xff\xff\xff\xff"),
    ("int64", of_int(-(2**63)), b"\x00\x00\x00\x00\x00\x00\x00\x80"),
    ("int64", of_bool(True), b"\x01\x00\x00\x00\x00\x00\x00\x00"),
    ("uint64", of_int(2**64 - 2), b"\xfe\xff\xff\xff\xff\xff\xff\xff"),
    ("uint64", of_int(7), b"\x07\x00\x00\x00\x00\x00\x00\x00"),
    ("bool", of_bool(True), b"\x01"),
    ("bool", of_int(0), b"\x00"),
    ("float16", of_float(-1.5), b"\x00\xbe"),
    ("bfloat16", of_float(1.0), b"\x80\x3f"),
    ("float32", of_float(0.1), struct.pack("<f", 0.1)),
    ("float32", of_int(3), struct.pack("<f", 3)),
    ("float64", of_float(0.1), struct.pack("<d", 0.1)),
    ("float64", of_int(2**63 - 1), struct.pack("<d", 2.0**63)),
    ("float64", of_bool(True), struct.pack("<d", 1.0)),
    ("handle", of_pointer(2**64 - 1), b"\xff\xff\xff\xff\xff\xff\xff\xff"),
    ("handle", Plain(0, 0x77), b"\x00\x00\x00\x00\x00\x00\x00\x00"),
]
IDS: Final = [f"{dtype}-{expected.hex()}" for dtype, _, expected in CASES]
