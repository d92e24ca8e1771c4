"""Evaluates expressions as wrappers do."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Final

from ffi_builder import spec
from ffi_builder.spec.numbers import RELATIONS

OPERATORS: Final[dict[str, Callable[[int, int], int]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": lambda lhs, rhs: lhs // rhs,
    "%": operator.mod,
    "ceildiv": lambda lhs, rhs: -(-lhs // rhs),
    "max": max,
    "min": min,
}
"""The operators of expressions, on exact ints."""


def evaluate(value: spec.Dim, of: Callable[[spec.Var], float]) -> int | None:
    """Return the value of an expression; None if a part of it does not fit int64.

    ``of`` returns the values of symbols.
    """
    match value:
        case int():
            result = value
        case spec.Var():
            result = int(of(value))
        case spec.Expr(op, left, right):
            lhs, rhs = evaluate(left, of), evaluate(right, of)
            if lhs is None or rhs is None:
                return None
            result = OPERATORS[op](lhs, rhs)
    return result if -(2**63) <= result < 2**63 else None


def holds(relation: spec.Relation, of: Callable[[spec.Var], float]) -> bool:
    """Return whether a relation holds; it does not if a part of it does not fit int64.

    ``of`` returns the values of symbols.
    """
    left, right = evaluate(relation.lhs, of), relation.rhs
    if not isinstance(right, tuple):
        right = evaluate(right, of)
    return left is not None and right is not None and RELATIONS[relation.op](left, right)
