"""Random conditions over three numbers and a layout, and their evaluation in Python."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Final

import numpy as np
from hypothesis import strategies as st

from ffi_builder import spec
from ffi_builder.providers import when
from ffi_builder.spec.expr import Combined, Condition, Expr, Relation
from ffi_builder.spec.properties import Comparison

A, B, C = spec.Var("a", "int8"), spec.Var("b", "bool"), spec.Var("c", "uint8")
X: Final = spec.Tensor("x", [None, None], "int8", device_type="cpu", strides="any")
PARAMS: Final = [A, B, C, X]
VALUES: Final = {
    "a": (-8, -4, -1, 0, 1, 2, 3, 4, 8, 12),
    "b": (0, 1),
    "c": (0, 1, 2, 6, 12, 255),
    "x.contiguous": (0, 1),
}
ARRAYS: Final = [np.zeros((2, 3), "int8", order="F"), np.zeros((2, 3), "int8")]
"""Arrays for ``x``: one that is not contiguous, and one that is."""


def atoms() -> st.SearchStrategy[Condition]:
    operators = st.sampled_from(("==", "!=", "<", "<=", ">", ">="))
    numbers = st.sampled_from((A, C))
    sides = st.one_of(numbers, st.builds(Expr, st.just("%"), numbers, st.integers(1, 12)))
    flags = (when.value(B) == True, when.contiguous(X))  # noqa: E712
    return st.one_of(
        st.sampled_from(flags),
        st.builds(Relation, operators, sides, st.integers(-9, 13)),
        st.builds(Relation, operators, sides, numbers | sides),
        st.builds(spec.one_of, sides, st.sets(st.integers(-9, 300), min_size=1, max_size=3)),
        st.builds(when.divisible, numbers, st.integers(1, 12)),
    )


def conditions_of(leaf: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    def combined(inner: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
        several = st.lists(inner, min_size=1, max_size=3)
        return st.one_of(
            several.map(lambda parts: when.all_of(*parts)),
            several.map(lambda parts: when.any_of(*parts)),
            inner.map(lambda condition: ~condition),
        )

    return st.recursive(leaf, combined, max_leaves=5)


def holds(condition: Condition, values: dict[str, int]) -> bool:
    """Evaluate a condition in Python, without what the package knows of it."""
    match condition:
        case Comparison():
            return bool(values[str(condition)])
        case Relation(op, lhs, rhs):
            right = rhs if isinstance(rhs, tuple) else (number(rhs, values),)
            return COMPARES[op](number(lhs, values), *right)
        case Combined("not", (part,)):
            return not holds(part, values)
        case Combined(op, parts):
            return (all if op == "and" else any)(holds(part, values) for part in parts)
        case _:
            raise AssertionError(condition)


COMPARES: Final[dict[str, Callable[..., bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda left, *right: left in right,  # pyright: ignore[reportUnknownLambdaType]
}


def number(dim: spec.Dim, values: dict[str, int]) -> int:
    """Evaluate an int, a symbol or a remainder."""
    match dim:
        case Expr("%", dividend, int(divisor)):
            return number(dividend, values) % divisor
        case spec.Var():
            return values[dim.name]
        case int():
            return dim
        case _:
            raise AssertionError(dim)
