"""Random conditions over three numbers, and their evaluation in Python."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from ffi_builder import spec
from ffi_builder.providers.variants.conditions import AllOf, AnyOf, Compare, Multiple, Not
from ffi_builder.providers.variants.subjects import Number
from ffi_builder.providers.when import Condition

PARAMS: Final = [spec.Var("a", "int8"), spec.Var("b", "bool"), spec.Var("c", "uint8")]
SUBJECTS: Final = [Number(var) for var in PARAMS]
VALUES: Final = {"a": (-8, -4, -1, 0, 1, 2, 3, 4, 8, 12), "b": (0, 1), "c": (0, 1, 2, 6, 12, 255)}


def atoms() -> st.SearchStrategy[Condition]:
    def of(subject: Number) -> st.SearchStrategy[Condition]:
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
