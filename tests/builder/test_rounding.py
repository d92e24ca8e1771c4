"""float16 and bfloat16 Vars are rounded once, to nearest even: compared with exact arithmetic."""

from __future__ import annotations

import math
import random
import struct
from fractions import Fraction

import pytest

from ffi_builder.providers import DirectCallProvider
from ffi_builder.spec import Var
from tests.differential.description import Plain, Value, float_payload, of_bool, of_float, of_int
from tests.support.recording import Recording
from tests.support.wrapping import RawWrapper, wrap_raw

PRECISION = {"float16": (11, 15), "bfloat16": (8, 127)}
"""Bits of the significand, with the hidden one, and the exponent's bias."""


def decoded(bits: int, dtype: str) -> Fraction:
    """The finite value of these 15 bits, which is exact."""
    precision, bias = PRECISION[dtype]
    fraction_bits = precision - 1
    exponent, fraction = bits >> fraction_bits, bits & ((1 << fraction_bits) - 1)
    if exponent == 0:
        return Fraction(fraction) * Fraction(2) ** (1 - bias - fraction_bits)
    return Fraction(fraction | 1 << fraction_bits) * Fraction(2) ** (
        exponent - bias - fraction_bits
    )


def infinity(dtype: str) -> int:
    precision, _ = PRECISION[dtype]
    return (0x7FFF >> (precision - 1)) << (precision - 1)


def nearest(value: Fraction, dtype: str) -> int:
    """The bits of the nearest finite value or infinity, by searching for it; ties to even bits."""
    low, high = 0, infinity(dtype)  # positive floats are ordered as their bits
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if decoded(middle, dtype) <= value else (low, middle)
    # Infinity stands where the next value would be.
    below, above = value - decoded(low, dtype), decoded(high, dtype) - value
    if below == above:
        return low + low % 2
    return low if below < above else high


def expected_bits(value: float, dtype: str) -> int:
    sign = 0x8000 if math.copysign(1, value) < 0 else 0
    if math.isinf(value):
        return sign | infinity(dtype)
    return sign | nearest(abs(Fraction(value)), dtype)


def interesting(dtype: str) -> list[float]:
    """Values, ties, what is a float64's width beside a tie, subnormals, and the range's ends."""
    draw = random.Random(dtype)
    top = infinity(dtype)
    bits = {0, 1, 2, 3, top - 1, top - 2, *(draw.randrange(top) for _ in range(60))}
    bits |= {1 << shift for shift in range(15) if 1 << shift < top}
    bits |= {(1 << shift) - 1 for shift in range(1, 15) if 1 << shift < top}
    found: list[float] = [0.0, 5e-324, 2.0**-1022, 1.7976931348623157e308, math.inf]
    for item in bits:
        value, following = decoded(item, dtype), decoded(item + 1, dtype)
        tie = float((value + following) / 2)
        found += [float(value), tie]
        # A rounding to float32 on the way would make ties of these.
        found += [math.nextafter(tie, math.inf), math.nextafter(tie, 0.0), tie * (1 + 2.0**-26)]
    # Any float64 in reach of the subnormals.
    least = float(decoded(1, dtype))
    found += [draw.uniform(0, 8 * least) for _ in range(60)]
    found += [draw.uniform(0, 2) * float(decoded(top - 1, dtype)) for _ in range(30)]
    return [*found, *(-value for value in found)]


@pytest.fixture(scope="module")
def wrapped() -> dict[str, tuple[RawWrapper, Recording]]:
    found: dict[str, tuple[RawWrapper, Recording]] = {}
    for dtype in PRECISION:
        recording = Recording("callee", ["f16" if dtype == "float16" else "bf16"])
        params = [Var("a", dtype)]
        wrapper = wrap_raw(params, DirectCallProvider("callee"), recording.text)
        found[dtype] = wrapper, recording
    return found


@pytest.mark.parametrize("dtype", PRECISION)
def test_floats(dtype: str, wrapped: dict[str, tuple[RawWrapper, Recording]]) -> None:
    call, recording = wrapped[dtype]
    for value in interesting(dtype):
        assert call(of_float(value)) is None
        assert recording.unsigned(0, 2) == expected_bits(value, dtype), value.hex()


@pytest.mark.parametrize("dtype", PRECISION)
def test_ints(dtype: str, wrapped: dict[str, tuple[RawWrapper, Recording]]) -> None:
    call, recording = wrapped[dtype]
    ints = [0, 1, -1, 255, 256, 257, 2049, 65504, 65519, 65520, -65520, 2**53 + 1, 2**63 - 1]
    # Rounded to float64 first, as the rules say: beside a tie of bfloat16 that makes it one.
    ints += [-(2**63), 2**62 + 2**54 + 1, 2**60 + 2**52 - 1, -(2**61) - 2**53 - 1]
    for value in ints:
        assert call(of_int(value)) is None
        assert recording.unsigned(0, 2) == expected_bits(float(value), dtype), value
    assert call(of_bool(True)) is None
    assert recording.unsigned(0, 2) == expected_bits(1.0, dtype)


NANS: list[Value] = [
    of_float(math.nan),
    of_float(-math.nan),
    # A signalling one, and one whose bits are all in the part that is cut off.
    Plain(3, 0x7FF0000000000001),
    Plain(3, 0xFFF0000000000000 | (1 << 20)),
]


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize("given", NANS)
def test_nan_stays_nan(
    dtype: str, given: Value, wrapped: dict[str, tuple[RawWrapper, Recording]]
) -> None:
    call, recording = wrapped[dtype]
    assert call(given) is None
    assert recording.unsigned(0, 2) & 0x7FFF > infinity(dtype)


def test_this_search_agrees_with_struct() -> None:
    for value in interesting("float16"):
        try:
            packed = struct.unpack("<H", struct.pack("<e", value))[0]
        except OverflowError:  # Python refuses what becomes infinity
            packed = infinity("float16") | (0x8000 if value < 0 else 0)
        assert packed == expected_bits(value, "float16")


def test_float32_is_rounded_to_nearest_even_too() -> None:
    recording = Recording("callee", ["f32"])
    call = wrap_raw([Var("a", "float32")], DirectCallProvider("callee"), recording.text)
    cases = [
        (1 + 2.0**-24, 0x3F800000),
        (1 + 3 * 2.0**-24, 0x3F800002),
        (1e39, 0x7F800000),
        (-1e39, 0xFF800000),
        (3.4028235677973366e38, 0x7F800000),
        (2.0**-150, 0),
        (1.5 * 2.0**-149, 2),
        (-0.0, 0x80000000),
    ]
    for value, bits in cases:
        assert call(Plain(3, float_payload(value))) is None
        assert recording.unsigned(0, 4) == bits, value
