"""Evaluates expressions and contiguous strides as wrappers do."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from ffi_builder import spec
from ffi_builder.spec.expr import Combined, Condition, Expr, Relation
from ffi_builder.spec.functions import variables
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
"""The operators of expressions, on ints of any size."""


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
        case Expr(op, left, right):
            lhs, rhs = fold(left, of, operators), fold(right, of, operators)
            return None if lhs is None or rhs is None else operators[op](lhs, rhs)


def _checked(compute: Callable[[int, int], int]) -> Callable[[int, int], int | None]:
    return lambda lhs, rhs: _in_int64(compute(lhs, rhs))


_IN_INT64: Final = {op: _checked(compute) for op, compute in OPERATORS.items()}


def evaluate(value: spec.Dim, of: Callable[[spec.Var], float]) -> int | None:
    """Return the value of an expression; None if it or a part of it does not fit int64.

    ``of`` returns the values of symbols.
    """
    return fold(value, lambda var: _in_int64(int(of(var))), _IN_INT64)


def holds(
    condition: Condition, of: Callable[[spec.Var], float | None], *, certainly: bool = False
) -> bool:
    """Return whether a condition of symbols holds.

    A relation is unknown if ``of`` returns None for one of its symbols. It then counts as true,
    or with ``certainly`` as false. If a part of a relation does not fit int64, neither the relation
    nor its negation holds.
    """
    match condition:
        case Combined("not", (part,)):
            return not holds(part, of, certainly=not certainly)
        case Combined(op, parts):
            results = (holds(part, of, certainly=certainly) for part in parts)
            return all(results) if op == "and" else any(results)
        case Relation(op, lhs, rhs):
            values = {var: of(var) for var in variables(condition)}
            if None in values.values():
                return not certainly
            known = cast("Callable[[spec.Var], float]", values.__getitem__)
            left, right = evaluate(lhs, known), rhs
            if not isinstance(right, tuple):
                right = evaluate(right, known)
            return certainly if left is None or right is None else RELATIONS[op](left, right)
        case _:
            raise AssertionError(f"{condition} is about more than symbols")


def contiguous(shape: Sequence[Any], order: str = "C") -> tuple[Any, ...]:
    """Return the strides of a contiguous tensor, row-major (``"C"``) or column-major (``"F"``)."""
    inner = [shape[axis + 1 :] if order == "C" else shape[:axis] for axis in range(len(shape))]
    return tuple(math.prod(sizes) for sizes in inner)
