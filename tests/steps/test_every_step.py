"""Every step that can fail does, in the words that the oracle says.

The wrapper and ``testing.check_raw`` raise the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from ffi_builder import attach, runtime, spec
from ffi_builder.diagnosis.check import check_raw
from ffi_builder.plan import make_plan
from ffi_builder.plan import steps as s
from ffi_builder.providers import NopCallProvider
from ffi_builder.spec.places import symbols_of_elements
from tests.differential.description import Arguments
from tests.differential.memory import shared
from tests.errors.page import pattern
from tests.oracle import Rejected
from tests.rules.calls import verdict
from tests.steps.broken import Breaker
from tests.steps.right import Right
from tests.steps.samples import SAMPLES
from tests.support.wrapping import RawWrapper, new_module

SIGNATURES = {name: spec.Signature.parse(text, device="cpu") for name, (text, _) in SAMPLES.items()}


@dataclass(frozen=True)
class Step:
    """A step of a sample's plan, and a call in which it fails, if one is known."""

    sample: str
    step: s.AnyCheck
    given: Arguments | None


def steps() -> Iterator[tuple[str, Step]]:
    for sample, (_, values) in SAMPLES.items():
        breaker = Breaker(make_plan(SIGNATURES[sample]), Right(values))
        for number, (step, given) in enumerate(breaker.every()):
            yield f"{sample} {number} {step.place}", Step(sample, step, given)


STEPS = dict(steps())


@pytest.fixture(scope="module")
def wrappers() -> dict[str, RawWrapper]:
    """Those of the samples, in one module."""
    module = new_module()
    for number, signature in enumerate(SIGNATURES.values()):
        attach(module, signature, NopCallProvider(), symbol_name=f"f{number}")
    compiled = runtime.compile(module)
    return {sample: RawWrapper(compiled, f"f{number}") for number, sample in enumerate(SAMPLES)}


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_right_call_is_accepted(sample: str):
    signature, (_, values) = SIGNATURES[sample], SAMPLES[sample]
    given = Arguments(Right(values).arguments(signature))
    found = check_raw(signature, shared().place(given), given.count)
    assert found == {name: value for name, value in values.items() if name in found}
    of_elements = {var.name for var in symbols_of_elements(signature.params)}
    assert found.keys() == values.keys() - of_elements


@pytest.mark.parametrize("name", [name for name, each in STEPS.items() if each.given])
def test_the_step_fails(name: str, wrappers: dict[str, RawWrapper]):
    sample, step, given = STEPS[name].sample, STEPS[name].step, STEPS[name].given
    assert given is not None
    found = verdict(SIGNATURES[sample], wrappers[sample], given)
    assert isinstance(found, Rejected)
    assert found.kind == step.error.kind
    assert pattern(step.error).fullmatch(found.message)
    argument = rf" on argument #{step.place.argument}" if step.place.argument >= 0 else ""
    subject = re.escape(f"{step.error.prefix}{step.place}")
    assert re.match(rf"Mismatched {subject}(\[0\])?{argument} when", found.message)


def test_only_these_cannot_fail_here():
    """Values that the earlier steps have made sure of, or that would take an odd symbol."""
    unbroken = {type(each.step) for each in STEPS.values() if each.given is None}
    assert unbroken <= {s.CheckNumel, s.Fits, s.Solve, s.CheckShapePointer}


def test_all_words_are_said():
    said = {each.step.error for each in STEPS.values() if each.given is not None}
    others = {s.EqualExpr.overflow, s.CheckCondition.overflow, s.CheckCondition.of_several}
    assert set(s.named_words().values()) - said == others
