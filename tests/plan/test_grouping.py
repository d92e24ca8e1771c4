"""What back ends do together is one step, and an Optional holds its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import pytest

from ffi_builder.plan import steps as s
from tests.plan.reading import plan_of
from tests.steps.samples import SAMPLES


def names(steps: Sequence[s.AnyCheck | s.AnyStep]) -> list[str]:
    return [f"{type(step).__name__} {step.place}" for step in steps]


def test_a_tensor():
    assert names(plan_of("f(x: Tensor([n, 4], float32))").steps[2:]) == [
        "DecodeTensor x",
        "CheckShapePointer x.shape",
        "ReadDim x.shape[0]",
        "Bind x.shape[0]",
        "ReadDim x.shape[1]",
        "EqualInt x.shape[1]",
        "CheckLayout x.strides",
        "CheckData x.data",
        "CheckElementAlignment x.data",
    ]


def test_the_header_of_a_tensor():
    text = "f(x: Tensor([], int8), y: Tensor(..., int8 | uint8, device_type=any))"
    steps = plan_of(text).steps
    first, second = (step for step in steps if isinstance(step, s.DecodeTensor))
    assert first.rank == 0
    assert first.device_type is not None
    assert first.same_device is None
    assert second.rank is None
    assert second.device_type is None
    assert second.same_device is not None


def test_other_parameters():
    text = "f(t: Tuple(a: int8), dims: Shape([n]), s: String, p: DataPointer, e: Tuple())"
    assert names(plan_of(text).steps[2:]) == [
        "DecodeTuple t",
        "DecodeScalar t[0]",
        "Bind t[0]",
        "DecodeShape dims",
        "DecodeEntry dims[0]",
        "Bind dims[0]",
        "DecodeText s",
        "DecodeScalar p",
        "DecodeTuple e",
    ]


@pytest.mark.parametrize(
    ("entry", "bounded"), [("n", False), ("4", True), ("i", True), ("n * 2", False)]
)
def test_entries_of_which_another_check_rejects_negative_values(entry: str, bounded: bool):
    steps = plan_of(f"f(dims: Shape([{entry}]), n: int64, i: int32)").steps
    assert [step.bounded for step in steps if isinstance(step, s.DecodeEntry)] == [bounded]


def test_optionals_hold_what_none_skips():
    text = "f(t: Optional(Tuple(a: Optional(int32), b: bool)), x: Tensor([n * m], int8), n: int64, m: int64)"
    plan = plan_of(text)
    [outer] = [step for step in plan.steps if isinstance(step, s.DecodeOptional)]
    assert names(outer.inside) == [
        "DecodeTuple t",
        "DecodeOptional t[0]",
        "DecodeScalar t[1]",
        "CheckBool t[1]",
        "Bind t[1]",
    ]
    inner = outer.inside[1]
    assert isinstance(inner, s.DecodeOptional)
    assert names(inner.inside) == ["DecodeScalar t[0]", "Bind t[0]"]
    assert names(plan.late) == ["EqualExpr x.shape[0]"]


@pytest.mark.parametrize("sample", SAMPLES)
def test_steps_and_checks_are_what_back_ends_expect(sample: str):
    plan = plan_of(SAMPLES[sample][0])
    assert {type(step) for step in plan.every_step} <= set(get_args(s.AnyStep))
    assert {type(check) for check in plan} <= set(get_args(s.AnyCheck))


def test_the_samples_have_every_step():
    # A Map cannot be made of raw memory, as the samples are: tests/providers/test_maps.py has them.
    plans = [plan_of(text) for text in (*(t for t, _ in SAMPLES.values()), "f(m: Map(int8, bool))")]
    seen = {type(step) for plan in plans for step in plan.every_step}
    assert seen == set(get_args(s.AnyStep))
