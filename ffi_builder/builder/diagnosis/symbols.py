"""Instructions that bind symbols, compare with them, solve for them, and evaluate expressions.

Expressions are evaluated by a function of their own, on a stack of int64 beside the slots::

    int32_t evaluate(Machine*);        0, or 1 on overflow; leaves the value in EXPECTED
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ffi_builder.builder.diagnosis.checks import check, use_symbol
from ffi_builder.builder.diagnosis.decoding import not_free
from ffi_builder.builder.diagnosis.functions import call_shared, define
from ffi_builder.builder.diagnosis.machine import (
    BOUND,
    PLACE_SOLVED,
    PROVISIONAL,
    SLOT_PLACE,
    SLOT_STATE,
    Machine,
    Reg,
)
from ffi_builder.builder.diagnosis.table import Code, Op, Style
from ffi_builder.ir import Block, Builder, Symbols, Value
from ffi_builder.plan import Words

STACK_DEPTH: Final = 64
"""How deep expressions may nest; :func:`encode` refuses deeper ones."""


def define_expressions(symbols: Symbols) -> None:
    """Add the evaluation function to a module."""
    t = symbols.types
    define(symbols, "evaluate", t.i32, [t.ptr], _evaluate)


def _store(m: Machine, slot: Value, state: Value) -> None:
    b = m.b
    b.store(m.get(Reg.VALUE), slot)
    b.store(m.get(Reg.PLACE), b.offset(slot, SLOT_PLACE))
    b.store(state, b.offset(slot, SLOT_STATE))


def _bind(m: Machine) -> None:
    _store(m, m.slot(m.operand(16)), m.b.i64(BOUND))


def _differs(m: Machine, slot: Value) -> Value:
    """Whether the value is another than the symbol's; floats by value, NaN equal to NaN."""
    b, t = m.b, m.b.types
    value, bound = m.get(Reg.VALUE), b.load(t.i64, slot)
    m.set(Reg.EXPECTED, bound)
    same = b.same_float(b.bitcast(value, t.f64), b.bitcast(bound, t.f64))
    is_float = b.eq(m.get(Reg.STYLE), b.i64(Style.FLOAT))
    return b.select(is_float, b.eq(same, b.i1(False)), b.ne(value, bound))


def _eq_symbol(m: Machine) -> None:
    symbol, words = m.operand(16), m.operand(8)
    slot = use_symbol(m, symbol)
    check(m, _differs(m, slot), words)


def _bind_or_eq(m: Machine) -> None:
    b, t = m.b, m.b.types
    symbol, words = m.operand(16), m.operand(8)
    slot = use_symbol(m, symbol)
    state = b.field(t.i64, slot, SLOT_STATE)
    bound = b.eq(state, b.i64(BOUND))
    check(m, b.and_(bound, _differs(m, slot)), words)
    applies = not_free(m)
    first = b.eq(state, b.i64(0))
    takes = b.or_(b.and_(applies, b.eq(bound, b.i1(False))), first)
    with b.when(takes):
        _store(m, slot, b.select(applies, b.i64(BOUND), b.i64(PROVISIONAL)))


def _solve(m: Machine) -> None:
    b = m.b
    symbol, scale, offset = m.operand(16), m.operand(64), m.operand(64)
    m.set(Reg.TEXT, m.pointer(Reg.PC))
    m.set(Reg.PC, b.offset(m.pointer(Reg.PC), 6))
    m.set(Reg.SYMBOL, symbol)
    difference, overflow = b.with_overflow("ssub", m.get(Reg.VALUE), offset)
    minus_one = b.eq(scale, b.i64(-1))
    # The one quotient that does not fit, and on which the machine's division traps.
    trap = b.and_(minus_one, b.eq(difference, b.i64(-(2**63))))
    safe = b.select(trap, b.i64(1), scale)
    inexact = b.ne(b.srem(difference, safe), b.i64(0))
    unsolved = b.or_(b.or_(overflow, trap), inexact)
    check(m, unsolved, Words.SOLVE)
    m.set(Reg.VALUE, b.select(unsolved, b.i64(0), b.sdiv(difference, safe)))
    m.set(Reg.PLACE, b.or_(m.get(Reg.PLACE), b.i64(1 << PLACE_SOLVED)))


def _expr(m: Machine) -> None:
    b = m.b
    words = m.operand(8)
    m.set(Reg.TEXT, m.pointer(Reg.PC))
    listed = b.offset(m.pointer(Reg.PC), 6)
    m.set(Reg.BINDINGS, listed)
    count = m.unsigned(listed, 16)
    m.set(Reg.PC, b.element(b.offset(listed, 2), count, "i16"))
    overflow = call_shared(b, "evaluate", [m.registers], b.types.i32)
    check(m, b.ne(overflow, b.i32(0)), Words.EXPR_OVERFLOW)
    check(m, b.ne(m.get(Reg.VALUE), m.get(Reg.EXPECTED)), words)


def _evaluate(b: Builder, registers: Value) -> None:
    """Runs on after an overflow, to the end of the code."""
    t = b.types
    m = Machine(b, registers)
    stack = b.alloca(t.i64, STACK_DEPTH)
    top = b.alloca(t.ptr)
    overflow = b.alloca(t.i1)
    b.store(stack, top)
    b.store(b.i1(False), overflow)
    head = b.new_block()
    b.br(head)
    b.block = head
    opcode = b.trunc(m.operand(8), t.i32)
    done = b.new_block()
    cases: dict[int, Block] = {int(code): b.new_block() for code in Code if code is not Code.END}
    b.switch(opcode, done, cases)
    bodies = _code_bodies(m, overflow)
    for code, body in bodies.items():
        b.block = cases[int(code)]
        here = b.load(t.ptr, top)
        if code in (Code.SYMBOL, Code.CONSTANT):
            b.store(body(here, here), here)
            b.store(b.offset(here, 8), top)
        else:
            lhs, rhs = b.field(t.i64, here, -16), b.field(t.i64, here, -8)
            b.store(body(lhs, rhs), b.offset(here, -16))
            b.store(b.offset(here, -8), top)
        b.br(head)
    b.block = done
    m.set(Reg.EXPECTED, b.load(t.i64, stack))
    b.ret(b.zext(b.load(t.i1, overflow), t.i32))


def _code_bodies(m: Machine, overflow: Value) -> dict[Code, Callable[[Value, Value], Value]]:
    b, t = m.b, m.b.types

    def note(wrapped: Value) -> None:
        b.store(b.or_(b.load(t.i1, overflow), wrapped), overflow)

    def checked(name: str) -> Callable[[Value, Value], Value]:
        def body(lhs: Value, rhs: Value) -> Value:
            result, wrapped = b.with_overflow(name, lhs, rhs)
            note(wrapped)
            return result

        return body

    def symbol(_: Value, __: Value) -> Value:
        value = b.load(t.i64, m.slot(m.operand(16)))
        unsigned = b.ne(m.operand(8), b.i64(0))
        note(b.and_(unsigned, b.slt(value, b.i64(0))))
        return value

    def divided(rounding: int) -> Callable[[Value, Value], Value]:
        def body(lhs: Value, rhs: Value) -> Value:
            return floor_divide(b, lhs, rhs, up=rounding > 0)

        return body

    return {
        Code.SYMBOL: symbol,
        Code.CONSTANT: lambda _, __: m.operand(64),
        Code.ADD: checked("sadd"),
        Code.SUB: checked("ssub"),
        Code.MUL: checked("smul"),
        Code.FLOORDIV: divided(0),
        Code.MOD: lambda lhs, rhs: floor_modulo(b, lhs, rhs),
        Code.CEILDIV: divided(1),
    }


def floor_divide(b: Builder, value: Value, divisor: Value, *, up: bool = False) -> Value:
    """The quotient by a positive divisor, rounded down, or with ``up`` to the next above."""
    quotient, rest = b.sdiv(value, divisor), b.srem(value, divisor)
    if up:
        return b.add(quotient, b.zext(b.sgt(rest, b.i64(0)), b.types.i64))
    return b.sub(quotient, b.zext(b.slt(rest, b.i64(0)), b.types.i64))


def floor_modulo(b: Builder, value: Value, divisor: Value) -> Value:
    """The remainder by a positive divisor, from 0 up."""
    rest = b.srem(value, divisor)
    return b.select(b.slt(rest, b.i64(0)), b.add(rest, divisor), rest)


SYMBOLS: Final[dict[Op, Callable[[Machine], None]]] = {
    Op.BIND: _bind,
    Op.EQSYM: _eq_symbol,
    Op.BINDEQ: _bind_or_eq,
    Op.SOLVE: _solve,
    Op.EXPR: _expr,
}

