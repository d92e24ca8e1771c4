"""Floating-point arithmetic by its definition: exact fractions, rounded once.

Numbers are Python's floats, which have every value of f64 and of what is narrower.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

MODES: Final = ("rn", "rz", "rm", "rp")


@dataclass(frozen=True)
class Format:
    """A binary format; ``top`` is its largest number."""

    exponent: int
    mantissa: int
    top: float
    infinite: bool = True
    bias: int = 0

    @property
    def least(self) -> int:
        """The exponent of its smallest normal number."""
        return 1 - (self.bias or (1 << (self.exponent - 1)) - 1)


F64: Final = Format(11, 52, float.fromhex("0x1.fffffffffffffp1023"))
F32: Final = Format(8, 23, float.fromhex("0x1.fffffep127"))
F16: Final = Format(5, 10, 65504.0)
BF16: Final = Format(8, 7, float.fromhex("0x1.fep127"))
TF32: Final = Format(8, 10, float.fromhex("0x1.ffcp127"))
E4M3: Final = Format(4, 3, 448.0, infinite=False)
E5M2: Final = Format(5, 2, 57344.0)
E2M3: Final = Format(2, 3, 7.5, infinite=False)
E3M2: Final = Format(3, 2, 28.0, infinite=False)
E2M1: Final = Format(2, 1, 6.0, infinite=False)
FORMATS: Final = {
    "f16": F16,
    "bf16": BF16,
    "f32": F32,
    "f64": F64,
    "tf32": TF32,
    "e4m3": E4M3,
    "e5m2": E5M2,
    "e2m3": E2M3,
    "e3m2": E3M2,
    "e2m1": E2M1,
}


def scaled(size: int, by: int, exponent: int) -> tuple[int, int, int]:
    """Return how often 2 to the exponent is in a fraction, what remains, and of how much."""
    unit = by << exponent if exponent >= 0 else by
    return *divmod(size if exponent >= 0 else size << -exponent, unit), unit


def rounded(x: Fraction, to: Format, mode: str = "rn", zero: float = 0.0) -> float:
    """Return the number of a format that is next, as the mode says; ``zero`` if it is exactly 0."""
    if x == 0:
        return zero
    size, by, sign = abs(x.numerator), x.denominator, -1.0 if x < 0 else 1.0
    exponent = size.bit_length() - by.bit_length()  # or 1 more than the number's
    exponent -= scaled(size, by, exponent)[0] == 0
    exponent = max(exponent, to.least) - to.mantissa
    whole, rest, unit = scaled(size, by, exponent)
    match mode:
        case "rn":
            up = rest * 2 > unit or (rest * 2 == unit and whole % 2 == 1)
        case "rna":
            up = rest * 2 >= unit
        case "rz":
            up = False
        case _:
            up = rest > 0 and (mode == "rp") == (sign > 0)
    whole += up
    if whole.bit_length() + exponent > 1024 or math.ldexp(whole, exponent) > to.top:
        away = mode in ("rn", "rna") or ((mode == "rp") == (sign > 0) and mode != "rz")
        return sign * (math.inf if away and to.infinite else to.top)
    return sign * math.ldexp(whole, exponent)


def added(a: float, b: float, to: Format, mode: str = "rn") -> float:
    if not (math.isfinite(a) and math.isfinite(b)):
        return a + b
    same = math.copysign(1, a) == math.copysign(1, b)
    zero = a if a == 0 == b and same else (-0.0 if mode == "rm" else 0.0)
    return rounded(Fraction(a) + Fraction(b), to, mode, zero)


def subtracted(a: float, b: float, to: Format, mode: str = "rn") -> float:
    return added(a, -b, to, mode)


def multiplied(a: float, b: float, to: Format, mode: str = "rn") -> float:
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b
    zero = math.copysign(0.0, a) * math.copysign(1.0, b)
    return rounded(Fraction(a) * Fraction(b), to, mode, zero)


def fused(a: float, b: float, c: float, to: Format, mode: str = "rn") -> float:
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    product = Fraction(a) * Fraction(b)
    sign = math.copysign(1.0, a) * math.copysign(1.0, b)
    if product == 0 == c and sign == math.copysign(1.0, c):
        return c
    return rounded(product + Fraction(c), to, mode, -0.0 if mode == "rm" else 0.0)


def divided(a: float, b: float, to: Format, mode: str = "rn") -> float:
    sign = math.copysign(1.0, a) * math.copysign(1.0, b)
    if math.isnan(a) or math.isnan(b) or (a == 0 == b) or (math.isinf(a) and math.isinf(b)):
        return math.nan
    if b == 0 or math.isinf(a):
        return sign * math.inf
    if math.isinf(b):
        return sign * 0.0
    return rounded(Fraction(a) / Fraction(b), to, mode, sign * 0.0)


def rooted(a: float, to: Format, mode: str = "rn") -> float:
    if math.isnan(a) or a < 0:
        return math.nan
    if a == 0 or math.isinf(a):
        return a
    # More bits than any format has, and one behind them that says whether more follow.
    scaled = Fraction(a) * 4**1200
    assert scaled.denominator == 1
    root = math.isqrt(int(scaled))
    found = 2 * root + (root * root != scaled)
    return rounded(Fraction(found, 2**1201), to, mode)


def flush(x: float, ftz: bool, to: Format = F32) -> float:
    """Return a zero of the same sign for a subnormal number."""
    return math.copysign(0.0, x) if ftz and abs(x) < 2.0**to.least else x


def saturate(x: float, sat: bool) -> float:
    return x if not sat else 0.0 if math.isnan(x) or x <= 0 else min(x, 1.0)


def of_f32(meaning: Callable[..., Any], ftz: bool = False, sat: bool = False) -> Callable[..., Any]:
    """Return the meaning for arrays of f32, of one for numbers that are flushed where it says so."""

    def of_arrays(*operands: Any) -> Any:
        found: Any = np.zeros(len(operands[0]), "float32")
        for at, row in enumerate(zip(*operands, strict=True)):
            result = meaning(*(flush(float(each), ftz) for each in row))
            found[at] = saturate(flush(result, ftz), sat)
        found.view("uint32")[np.isnan(found)] = 0x7FFFFFFF
        return found

    return of_arrays


def of_f64(meaning: Callable[..., Any]) -> Callable[..., Any]:
    """Return the meaning for arrays of f64: a NaN is the first of the operands, or a new one."""

    def of_arrays(*operands: Any) -> Any:
        found: Any = np.array([meaning(*map(float, row)) for row in zip(*operands, strict=True)])
        bits = found.view("uint64")
        for at in np.flatnonzero(np.isnan(found)):
            nans = [int(each.view("uint64")[at]) for each in operands if np.isnan(each[at])]
            bits[at] = nans[0] | 1 << 51 if nans else 0xFFF8 << 48
        return found

    return of_arrays
