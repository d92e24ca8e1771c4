"""Instructions of the table that check the value that was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ffi_builder.diagnosis.assembler import Reg
from ffi_builder.diagnosis.program import (
    BIG_NEGATIVE,
    BIG_UNSIGNED,
    Program,
)
from ffi_builder.diagnosis.table import Op, Style
from ffi_builder.plan import Words


def use_symbol(p: Program) -> None:
    """Read the symbol that messages name; its style is that of the values they show."""
    p.operand(16, p.symbol)
    p.unsigned(p.symbol_record(p.symbol), 16, 6, p.style)
    p.slot_of(p.symbol, p.slot)


def _eq(bits: int) -> Callable[[Program], None]:
    def body(p: Program) -> None:
        p.operand(bits, p.expected)
        p.check(p.ne(p.value, p.expected), p.operand(8))

    return body


def _nonzero(p: Program) -> None:
    p.check(p.not_(p.value), p.operand(8))


def _nonnegative(p: Program) -> None:
    small = p.and_(p.not_(p.big), p.slt(p.value, 0))
    p.fail(p.or_(small, p.eq(p.big, BIG_NEGATIVE)), Words.NEGATIVE)


def _bool(p: Program) -> None:
    p.fail(p.ult(p.register(1), p.value), Words.BOOL)


def _fits(p: Program) -> None:
    """Check the range, even of a free stride: no value is ever truncated."""
    bits, signed = p.operand(8), p.operand(8)
    unsigned = p.not_(signed)
    # As a DLDataType: int is code 0, uint code 1; one lane.
    p.or_(p.or_(p.shl(bits, 8), 1 << 16), unsigned, p.expected)
    wide = p.and_(unsigned, p.eq(bits, 64))
    small = p.not_(p.big)
    # value + 2^(bits - 1) is at most 2^bits - 1, as an unsigned number.
    greatest = p.lshr(p.register(-1), p.sub(64, bits))
    shifted = p.add(p.value, p.choose(signed, p.add(p.lshr(greatest, 1), 1), 0))
    fits = p.and_(small, p.ule(shifted, greatest))
    with p.when(wide):
        fits_small = p.and_(small, p.sle(0, p.value))
        p.or_(fits_small, p.eq(p.big, BIG_UNSIGNED), fits)
    p.fail(p.not_(fits), Words.FITS)


def _scale(p: Program) -> None:
    """Check that the value can be multiplied, even of a free stride."""
    factor = p.operand(64)
    p.sdiv(2**63 - 1, factor, p.expected)
    below = p.slt(p.value, p.sub(0, p.expected))
    p.fail(p.or_(p.slt(p.expected, p.value), below), Words.PACKED)
    p.mul(p.value, factor, p.value)


def _bound(words: Words, wrong: Callable[[Program, Reg], Reg]) -> Callable[[Program], None]:
    def body(p: Program) -> None:
        p.operand(64, p.expected)
        use_symbol(p)
        p.check(wrong(p, p.eq(p.style, Style.UINT)), words)

    return body


def _less(p: Program, lhs: Reg, rhs: Reg, unsigned: Reg) -> Reg:
    return p.choose(unsigned, p.ult(lhs, rhs), p.slt(lhs, rhs))


def _indivisible(p: Program, unsigned: Reg) -> Reg:
    return p.choose(unsigned, p.urem(p.value, p.expected), p.srem(p.value, p.expected))


def _eq_float(p: Program) -> None:
    p.operand(64, p.expected)
    p.fail(p.not_(p.same_float(p.value, p.expected)), Words.EQUAL)


CHECKS: Final[dict[Op, Callable[[Program], None]]] = {
    Op.SCALE: _scale,
    Op.EQ: _eq(64),
    Op.EQ8: _eq(8),
    Op.NONZERO: _nonzero,
    Op.NONNEGATIVE: _nonnegative,
    Op.BOOL: _bool,
    Op.FITS: _fits,
    Op.MIN: _bound(Words.AT_LEAST, lambda p, u: _less(p, p.value, p.expected, u)),
    Op.MAX: _bound(Words.AT_MOST, lambda p, u: _less(p, p.expected, p.value, u)),
    Op.DIVISIBLE: _bound(Words.DIVISIBLE, _indivisible),
    Op.EQFLOAT: _eq_float,
}
