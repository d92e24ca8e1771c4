"""The numbers that stand in PTX."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Final

from ffi_builder.ptx.errors import PtxError

_HEX_FLOAT: Final = re.compile(r"0([fFdD])([0-9a-fA-F]+)")
_FLOAT: Final = re.compile(r"\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+")
_NARROW: Final = re.compile(r"\D*(8|16)(x\d)?")
"""The types that no float can stand for: PTX writes those of f32 and f64."""
_INTEGER: Final = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?")


def bits_of(text: str, kind: str, fail: Callable[[str], PtxError]) -> int:
    """Return a number's bits as a type has them; 64 bits for integers.

    Raises:
        PtxError: it is no number.
    """
    words = text.strip()
    if words.startswith("(") and words.endswith(")"):
        return bits_of(words[1:-1], kind, fail)
    if words[:1] == "-":
        return _negated(words[1:].strip(), kind, fail)
    if words[:1] == "~":
        return ~bits_of(words[1:], kind, fail) & (2**64 - 1)
    is_float = _FLOAT.fullmatch(words) or _HEX_FLOAT.fullmatch(words)
    if is_float and _NARROW.fullmatch(kind):
        raise fail(f"the number {text!r} is a float, and the operand is of .{kind}")
    if match := _HEX_FLOAT.fullmatch(words):
        return _converted(match[1] in "dD", int(match[2], 16), len(match[2]), kind, text, fail)
    if match := _INTEGER.fullmatch(words):
        value = _integer(match[1])
        if value >= 2**64:
            raise fail(f"the number {text!r} has more than 64 bits")
        return _float_bits(float(value), kind) if kind in ("f32", "f64") else value
    if is_float:
        return _float_bits(float(words), kind)
    raise fail(f"the operand {text!r}")


def _integer(digits: str) -> int:
    is_octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
    if is_octal:
        return int(digits, 8) if not set(digits) & set("89") else int(digits)
    return int(digits, 0)


def _negated(words: str, kind: str, fail: Callable[[str], PtxError]) -> int:
    value = bits_of(words, kind, fail)
    if kind in ("f32", "f64"):
        return value ^ 1 << (31 if kind == "f32" else 63)
    return -value & (2**64 - 1)


def _converted(
    double: bool, bits: int, digits: int, kind: str, text: str, fail: Callable[[str], PtxError]
) -> int:
    if digits != (16 if double else 8):
        raise fail(f"the number {text!r}")
    if double and kind == "f32":
        return _float_bits(struct.unpack("<d", bits.to_bytes(8, "little"))[0], kind)
    if not double and kind == "f64":
        return _float_bits(struct.unpack("<f", bits.to_bytes(4, "little"))[0], kind)
    return bits


def _float_bits(value: float, kind: str) -> int:
    if kind in ("f32", "b32"):
        try:
            return int.from_bytes(struct.pack("<f", value), "little")
        except OverflowError:
            return 0x7F800000 if value > 0 else 0xFF800000
    return int.from_bytes(struct.pack("<d", value), "little")
