"""What f16 and bf16 mean, by fractions: every instruction rounds once."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import numpy

np: Any = numpy  # its stubs leave open what views are

NAN: Final = 0x7FFF
"""The NaN that instructions make."""
_DIGITS: Final = {"f16": 11, "bf16": 8}
_LEAST: Final = {"f16": -14, "bf16": -126}
"""The exponent of the smallest normal number."""


def values(kind: str, bits: Any) -> Any:
    """Return the numbers that 16 bits are."""
    bits = np.ascontiguousarray(bits).view("uint16")
    if kind == "f16":
        return bits.view("float16").astype(float)
    return (bits.astype("uint32") << 16).view("float32").astype(float)


def bits_of(kind: str, number: float) -> int:
    """Return the bits of a number that the format has, or of its NaN."""
    if math.isnan(number):
        return NAN
    if kind == "f16":
        return int(np.float16(number).view("uint16"))
    return int(np.float32(number).view("uint32")) >> 16


def rounded(kind: str, exact: Fraction) -> float:
    """Return the nearest number of a format, the even one of two."""
    size = abs(exact)
    power = size.numerator.bit_length() - size.denominator.bit_length()
    power -= size < Fraction(2) ** power
    unit = Fraction(2) ** (max(power, _LEAST[kind]) + 1 - _DIGITS[kind])
    found = round(size / unit) * unit
    most = 2.0 ** (16 if kind == "f16" else 128)
    return math.copysign(float(found) if found < most else math.inf, exact)


def flushed(kind: str, number: float) -> float:
    """Return a zero of the same sign instead of a subnormal number."""
    return math.copysign(0, number) if abs(number) < 2.0 ** _LEAST[kind] else number


def once(kind: str, operation: Callable[..., Any], *numbers: float) -> float:
    """Return the result of an operation on numbers, rounded once."""
    found = operation(*numbers)
    if not math.isfinite(found) or found == 0:
        return found
    return rounded(kind, operation(*map(Fraction, numbers)))


def each(kind: str, meaning: Callable[..., int]) -> Callable[..., Any]:
    """Make the meaning of a :class:`Case`, for each half, of one that gets and returns bits."""

    def of_all(*operands: Any) -> Any:
        halves = [np.ascontiguousarray(operand).view("uint16").tolist() for operand in operands]
        found = np.array([meaning(*given) for given in zip(*halves, strict=True)], "uint16")
        return found.view({"f16": "float16", "bf16": "uint16"}.get(kind, "uint32"))

    return of_all


def as_numbers(kind: str, bits: tuple[int, ...], ftz: bool) -> list[float]:
    """Return the numbers that operands are."""
    found = [float(values(kind, np.array([one], "uint16"))[0]) for one in bits]
    return [flushed(kind, number) for number in found] if ftz else found
