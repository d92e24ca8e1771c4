"""Relations in a plan: where they stand, and which place they name."""

from __future__ import annotations

import pytest

from ffi_builder.plan import explain, make_plan
from ffi_builder.plan import steps as s
from ffi_builder.spec import Signature

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
    plan = make_plan(Signature.parse(f"{TEXT} where {relation}", device="cpu"))
    assert [str(step.place) for step in plan if isinstance(step, s.CheckCondition)] == [place]


def test_they_stand_behind_what_waits_and_before_overlaps():
    text = f"{TEXT} where no_overlap(w), q > n, n <= m"
    late = make_plan(Signature.parse(text, device="cpu")).late
    waited = [s.EqualExpr, s.CheckCondition, s.CheckCondition, s.CheckOverlap]
    assert [type(step) for step in late] == waited
    assert [step.text for step in late if isinstance(step, s.CheckCondition)] == [
        "q > n",
        "n <= m",
    ]


def test_without_them_the_plan_is_as_before():
    plain = make_plan(Signature.parse(TEXT, device="cpu"))
    related = make_plan(Signature.parse(f"{TEXT} where n <= m", device="cpu"))
    assert related.steps == plain.steps
    assert related.late[:-1] == plain.late


def test_what_people_read():
    lines = explain(Signature.parse(f"{TEXT} where m >= n, k in {{1, 2}}", device="cpu"))
    rows = [line.split(maxsplit=1)[1] for line in lines.split("\n") if " with " in line]
    assert [" ".join(row.split()) for row in rows[-2:]] == [
        "m m >= n with m = {m} from m, n = {n} from x.shape[1] ValueError",
        "t[0] k in {1, 2} with k = {k} from t[0] ValueError",
    ]
