"""Helpers for numbers: reading a BigInt, and rounding to the 16-bit floats.

In C::

    bool big_uint64(const void* big_int, uint64_t* value);      false if it does not fit
    int16_t round_float16(double);
    int16_t round_bfloat16(double);

The last two return the bits of the nearest value, ties to even, and round once. Hardware would
round to float32 first. Compilers call a library function to round directly, and a self-contained
module has no such library.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from ffi_builder import abi
from ffi_builder.builder.helpers.define import Helper
from ffi_builder.ir import Builder, Value

_F64_BITS = 52
_F64_BIAS = 1023


def _big_uint64(b: Builder, big: Value, out: Value) -> None:
    """Store the low word. A BigInt is a signed number, its least significant word first."""
    t = b.types
    count = b.field(t.i64, big, abi.BIG_INT_COUNT)
    words = b.offset(big, abi.BIG_INT_WORDS)
    b.store(b.i64(0), out)
    with b.when(b.sle(count, b.i64(0))):
        b.ret(b.i1(True))
    low = b.load(t.i64, words)
    b.store(low, out)
    last = b.load(t.i64, b.element(words, b.sub(count, b.i64(1)), "i64"))
    with b.when(b.slt(last, b.i64(0))):
        b.ret(b.i1(False))
    with b.loop(b.sub(count, b.i64(1))) as index:
        word = b.load(t.i64, b.element(words, b.add(index, b.i64(1)), "i64"))
        with b.when(b.ne(word, b.i64(0))):
            b.ret(b.i1(False))
    b.ret(b.i1(True))


def _round(b: Builder, value: Value, *, mantissa: int, exponent: int) -> None:
    """Round by integer arithmetic on the bits of the float64."""
    t = b.types
    bias = 2 ** (exponent - 1) - 1
    bits = b.bitcast(value, t.i64)
    sign = b.shl(b.lshr(bits, b.i64(63)), b.i64(15))
    magnitude = b.and_(bits, b.i64(2**63 - 1))
    infinity = ((1 << exponent) - 1) << mantissa

    def result(low: Value) -> None:
        b.ret(b.trunc(b.or_(low, sign), t.i16))

    with b.when(b.sgt(magnitude, b.i64(0x7FF << _F64_BITS))):
        result(b.i64(infinity | 1 << (mantissa - 1)))
    # The first exponent at which values are normal in the narrow format.
    smallest = (_F64_BIAS - bias + 1) << _F64_BITS
    shift = _F64_BITS - mantissa
    with b.when(b.slt(magnitude, b.i64(smallest))):
        _round_subnormal(b, magnitude, shift, _F64_BIAS - bias + 1, result)
    rebased = b.sub(magnitude, b.i64((_F64_BIAS - bias) << _F64_BITS))
    rounded = _shift_to_even(b, rebased, b.i64(shift))
    # A carry out of the mantissa is the right exponent; past the last one it is infinity.
    over = b.sgt(rounded, b.i64(infinity))
    result(b.select(over, b.i64(infinity), rounded))


def _round_subnormal(b: Builder, magnitude: Value, shift: int, first: int, result: object) -> None:
    """Shift the mantissa, with its hidden bit, by as much as the exponent is too small."""
    assert callable(result)
    exponent = b.lshr(magnitude, b.i64(_F64_BITS))
    distance = b.add(b.sub(b.i64(first), exponent), b.i64(shift))
    # Beyond 62 bits nothing is left, not even to round up: the value is below half the smallest.
    far = b.sgt(distance, b.i64(62))
    mantissa = b.or_(b.and_(magnitude, b.i64((1 << _F64_BITS) - 1)), b.i64(1 << _F64_BITS))
    shifted = _shift_to_even(b, mantissa, b.select(far, b.i64(62), distance))
    result(b.select(far, b.i64(0), shifted))


def _shift_to_even(b: Builder, value: Value, distance: Value) -> Value:
    """Return ``value >> distance`` rounded to nearest, ties to even; distance is 1 to 62."""
    half = b.shl(b.i64(1), b.sub(distance, b.i64(1)))
    odd = b.and_(b.lshr(value, distance), b.i64(1))
    return b.lshr(b.add(b.add(value, b.sub(half, b.i64(1))), odd), distance)


NUMBERS: Final = {
    "big_uint64": Helper("i1", "ptr ptr", _big_uint64),
    "round_float16": Helper("i16", "f64", partial(_round, mantissa=10, exponent=5)),
    "round_bfloat16": Helper("i16", "f64", partial(_round, mantissa=7, exponent=8)),
}
