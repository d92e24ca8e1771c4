"""Evaluates and solves expressions of symbols on the fast path."""

from __future__ import annotations

from typing import TypeAlias

from ffi_builder import spec
from ffi_builder.builder.fast_path.context import FastPath
from ffi_builder.ir import Value
from ffi_builder.plan import steps as s
from ffi_builder.spec.expr import Expr, Relation

Range: TypeAlias = tuple[int, int]
"""The smallest and the largest value."""

_INTRINSICS = {"+": "sadd", "-": "ssub", "*": "smul"}
_PLAIN = {"+": "add", "-": "sub", "*": "mul"}


def evaluate(fast: FastPath, value: spec.Dim) -> tuple[Value, Value | None]:
    """Return the value as an i64, and an i1 that is False on overflow (None: no overflow)."""
    result, fine, _ = _evaluate(fast, value)
    return result, fine


def _evaluate(fast: FastPath, value: spec.Dim) -> tuple[Value, Value | None, Range]:
    b = fast.b
    match value:
        case int():
            return b.i64(value), None, (value, value)
        case spec.Var():
            return _symbol(fast, value)
        case Expr(op, lhs, rhs) if op in _INTRINSICS:
            left, left_fine, left_range = _evaluate(fast, lhs)
            right, right_fine, right_range = _evaluate(fast, rhs)
            fine = _both(fast, left_fine, right_fine)
            range_ = _range(op, left_range, right_range)
            if range_[0] >= -(2**63) and range_[1] < 2**63:
                return b.binary(_PLAIN[op], left, right), fine, range_
            result, overflow = b.with_overflow(_INTRINSICS[op], left, right)
            fine = _both(fast, fine, b.xor(overflow, b.i1(True)))
            return result, fine, (-(2**63), 2**63 - 1)
        case Expr("max" | "min" as op, lhs, rhs):
            left, left_fine, left_range = _evaluate(fast, lhs)
            right, right_fine, right_range = _evaluate(fast, rhs)
            chosen = b.select(b.compare("sgt" if op == "max" else "slt", left, right), left, right)
            pick = max if op == "max" else min
            low, high = map(pick, left_range, right_range)
            return chosen, _both(fast, left_fine, right_fine), (low, high)
        case Expr(op, lhs, rhs):
            assert isinstance(rhs, int)
            left, fine, (low, high) = _evaluate(fast, lhs)
            return _divide(fast, op, left, rhs, low), fine, _quotients(op, low, high, rhs)


def holds(fast: FastPath, relation: Relation) -> tuple[Value, Value | None]:
    """Return an i1 that is True if the relation holds, and an i1 that is False on overflow."""
    b = fast.b
    match relation:
        case Relation("==" | "!=", Expr("%", dividend, int(divisor)), 0):
            left, fine, (low, _) = _evaluate(fast, dividend)
            left = b.rest(left, divisor, signed=low < 0)
        case _:
            left, fine = evaluate(fast, relation.lhs)
    if isinstance(relation.rhs, tuple):
        right = [b.i64(value) for value in relation.rhs]
    else:
        value, right_fine = evaluate(fast, relation.rhs)
        right, fine = [value], _both(fast, fine, right_fine)
    return b.relate(relation.op, left, right), fine


def _symbol(fast: FastPath, var: spec.Var) -> tuple[Value, Value | None, Range]:
    symbol = fast.symbol(var)
    if symbol.high < 2**63:
        return symbol.value, None, (symbol.low, symbol.high)
    # Expressions are int64: a larger uint64 counts as an overflow.
    fine = fast.b.sge(symbol.value, fast.b.i64(0))
    return symbol.value, fine, (symbol.low, 2**63 - 1)


def _both(fast: FastPath, first: Value | None, second: Value | None) -> Value | None:
    if first is None or second is None:
        return second if first is None else first
    return fast.b.and_(first, second)


def _range(op: str, left: Range, right: Range) -> Range:
    if op == "+":
        return left[0] + right[0], left[1] + right[1]
    if op == "-":
        return left[0] - right[1], left[1] - right[0]
    products = [x * y for x in left for y in right]
    return min(products), max(products)


def _quotients(op: str, low: int, high: int, divisor: int) -> Range:
    if op == "%":
        return 0, divisor - 1
    if op == "//":
        return low // divisor, high // divisor
    return -(-low // divisor), -(-high // divisor)


def _divide(fast: FastPath, op: str, value: Value, divisor: int, low: int) -> Value:
    """Divide by a positive int: rounded down, rounded up, or the remainder of rounding down."""
    b = fast.b
    rhs = b.i64(divisor)
    if low >= 0:
        if op != "ceildiv":
            return b.udiv(value, rhs) if op == "//" else b.urem(value, rhs)
        rest = b.ne(b.urem(value, rhs), b.i64(0))
        return b.add(b.udiv(value, rhs), b.zext(rest, b.types.i64))
    rest = b.srem(value, rhs)
    if op == "%":
        return b.select(b.slt(rest, b.i64(0)), b.add(rest, rhs), rest)
    quotient = b.sdiv(value, rhs)
    if op == "//":
        return b.sub(quotient, b.zext(b.slt(rest, b.i64(0)), b.types.i64))
    return b.add(quotient, b.zext(b.sgt(rest, b.i64(0)), b.types.i64))


def solve(fast: FastPath, step: s.Solve, value: Value) -> Value:
    """Return the symbol that solves ``expr == value``; 0 if a free stride has no solution."""
    b = fast.b
    difference, overflow = b.with_overflow("ssub", value, b.i64(step.offset))
    if step.scale == -1:
        # This is the only quotient that does not fit.
        inexact = b.eq(difference, b.i64(-(2**63)))
    else:
        inexact = b.ne(b.srem(difference, b.i64(step.scale)), b.i64(0))
    solved = b.xor(b.or_(overflow, inexact), b.i1(True))
    quotient = b.sub(b.i64(0), difference)
    if step.scale != -1:
        quotient = b.sdiv(difference, b.i64(step.scale))
    fast.check(solved, step.place, free=step.free)
    return b.select(solved, quotient, b.i64(0)) if step.free else quotient
