"""The second form of a plan: neighbouring checks are one step, and an Optional holds its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

import pytest

from ffi_builder import make_plan
from ffi_builder.plan import fuse as f
from ffi_builder.plan import steps as s
from ffi_builder.spec import Signature
from tests.steps.samples import SAMPLES


def fused(text: str) -> f.FusedPlan:
    return make_plan(Signature.parse(text, device="cpu")).fused


def every(steps: Sequence[f.FusedStep]) -> Iterator[f.FusedStep]:
    """All steps, those in Optionals and of elements too."""
    for step in steps:
        yield step
        if isinstance(step, (f.OptionalSpan, f.Elements)):
            yield from every(step.inside)


def names(steps: Sequence[f.FusedStep]) -> list[str]:
    return [f"{type(step).__name__} {step.place}" for step in steps]


def test_a_tensor():
    assert names(fused("f(x: Tensor([n, 4], float32))").steps[2:]) == [
        "TensorHeader x",
        "CheckShapePointer x.shape",
        "Dim x.shape[0]",
        "Bind x.shape[0]",
        "Dim x.shape[1]",
        "EqualInt x.shape[1]",
        "Layout x.strides[0]",
        "TensorData x.data",
    ]


def test_the_header_of_a_tensor():
    text = "f(x: Tensor([], int8), y: Tensor(..., int8 | uint8, device_type=any))"
    steps = fused(text).steps
    first, second = (step for step in steps if isinstance(step, f.TensorHeader))
    assert first.rank == 0
    assert first.device_type is not None
    assert first.same_device is None
    assert second.rank is None
    assert second.device_type is None
    assert second.same_device is not None


def test_other_parameters():
    text = "f(t: Tuple(a: int8), dims: Shape([n]), s: String, p: DataPointer, e: Tuple())"
    assert names(fused(text).steps[2:]) == [
        "Container t",
        "Integer t[0]",
        "Bind t[0]",
        "Container dims",
        "Entry dims[0]",
        "Bind dims[0]",
        "Text s",
        "Pointer p",
        "Container e",
    ]


@pytest.mark.parametrize(
    ("entry", "bounded"), [("n", False), ("4", True), ("i", True), ("n * 2", False)]
)
def test_entries_of_which_another_check_rejects_negative_values(entry: str, bounded: bool):
    steps = fused(f"f(dims: Shape([{entry}]), n: int64, i: int32)").steps
    assert [step.bounded for step in steps if isinstance(step, f.Entry)] == [bounded]


def test_optionals_hold_what_none_skips():
    text = "f(t: Optional(Tuple(a: Optional(int32), b: bool)), x: Tensor([n * m], int8), n: int64, m: int64)"
    plan = fused(text)
    [outer] = [step for step in plan.steps if isinstance(step, f.OptionalSpan)]
    assert names(outer.inside) == [
        "Container t",
        "OptionalSpan t[0]",
        "DecodeScalar t[1]",
        "CheckBool t[1]",
        "Bind t[1]",
    ]
    inner = outer.inside[1]
    assert isinstance(inner, f.OptionalSpan)
    assert names(inner.inside) == ["Integer t[0]", "Bind t[0]"]
    assert names(plan.late) == ["EqualExpr x.shape[0]"]


@pytest.mark.parametrize("sample", SAMPLES)
def test_back_ends_see_fused_steps_alone(sample: str):
    plan = fused(SAMPLES[sample][0])
    for step in every((*plan.steps, *plan.late)):
        assert isinstance(step, get_args(f.FusedStep))


def test_the_samples_have_every_fused_step():
    seen: set[type] = set()
    for text, _ in SAMPLES.values():
        plan = fused(text)
        seen |= {type(step) for step in every((*plan.steps, *plan.late))}
    assert seen == set(get_args(f.FusedStep))


def test_a_step_that_nothing_precedes_is_refused():
    plan = make_plan(Signature.parse("f(x: Tensor([], int8))", device="cpu"))
    [check] = [step for step in plan if isinstance(step, s.CheckOffset)]
    with pytest.raises(AssertionError, match=r"no tensor header before x\.byte_offset"):
        f.fuse([check])
