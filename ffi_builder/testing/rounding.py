"""Rounding a float64 to the narrower float dtypes, once, to nearest, ties to even."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

_FORMATS: Final = {"float16": (11, -14, 15), "bfloat16": (8, -126, 127), "float32": (24, -126, 127)}
"""Bits of precision, with the hidden one; the least and the greatest exponent of normal values."""


def round_to(value: float, dtype: str) -> float:
    """The value of ``dtype`` nearest to ``value``, as a float64; infinity beyond its range."""
    if dtype == "float64" or not math.isfinite(value) or value == 0.0:
        return value
    precision, least, greatest = _FORMATS[dtype]
    exponent = max(math.frexp(value)[1] - 1, least)
    unit = Fraction(2) ** (exponent - precision + 1)
    # Python rounds fractions to the nearest even integer.
    rounded = round(Fraction(value) / unit) * unit
    if abs(rounded) >= Fraction(2) ** (greatest + 1):
        return math.copysign(math.inf, value)
    return math.copysign(float(rounded), value)
