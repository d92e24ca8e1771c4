"""Instructions of the table that evaluate expressions of symbols, and check relations of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ffi_builder.diagnosis.assembler import Label, Reg
from ffi_builder.diagnosis.instructions import Instruction
from ffi_builder.diagnosis.program import SLOT_ELEMENT, SLOT_PLACE, SLOT_STATE, Program
from ffi_builder.diagnosis.table import Code, Op, Style
from ffi_builder.plan import Words


def define_expressions(p: Program) -> None:
    """Assemble the function that evaluates expressions."""
    p.define("evaluate", 2, _evaluate)


def _evaluate(p: Program, value: Reg, unbound: Reg) -> None:
    """Evaluate postfix code on a stack, to its end even after an overflow.

    Sets the overflow register if a part does not fit int64, and ``unbound`` if a symbol has no
    value.
    """
    top = p.new()
    p.set(unbound, 0)
    p.set(top, p.stack)
    head, done = Label(), Label()
    p.place(head)
    code = p.operand(8)
    p.jump_if_zero(code, done)
    with p.when(p.eq(code, Code.SYMBOL)):
        _push(p, top, _symbol_value(p, unbound))
        p.jump(head)
    with p.when(p.eq(code, Code.CONSTANT)):
        _push(p, top, p.operand(64))
        p.jump(head)
    p.add(top, -8, top)
    lhs, rhs = p.load(64, top, -8), p.load(64, top)
    first = p.sub(code, Code.ADD)
    p.cases(first, [lambda body=body: body(p, lhs, rhs) for body in _OPERATORS])
    p.store(lhs, top, -8)
    p.jump(head)
    p.place(done)
    p.binary(Instruction.LD64, p.stack, 0, value)


def _push(p: Program, top: Reg, value: Reg) -> None:
    p.store(value, top)
    p.add(top, 8, top)


def _symbol_value(p: Program, unbound: Reg) -> Reg:
    """Load a symbol; note whether it is unbound, and whether it is a uint64 beyond int64."""
    slot = p.slot_of(p.operand(16))
    value = p.load(64, slot)
    p.or_(unbound, p.not_(p.load(64, slot, SLOT_STATE)), unbound)
    unsigned = p.operand(8)
    p.or_(p.overflow, p.and_(unsigned, p.slt(value, 0)), p.overflow)
    return value


def _checked(op: Instruction) -> Callable[[Program, Reg, Reg], None]:
    return lambda p, lhs, rhs: p.effect(op, lhs, lhs, rhs)


def _floor(p: Program, lhs: Reg, rhs: Reg) -> None:
    rest = p.srem(lhs, rhs)
    p.sub(p.sdiv(lhs, rhs), p.slt(rest, 0), lhs)


def _modulo(p: Program, lhs: Reg, rhs: Reg) -> None:
    rest = p.srem(lhs, rhs)
    p.add(rest, p.choose(p.slt(rest, 0), rhs, 0), lhs)


def _ceil(p: Program, lhs: Reg, rhs: Reg) -> None:
    rest = p.srem(lhs, rhs)
    p.add(p.sdiv(lhs, rhs), p.slt(0, rest), lhs)


def _max(p: Program, lhs: Reg, rhs: Reg) -> None:
    p.set(lhs, p.choose(p.slt(lhs, rhs), rhs, lhs))


def _min(p: Program, lhs: Reg, rhs: Reg) -> None:
    p.set(lhs, p.choose(p.slt(rhs, lhs), rhs, lhs))


_OPERATORS: Final = (
    _checked(Instruction.ADDO),
    _checked(Instruction.SUBO),
    _checked(Instruction.MULO),
    _floor,
    _modulo,
    _ceil,
    _max,
    _min,
)
"""Operations by code, from Code.ADD on; divisors are positive."""


def _shown(p: Program) -> None:
    """Read what messages show: the text, and the list of symbols."""
    p.set(p.text, p.pc)
    p.skip(6)
    p.set(p.bindings, p.pc)
    p.skip(p.shl(p.operand(16), 1))


def _expr(p: Program) -> None:
    words = p.operand(8)
    _shown(p)
    p.set(p.overflow, 0)
    unbound = p.run_for("evaluate", 0)
    p.set(p.expected, p.functions["evaluate"].parameters[0])
    with p.when(p.not_(unbound)):
        p.check(p.overflow, Words.EXPR_OVERFLOW)
        p.check(p.ne(p.value, p.expected), words)


# ---- relations


_COMPARED: Final[tuple[Callable[[Program], Reg], ...]] = (
    lambda p: p.eq(p.value, p.expected),
    lambda p: p.ne(p.value, p.expected),
    lambda p: p.sle(p.value, p.expected),
    lambda p: p.slt(p.value, p.expected),
    lambda p: p.sle(p.expected, p.value),
    lambda p: p.slt(p.expected, p.value),
)
"""Comparisons in the order of :data:`~ffi_builder.diagnosis.table.COMPARISONS`; ``in`` is last."""
_IN: Final = len(_COMPARED)


def _relation(p: Program) -> None:
    words, symbol, comparison = p.operand(8), p.operand(16), p.operand(8)
    _shown(p)
    p.set(p.overflow, 0)
    unbound, holds = p.new(), p.new()
    p.set(unbound, p.run_for("evaluate", 0))
    p.set(p.value, p.functions["evaluate"].parameters[0])
    p.set(holds, 0)
    with p.when(p.eq(comparison, _IN)), p.loop(p.operand(8)):
        p.or_(holds, p.eq(p.value, p.operand(64)), holds)
    with p.when(p.ne(comparison, _IN)):
        p.or_(unbound, p.run_for("evaluate", 0), unbound)
        p.set(p.expected, p.functions["evaluate"].parameters[0])
        p.cases(comparison, [lambda body=body: p.set(holds, body(p)) for body in _COMPARED])
    failed = p.or_(p.overflow, p.not_(holds))
    with p.when(p.and_(failed, p.not_(unbound))):
        p.set(p.symbol, symbol)
        p.binary(Instruction.LD64, p.slot_of(symbol), SLOT_PLACE, p.place_)
        p.binary(Instruction.LD32, p.slot_of(symbol), SLOT_ELEMENT, p.element)
        p.set(p.big, 0)
        p.set(p.style, Style.INT)
        p.fail(p.overflow, Words.RELATION_OVERFLOW)
        p.run("report", words)


EXPRESSIONS: Final[dict[Op, Callable[[Program], None]]] = {
    Op.EXPR: _expr,
    Op.RELATION: _relation,
}
