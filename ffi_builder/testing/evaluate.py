"""Evaluates expressions and contiguous strides as wrappers do."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

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


def _in_int64(value: int) -> int | None:
    return value if -(2**63) <= value < 2**63 else None


def fold(
    value: spec.Dim,
    of: Callable[[spec.Var], Any],
    operators: Mapping[str, Callable[[Any, Any], Any]] = OPERATORS,
) -> Any:
    """Return the value of an expression; None if a part of it is None.

    ``of`` returns the values of symbols: ints, or a framework's symbolic ones.
    """
    match value:
        case int():
            return value
        case spec.Var():
            return of(value)
        case spec.Expr(op, left, right):
            lhs, rhs = fold(left, of, operators), fold(right, of, operators)
            return None if lhs is None or rhs is None else operators[op](lhs, rhs)


def _checked(compute: Callable[[int, int], int]) -> Callable[[int, int], int | None]:
    return lambda lhs, rhs: _in_int64(compute(lhs, rhs))


_IN_INT64: Final = {op: _checked(compute) for op, compute in OPERATORS.items()}


def evaluate(value: spec.Dim, of: Callable[[spec.Var], float]) -> int | None:
    """Return the value of an expression; None if a part of it does not fit int64.

    ``of`` returns the values of symbols.
    """
    return fold(value, lambda var: _in_int64(int(of(var))), _IN_INT64)


def holds(relation: spec.Relation, of: Callable[[spec.Var], float]) -> bool:
    """Return whether a relation holds; it does not if a part of it does not fit int64.

    ``of`` returns the values of symbols.
    """
    left, right = evaluate(relation.lhs, of), relation.rhs
    if not isinstance(right, tuple):
        right = evaluate(right, of)
    return left is not None and right is not None and RELATIONS[relation.op](left, right)


def contiguous(shape: Sequence[Any], order: str = "C") -> tuple[Any, ...]:
    """Return the strides of a contiguous tensor, row-major (``"C"``) or column-major (``"F"``)."""
    inner = [shape[axis + 1 :] if order == "C" else shape[:axis] for axis in range(len(shape))]
    return tuple(math.prod(sizes) for sizes in inner)
