"""Rewrites float constants of newer LLVM IR so that the LLVM of llvmlite reads them.

LLVM 24, which is in torch-mlir, prints constants that LLVM 22, which is in llvmlite, refuses::

    f0x4B800000   +inf   -qnan   +nan(0x1)   +snan(0x4000)
    float 1.000000e-01

The first is the bits of a float. The last is not exact, so LLVM 22 does not accept it as a float.
All have a hexadecimal form that both versions read: ``0x`` and the bits of a double (also for a
float), ``0xH`` for a half, ``0xR`` for a bfloat, ``0xK`` for an x86_fp80, ``0xL`` for an fp128 (its
low half first). See "Simple Constants" in LLVM's language reference.

Remove this module once llvmlite is built with LLVM 23 or later.
"""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ffi_builder.records import dataclass

if TYPE_CHECKING:
    from fractions import Fraction


@dataclass(frozen=True)
class _Format:
    """An IEEE format: widths of exponent and mantissa (without a hidden bit)."""

    exponent: int
    mantissa: int
    explicit: bool = False
    """Whether the leading bit of the mantissa is stored, as x86_fp80 does."""

    @property
    def bias(self) -> int:
        """The bias of the exponent."""
        return 2 ** (self.exponent - 1) - 1

    @property
    def width(self) -> int:
        """The number of bits."""
        return 1 + self.exponent + self.mantissa + self.explicit

    def special(self, negative: bool, mantissa: int) -> int:
        """Return the bits of an infinity (mantissa 0) or NaN."""
        leading = 1 << self.mantissa if self.explicit else 0
        return self._sign(negative) | self._infinity << self.explicit | leading | mantissa

    @property
    def _infinity(self) -> int:
        """The bits of infinity, without an explicit bit."""
        return (2**self.exponent - 1) << self.mantissa

    def nearest(self, value: Fraction, negative: bool) -> int:
        """Return the bits of the nearest number, ties to even."""
        if value == 0:
            return self._sign(negative)
        exponent = value.numerator.bit_length() - value.denominator.bit_length()
        two = type(value)(2)
        if value < two**exponent:
            exponent -= 1
        exponent = max(exponent, 1 - self.bias)
        units = round(value / two ** (exponent - self.mantissa))
        # The sum includes the hidden bit, so that a carry out of the mantissa is also right.
        bits = min(((exponent + self.bias - 1) << self.mantissa) + units, self._infinity)
        if self.explicit:
            field = bits >> self.mantissa
            leading = int(field > 0) << self.mantissa
            bits = field << (self.mantissa + 1) | leading | bits & ((1 << self.mantissa) - 1)
        return self._sign(negative) | bits

    def _sign(self, negative: bool) -> int:
        return int(negative) << (self.width - 1)


_FORMATS: Final = {
    "half": _Format(5, 10),
    "bfloat": _Format(8, 7),
    "float": _Format(8, 23),
    "double": _Format(11, 52),
    "x86_fp80": _Format(15, 63, explicit=True),
    "fp128": _Format(15, 112),
}
_TYPE = r"(?<![\w.%@$#!-])(half|bfloat|float|double|x86_fp80|fp128)(?![\w.$-])"
_STRING = r"\"[^\"]*\""
_NUMBER = r"[-+]?\d+\.\d*(?:[eE][-+]?\d+)?"
_NAMED = r"[-+](?:inf|qnan|nan\(0x[0-9A-Fa-f]+\)|snan\(0x[0-9A-Fa-f]+\))|f0x[0-9A-Fa-f]+"
_LITERAL: Final = f"{_NAMED}|{_NUMBER}"
_TOKENS: Final = rf"{_STRING}|;[^\n]*|{_TYPE}|(?<![\w.%@$#!-])({_LITERAL})(?![\w.])"
_LARGEST_EXPONENT: Final = 6000
"""Larger decimal exponents are beyond any format's."""
_MARKS: Final = ("f0x", "+inf", "-inf", "qnan", "nan(")
_WIDE: Final = ("x86_fp80", "fp128")
_LARGEST_HALF: Final = 65504


def readable(text: str) -> str:
    """Write the constants of LLVM IR in forms that LLVM 22 reads."""
    pieces: list[str] = []
    last = 0
    for start, end in sorted({*_marked(text), *_with_decimals(text)}):
        pieces += text[last:start], _line(text[start:end])
        last = end
    return "".join([*pieces, text[last:]])


def _marked(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each line that may have a named or hexadecimal constant."""
    for mark in _MARKS:
        at = text.find(mark)
        while at >= 0:
            start, end = _line_at(text, at)
            yield start, end
            at = text.find(mark, end)


def _with_decimals(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each line with a decimal that is not exact in every type."""
    wide = any(name in text for name in _WIDE)
    end = 0
    for match in re.finditer(r"\.\d+(?:[eE][-+]?\d+)?", text):
        at = match.start()
        if at >= end and (wide or not _is_exact(text[max(0, at - 2) : match.end()])):
            start, end = _line_at(text, at)
            yield start, end


def _line_at(text: str, at: int) -> tuple[int, int]:
    end = text.find("\n", at)
    return text.rfind("\n", 0, at) + 1, len(text) if end < 0 else end


@functools.lru_cache(maxsize=4096)
def _is_exact(decimal: str) -> bool:
    """Tell whether a decimal is exact in every type of up to 64 bits, such as 1, 0.5 and -2.

    LLVM 22 reads these. The character before the decimal is part of the argument.
    """
    if re.fullmatch(r"[ (\[-]\d\.\d+(?:e[-+]\d\d)?", decimal) is None:
        return False
    value = abs(float(decimal[1:]))
    bits = int.from_bytes(struct.pack("<f", value), "little") if value < _LARGEST_HALF else 1
    return bits & 0xFFFF == 0 and struct.unpack("<e", struct.pack("<e", value))[0] == value


def _line(line: str) -> str:
    """Rewrite a line. The type of a constant is the last type named before it."""
    current = ""

    def token(match: re.Match[str]) -> str:
        nonlocal current
        current = match[1] or current
        literal = match[2]
        return match[0] if literal is None or not current else _constant(current, literal)

    return re.sub(_TOKENS, token, line)


def _constant(type_: str, literal: str) -> str:
    if type_ == "double" and literal[-1].isdigit() and not literal.startswith("f0x"):
        return literal  # both versions read a decimal as a double
    return _hexadecimal(type_, bits(type_, literal))


@functools.lru_cache(maxsize=4096)
def bits(type_: str, literal: str) -> int:
    """Return the bits of a constant of LLVM IR. Raises ValueError for any other text."""
    format_ = _FORMATS[type_]
    hexadecimal = re.fullmatch(r"(f0x|0x[HR]?)([0-9A-Fa-f]+)", literal)
    if hexadecimal is not None:
        number = int(hexadecimal[2], 16)
        return _narrowed(number) if hexadecimal[1] == "0x" and type_ == "float" else number
    if re.fullmatch(_LITERAL, literal) is None:
        raise ValueError(literal)
    negative = literal.startswith("-")
    name = literal.lstrip("+-")
    quiet = 1 << (format_.mantissa - 1)
    if name == "inf":
        return format_.special(negative, 0)
    if name == "qnan":
        return format_.special(negative, quiet)
    if name.startswith("snan("):
        return format_.special(negative, int(name[5:-1], 16))
    if name.startswith("nan("):
        return format_.special(negative, quiet | int(name[4:-1], 16))
    return _decimal(type_, name, negative)


def _decimal(type_: str, digits: str, negative: bool) -> int:
    """Return the bits of a decimal, without its sign."""
    from fractions import Fraction  # two milliseconds, and most modules have no such constant

    format_ = _FORMATS[type_]
    if type_ == "float":
        nearest = float(digits)
        (bits,) = struct.unpack("<Q", struct.pack("<d", nearest))
        # Rounding twice is right except for ties between two floats, and for subnormal floats.
        if bits & (2**29 - 1) != 2**28 and 1e-37 < nearest < 3e38:
            (single,) = struct.unpack("<I", struct.pack("<f", nearest))
            return format_.special(negative, 0) & 1 << 31 | single
    exponent = int(digits.lower().partition("e")[2] or 0)
    if abs(exponent) > _LARGEST_EXPONENT:
        return (
            format_.nearest(Fraction(0), negative) if exponent < 0 else format_.special(negative, 0)
        )
    return format_.nearest(Fraction(digits), negative)


def _hexadecimal(type_: str, bits: int) -> str:
    if type_ == "fp128":
        return f"0xL{bits & (2**64 - 1):016X}{bits >> 64:016X}"
    written = {"half": "0xH{:04X}", "bfloat": "0xR{:04X}", "x86_fp80": "0xK{:020X}"}
    return written.get(type_, "0x{:016X}").format(widened(bits) if type_ == "float" else bits)


def _narrowed(bits: int) -> int:
    """Return the bits of the float that equals a double. Raises ValueError if none does."""
    sign, exponent, mantissa = bits >> 63 << 31, bits >> 52 & 0x7FF, bits & (2**52 - 1)
    if exponent == 0x7FF:
        return sign | 0x7F800000 | mantissa >> 29
    (value,) = struct.unpack("<d", struct.pack("<Q", bits))
    single = struct.pack("<f", value)
    if struct.unpack("<f", single)[0] != value:
        raise ValueError
    return int.from_bytes(single, "little")


def widened(bits: int) -> int:
    """Return the bits of the double that equals a float; a NaN keeps its payload."""
    if bits & 0x7FFFFFFF > 0x7F800000:
        payload = (bits & (2**23 - 1)) << 29
        return _FORMATS["double"].special(bits >> 31 != 0, payload)
    (value,) = struct.unpack("<f", struct.pack("<I", bits))
    (wide,) = struct.unpack("<Q", struct.pack("<d", value))
    return int(wide)
