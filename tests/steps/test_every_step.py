"""Every step that can fail does, in the wrapper and in ``testing.check_raw``, in the same words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from ffi_builder import spec
from ffi_builder.diagnosis.check import check_raw
from ffi_builder.plan import make_plan
from ffi_builder.plan import steps as s
from ffi_builder.spec import outline
from ffi_builder.spec.places import symbols_of_elements
from tests.builder.messages.failing import Failure, check_both, compile_all
from tests.differential.description import Arguments
from tests.differential.memory import shared
from tests.steps.broken import Breaker, Broken
from tests.steps.right import Right
from tests.steps.samples import SAMPLES
from tests.support.wrapping import RawWrapper


@dataclass(frozen=True)
class Step:
    """A step of a sample's plan, and a call in which it fails, if one is known."""

    signature: spec.Signature
    step: s.AnyCheck
    broken: Broken | None


def steps() -> Iterator[tuple[str, Step]]:
    for name, (text, values) in SAMPLES.items():
        signature = spec.Signature.parse(text, device="cpu")
        breaker = Breaker(make_plan(signature), Right(values))
        for number, (step, broken) in enumerate(breaker.every()):
            yield f"{name} {number} {step.place}", Step(signature, step, broken)


STEPS = dict(steps())
FAILURES = {
    name: Failure(
        given.signature.params,
        given.broken.given,
        given.step.error.kind,
        given.broken.subject
        + (f" on argument #{given.step.place.argument}" if given.step.place.argument >= 0 else ""),
        outline(given.signature),
        given.broken.expected,
        given.broken.got,
        given.signature.where,
        given.signature.no_overlap,
    )
    for name, given in STEPS.items()
    if given.broken is not None
}


@pytest.fixture(scope="module")
def wrappers() -> dict[str, RawWrapper]:
    return compile_all(FAILURES)


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_right_call_is_accepted(sample: str):
    text, values = SAMPLES[sample]
    signature = spec.Signature.parse(text, device="cpu")
    given = Arguments(Right(values).arguments(signature))
    found = check_raw(signature, shared().place(given), given.count)
    assert found == {name: value for name, value in values.items() if name in found}
    of_elements = {var.name for var in symbols_of_elements(signature.params)}
    assert found.keys() == values.keys() - of_elements


@pytest.mark.parametrize("name", FAILURES)
def test_the_step_fails(name: str, wrappers: dict[str, RawWrapper]):
    check_both(FAILURES[name], wrappers[name])


def test_only_these_cannot_fail_here():
    """Values that the earlier steps have made sure of, or that would take an odd symbol."""
    unbroken = {type(given.step) for given in STEPS.values() if given.broken is None}
    assert unbroken <= {s.CheckNumel, s.Fits, s.Solve, s.CheckShapePointer}


def test_all_words_are_said():
    said = {given.step.error for given in STEPS.values() if given.broken is not None}
    others = {s.EqualExpr.overflow, s.CheckCondition.overflow, s.CheckCondition.of_several}
    assert set(s.named_words().values()) - said == others
