"""Instructions of the table that bind symbols, compare with them, and solve for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ffi_builder.diagnosis.assembler import Reg
from ffi_builder.diagnosis.instructions import Instruction
from ffi_builder.diagnosis.program import (
    BOUND,
    PLACE_SOLVED,
    PROVISIONAL,
    SLOT_PLACE,
    SLOT_STATE,
    Program,
)
from ffi_builder.diagnosis.routines.checks import use_symbol
from ffi_builder.diagnosis.table import Op, Style
from ffi_builder.plan import Words


def _store(p: Program, slot: Reg, state: Reg | int) -> None:
    p.store(p.value, slot)
    p.store(p.place_, slot, SLOT_PLACE)
    p.store(p.or_(p.shl(p.element, 32), state), slot, SLOT_STATE)


def _bind(p: Program) -> None:
    _store(p, p.slot_of(p.operand(16)), BOUND)


def _differs(p: Program) -> Reg:
    """Compare the value with the symbol's; NaN equals NaN."""
    p.binary(Instruction.LD64, p.slot, 0, p.expected)
    differs = p.ne(p.value, p.expected)
    with p.when(p.eq(p.style, Style.FLOAT)):
        p.set(differs, p.not_(p.same_float(p.value, p.expected)))
    return differs


def _eq_symbol(p: Program) -> None:
    use_symbol(p)
    p.check(_differs(p), p.operand(8))


def _bind_or_eq(p: Program) -> None:
    use_symbol(p)
    words = p.operand(8)
    state = p.load(32, p.slot, SLOT_STATE)
    bound = p.eq(state, BOUND)
    p.check(p.and_(bound, _differs(p)), words)
    applies = p.not_(p.run_for("is_free"))
    takes = p.or_(p.and_(applies, p.not_(bound)), p.not_(state))
    with p.when(takes):
        _store(p, p.slot, p.choose(applies, BOUND, PROVISIONAL))


def _solve(p: Program) -> None:
    symbol, scale, offset = p.operand(16), p.operand(64), p.operand(64)
    p.set(p.text, p.pc)
    p.skip(6)
    p.set(p.symbol, symbol)
    p.set(p.overflow, 0)
    difference = p.new()
    p.effect(Instruction.SUBO, difference, p.value, offset)
    # The quotient -2^63 / -1 does not fit, and the division traps on it.
    trap = p.and_(p.eq(scale, -1), p.eq(difference, -(2**63)))
    divisor = p.choose(trap, 1, scale)
    inexact = p.or_(trap, p.srem(difference, divisor))
    unsolved = p.or_(p.overflow, inexact)
    p.check(unsolved, Words.SOLVE)
    p.set(p.value, p.choose(unsolved, 0, p.sdiv(difference, divisor)))
    p.or_(p.place_, 1 << PLACE_SOLVED, p.place_)


SYMBOLS: Final[dict[Op, Callable[[Program], None]]] = {
    Op.BIND: _bind,
    Op.EQSYM: _eq_symbol,
    Op.BINDEQ: _bind_or_eq,
    Op.SOLVE: _solve,
}
