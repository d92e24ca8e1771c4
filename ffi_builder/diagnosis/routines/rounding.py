"""Rounding a float64 to a 16-bit float and back, once, to nearest, ties to even."""

from __future__ import annotations

from typing import Final

from ffi_builder.diagnosis.assembler import Reg
from ffi_builder.diagnosis.program import Program

_BITS: Final = 52
_BIAS: Final = 1023


def define_rounding(p: Program) -> None:
    """Assemble the function."""
    p.define("round", 2, _round)


def _round(p: Program, precision: Reg, least: Reg) -> None:
    """Round ``value`` in place.

    A float64 with exponent e keeps bits down to 2^(max(e, least) - precision + 1). On its bits as
    an integer: add just under half of the last kept bit (half if that bit is 1) and clear the bits
    below it. A carry goes into the exponent, as it should.
    """
    magnitude = p.and_(p.value, 2**63 - 1)
    sign = p.sub(p.value, magnitude)
    # Infinities, NaNs and 0 stay as they are.
    with p.when(p.or_(p.sle(0x7FF << _BITS, magnitude), p.eq(magnitude, 0))):
        p.ret()
    exponent = p.sub(p.lshr(magnitude, _BITS), _BIAS)
    drop = p.sub(_BITS + 1, precision)
    below = p.sub(least, exponent)
    with p.when(p.slt(0, below)):
        p.add(drop, below, drop)
    # All stored bits are dropped: the result is 0 or the smallest value.
    with p.when(p.slt(_BITS, drop)):
        _round_tiny(p, magnitude, sign, precision, least)
    half = p.shl(1, p.sub(drop, 1))
    odd = p.and_(p.lshr(magnitude, drop), 1)
    # The hidden bit is not stored. If it is the last kept bit, that bit is 1.
    with p.when(p.eq(drop, _BITS)):
        p.set(odd, 1)
    p.add(p.add(magnitude, p.sub(half, 1)), odd, magnitude)
    p.mul(p.lshr(magnitude, drop), p.shl(1, drop), magnitude)
    # Out of range from the exponent after the last one on: 2^128 for bfloat16, 2^16 for float16.
    last = p.sub(2, least)
    with p.when(p.sle(last, p.sub(p.lshr(magnitude, _BITS), _BIAS))):
        p.set(magnitude, 0x7FF << _BITS)
    p.or_(sign, magnitude, p.value)


def _round_tiny(p: Program, magnitude: Reg, sign: Reg, precision: Reg, least: Reg) -> None:
    """Round a number below the smallest value, 2^(least - precision + 1)."""
    smallest = p.shl(p.add(p.sub(least, precision), _BIAS + 1), _BITS)
    half = p.sub(smallest, 1 << _BITS)
    p.set(p.value, sign)
    with p.when(p.slt(half, magnitude)):
        p.or_(sign, smallest, p.value)
    p.ret()
