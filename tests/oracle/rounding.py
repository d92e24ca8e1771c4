"""Rounding of a float64 to a narrower float, to nearest even, by exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final, NamedTuple


class Format(NamedTuple):
    """A binary float format: the digits of a significand, and the exponents of normal numbers."""

    digits: int
    min_exponent: int
    max_exponent: int


FORMATS: Final = {
    "float16": Format(11, -14, 15),
    "bfloat16": Format(8, -126, 127),
    "float32": Format(24, -126, 127),
}


def round_float(value: float, dtype: str) -> float:
    """``value`` as ``dtype`` holds it; out of range it is infinity. float64 is left as it is."""
    if dtype == "float64" or not math.isfinite(value) or value == 0:
        return value
    digits, min_exponent, max_exponent = FORMATS[dtype]
    _, exponent = math.frexp(value)  # |value| is at least 2 ** (exponent - 1)
    spacing = Fraction(2) ** (max(exponent - 1, min_exponent) - (digits - 1))
    # `round` of a Fraction goes to the nearest integer, and to the even one of two.
    rounded = round(Fraction(value) / spacing) * spacing
    if abs(rounded) >= Fraction(2) ** (max_exponent + 1):
        return math.copysign(math.inf, value)
    return math.copysign(float(rounded), value)


def int_to_float(value: int) -> float:
    """The float64 nearest to an int64, the even one of two."""
    return float(value)
