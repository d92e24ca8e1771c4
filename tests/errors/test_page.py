"""docs/errors.md has every message, and each is what the call raises."""

from __future__ import annotations

import ast
import traceback
from pathlib import Path

import pytest

from ffi_builder import spec
from ffi_builder.plan.steps import named_words
from tests.errors.cases import Case
from tests.errors.page import CASES, PAGE, Functions, pattern, spec_error, text
from tests.errors.specs import SPECS


@pytest.fixture(scope="module")
def functions() -> Functions:
    return Functions()


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}-{case.call}")
def test_it_is_the_message_that_is_meant(case: Case, functions: Functions):
    kind, message = functions.error(case)
    assert kind == case.words.kind
    assert pattern(case.words).fullmatch(message)


def test_no_words_are_left_out():
    assert {case.words for case in CASES} == set(named_words().values())


def test_every_place_that_refuses_a_spec_does_so_here():
    """Each ``raise SpecError`` of spec, but for those of texts."""
    raised = {place for calls in SPECS.values() for call in calls for place in places(call)}
    written = {
        (path.name, node.lineno)
        for path in Path(spec.__file__).parent.rglob("*.py")
        if not path.name.startswith(("parse", "tokens"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Raise) and "SpecError" in ast.unparse(node)
    }
    assert written - raised == set()


def places(call: str) -> set[tuple[str, int]]:
    """Files of spec, and the lines that raise the error of this call, or what it was made of."""
    error: BaseException | None = spec_error(call)
    found: set[tuple[str, int]] = set()
    while error is not None:
        frames = traceback.extract_tb(error.__traceback__)
        found |= {(Path(frame.filename).name, frame.lineno or 0) for frame in frames}
        error = error.__context__
    return found


def test_the_page(request: pytest.FixtureRequest, functions: Functions):
    if request.config.getoption("--update-errors"):
        PAGE.write_text(text(functions))
    assert PAGE.read_text() == text(functions), "pytest tests/errors --update-errors writes it anew"
