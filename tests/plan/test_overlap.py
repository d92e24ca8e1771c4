"""Overlaps in a plan: which pairs are compared, and where."""

from __future__ import annotations

import pytest

from ffi_builder.plan import steps as s
from tests.plan.reading import plan_of

TEXT = (
    "f(x: Tensor([n], int8, device_type=any), y: Tensor([n], int8, device_type=cuda), "
    "t: Tuple(a: Tensor([n], int8), b: Tensor([n], int8, device_type=metal)), "
    "z: Optional(Tensor([n * 2], int8)))"
)


@pytest.mark.parametrize(
    ("names", "pairs"),
    [
        ("y", ["y: x t[0] z"]),
        ("z", ["z: x y t[0]"]),
        ("y, z", ["y: x t[0] z", "z: x t[0]"]),
        ("x, y, t[0], z", ["x: y t[0] z", "y: t[0] z", "t[0]: z"]),
    ],
)
def test_each_pair_is_compared_once(names: str, pairs: list[str]):
    """Tensors on a device without addresses are left out."""
    plan = plan_of(f"{TEXT} where no_overlap({names})")
    steps = [step for step in plan if isinstance(step, s.CheckOverlap)]
    assert [
        f"{step.place}: {' '.join(place.path for place, _ in step.others)}" for step in steps
    ] == pairs
    assert plan.late[-len(steps) :] == tuple(steps)


LISTS = (
    "f(a: TensorList(Tensor([n], int8)), b: TensorList(Tensor([n], int8, device_type=metal)), "
    "y: Tensor([n], int8), c: Optional(TensorList(Tensor([n], int8))), "
    "d: TensorList(Tensor([n], int8), length=1))"
)


@pytest.mark.parametrize(
    ("names", "pairs"),
    [
        ("y", ["y: a[i] or c[i] or d[i]"]),
        ("a", ["a[i]: a[j] or y or c[i] or d[i]"]),
        (
            "a, y, c, d",
            ["a[i]: a[j] or y or c[i] or d[i]", "y: c[i] or d[i]", "c[i]: c[j] or d[i]"],
        ),
        ("d", ["d[i]: a[i] or y or c[i]"]),
    ],
)
def test_lists(names: str, pairs: list[str]):
    """The elements of a list are compared with each other if it is named and may have two."""
    plan = plan_of(f"{LISTS} where no_overlap({names})")
    steps = [step for step in plan if isinstance(step, s.CheckOverlap)]
    assert [f"{step.place}: {step.placeholders({})['text']}" for step in steps] == pairs


def test_without_it_the_plan_is_as_before():
    plain = plan_of(TEXT)
    forbidding = plan_of(f"{TEXT} where no_overlap(y)")
    assert forbidding.steps == plain.steps
    assert forbidding.late[:-1] == plain.late
