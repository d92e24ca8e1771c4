"""Random conditions over three numbers and a layout, and their evaluation in Python."""

from __future__ import annotations

from typing import Final

import numpy as np
from hypothesis import strategies as st

from ffi_builder import spec
from ffi_builder.providers.variants.conditions import AllOf, AnyOf, Compare, Multiple, Not
from ffi_builder.providers.variants.subjects import Contiguous, Number
from ffi_builder.providers.when import Condition

NUMBERS: Final = [spec.Var("a", "int8"), spec.Var("b", "bool"), spec.Var("c", "uint8")]
X: Final = spec.Tensor("x", [None, None], "int8", device_type="cpu", strides="any")
PARAMS: Final = [*NUMBERS, X]
SUBJECTS: Final = [*map(Number, NUMBERS), Contiguous(X)]
VALUES: Final = {
    "a": (-8, -4, -1, 0, 1, 2, 3, 4, 8, 12),
    "b": (0, 1),
    "c": (0, 1, 2, 6, 12, 255),
    "x.contiguous": (0, 1),
}
ARRAYS: Final = [np.zeros((2, 3), "int8", order="F"), np.zeros((2, 3), "int8")]
"""Arrays for ``x``: one that is not contiguous, and one that is."""


def atoms() -> st.SearchStrategy[Condition]:
    def of(subject: Number | Contiguous) -> st.SearchStrategy[Condition]:
        if subject.is_flag:
            return st.builds(
                Compare, st.just(subject), st.sampled_from(("==", "!=")), st.integers(0, 1)
            )
        operators = st.sampled_from(("==", "!=", "<", "<=", ">", ">="))
        return st.one_of(
            st.builds(Compare, st.just(subject), operators, st.integers(-9, 13)),
            st.builds(Multiple, st.just(subject), st.integers(1, 12)),
        )

    return st.sampled_from(SUBJECTS).flatmap(of)


def conditions_of(leaf: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    def combined(inner: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
        several = st.lists(inner, min_size=1, max_size=3).map(tuple)
        return st.one_of(
            st.builds(AllOf, several), st.builds(AnyOf, several), st.builds(Not, inner)
        )

    return st.recursive(leaf, combined, max_leaves=5)


def holds(condition: Condition, values: dict[str, int]) -> bool:
    """Evaluate a condition in Python, without what the package knows of it."""
    match condition:
        case Compare(subject, op, number):
            left = values[str(subject.text(lambda param: param.name))]
            return {
                "==": left == number,
                "!=": left != number,
                "<": left < number,
                "<=": left <= number,
                ">": left > number,
                ">=": left >= number,
            }[op]
        case Multiple(subject, divisor):
            return values[subject.text(lambda param: param.name)] % divisor == 0
        case AllOf(parts):
            return all(holds(part, values) for part in parts)
        case AnyOf(parts):
            return any(holds(part, values) for part in parts)
        case Not(part):
            return not holds(part, values)
        case _:
            raise AssertionError(condition)
