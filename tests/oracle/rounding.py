"""Rounding of a float64 to a narrower float, to nearest even, by exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final, NamedTuple


class Format(NamedTuple):
    """A binary float format: digits of the significand, and exponents of normal numbers."""

    digits: int
    min_exponent: int
    max_exponent: int


FORMATS: Final = {
    "float16": Format(11, -14, 15),
    "bfloat16": Format(8, -126, 127),
    "float32": Format(24, -126, 127),
}


def round_float(value: float, dtype: str) -> float:
    """Round ``value`` to ``dtype``. Out of range it becomes infinity; a float64 is not changed."""
    if dtype == "float64" or not math.isfinite(value) or value == 0:
        return value
    digits, min_exponent, max_exponent = FORMATS[dtype]
    _, exponent = math.frexp(value)  # |value| is at least 2 ** (exponent - 1)
    spacing = Fraction(2) ** (max(exponent - 1, min_exponent) - (digits - 1))
    # `round` of a Fraction rounds to the nearest integer, ties to even.
    rounded = round(Fraction(value) / spacing) * spacing
    if abs(rounded) >= Fraction(2) ** (max_exponent + 1):
        return math.copysign(math.inf, value)
    return math.copysign(float(rounded), value)


def int_to_float(value: int) -> float:
    """Return the float64 nearest to an int64, ties to even."""
    return float(value)
