"""Relations in a plan: where they stand, and which place they name."""

from __future__ import annotations

import pytest

from ffi_builder.plan import steps as s
from tests.plan.reading import plan_of

TEXT = (
    "f(x: Tensor([n * m, n], int8), m: int32, t: Tuple(k: int8, y: Tensor([p * 2], int8)), "
    "z: Optional(Tensor([q], int8)), w: Tensor([q], int8, strides=[n]))"
)


@pytest.mark.parametrize(
    ("relation", "place"),
    [
        ("n <= m", "m"),
        ("m <= n", "m"),
        ("n != 0", "x.shape[1]"),
        ("n + k + m <= 9", "t[0]"),
        ("p in {1, 2}", "p in t[1].shape[0]"),
        ("q > n", "z.shape[0]"),
    ],
)
def test_the_place_is_that_of_the_symbol_bound_last(relation: str, place: str):
    plan = plan_of(f"{TEXT} where {relation}")
    assert [str(step.place) for step in plan if isinstance(step, s.CheckCondition)] == [place]


def test_they_stand_behind_what_waits_and_before_overlaps():
    text = f"{TEXT} where no_overlap(w), q > n, n <= m"
    late = plan_of(text).late
    waited = [s.EqualExpr, s.CheckCondition, s.CheckCondition, s.CheckOverlap]
    assert [type(step) for step in late] == waited
    assert [step.text for step in late if isinstance(step, s.CheckCondition)] == [
        "q > n",
        "n <= m",
    ]


def test_without_them_the_plan_is_as_before():
    plain = plan_of(TEXT)
    related = plan_of(f"{TEXT} where n <= m")
    assert related.steps == plain.steps
    assert related.late[:-1] == plain.late
