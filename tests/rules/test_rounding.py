"""Rounding compared with the C library's, where :mod:`struct` has the format."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.rounding import round_float

EDGES = [
    0.0,
    -0.0,
    5e-324,
    2.0**-149,
    2.0**-150,
    math.nextafter(2.0**-150, 1),
    2.0**-24,
    2.0**-25,
    math.nextafter(2.0**-25, 1),
    65504.0,
    65519.99999999999,
    3.4028235677973362e38,
]


def through_struct(value: float, letter: str) -> float:
    try:
        return struct.unpack(letter, struct.pack(letter, value))[0]
    except OverflowError:  # what Python says instead of infinity
        return math.copysign(math.inf, value)


def same_bits(left: float, right: float) -> bool:
    return struct.pack("<d", left) == struct.pack("<d", right)


@pytest.mark.parametrize(("dtype", "letter"), [("float16", "<e"), ("float32", "<f")])
@given(st.floats(allow_nan=False) | st.floats(-70000, 70000) | st.sampled_from(EDGES))
def test_as_the_c_library(dtype: str, letter: str, value: float) -> None:
    for number in (value, -value):
        assert same_bits(round_float(number, dtype), through_struct(number, letter))


@given(st.floats(width=32, allow_nan=False))
def test_bfloat16_is_the_upper_half_of_float32(value: float) -> None:
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    nearest_even = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    expected = struct.unpack("<f", struct.pack("<I", nearest_even))[0]
    assert same_bits(round_float(value, "bfloat16"), expected)


def test_bfloat16_is_rounded_once() -> None:
    above_the_tie = math.nextafter(1.00390625, 2)
    assert round_float(above_the_tie, "bfloat16") == 1.0078125
    assert round_float(1.00390625, "bfloat16") == 1.0


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_what_is_no_number_stays(dtype: str) -> None:
    assert math.isnan(round_float(math.nan, dtype))
    assert round_float(-math.inf, dtype) == -math.inf
    assert same_bits(round_float(-0.0, dtype), -0.0)
