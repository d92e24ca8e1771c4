"""Random variants: the graph of tests and the compiled wrapper against Python."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ffi_builder import spec
from ffi_builder.providers import when
from ffi_builder.providers.variants import choice
from ffi_builder.spec.expr import Condition
from ffi_builder.spec.properties import Property
from tests.providers.random_conditions import ARRAYS, PARAMS, VALUES, atoms, conditions_of, holds
from tests.providers.variants import choosing
from tests.support.drawn import drawn

pytestmark = pytest.mark.slow


def at_first(conditions: list[Condition]) -> choice.Known:
    """Return what is known before a call in which all parameters are there."""
    return choice.at_first(conditions, partial(Property.numbers, absent=False))


def followed(outcome: choice.Outcome, values: dict[str, int]) -> tuple[int | None, list[Condition]]:
    """Follow a graph for some values; return where it ends, and what it has tested."""
    tested: list[Condition] = []
    while isinstance(outcome, choice.Test):
        tested.append(outcome.atom.made)
        outcome = outcome.yes if holds(outcome.atom.made, values) else outcome.no
    return outcome, tested


@settings(max_examples=200)
@given(st.lists(conditions_of(atoms()), min_size=1, max_size=5), st.data(), st.booleans())
def test_the_graph_chooses_the_first_that_holds(
    conditions: list[Condition], data: st.DataObject, small: bool
) -> None:
    most = 1 if small else choice.MOST_TESTS
    outcome = choice.choose(conditions, at_first(conditions), most=most)
    for _ in range(8):
        values = {name: data.draw(st.sampled_from(some)) for name, some in VALUES.items()}
        expected = next((i for i, c in enumerate(conditions) if holds(c, values)), None)
        found, tested = followed(outcome, values)
        assert found == expected
        if not small:
            assert len(tested) == len(set(tested))


def test_a_graph_that_would_be_too_large_forgets() -> None:
    """Variants that share comparisons in every combination; values are still found."""
    names = [spec.Var(f"v{i}", "bool") for i in range(14)]
    flags = [when.value(var) == True for var in names]  # noqa: E712
    conditions = [a & b for i, a in enumerate(flags) for b in flags[i + 1 :]]
    outcome = choice.choose(conditions, at_first(conditions))
    assert len(choice.tests_of(outcome)) <= 2 * len(conditions)
    for pair in ((0, 1), (3, 9), (12, 13)):
        values = {var.name: int(i in pair) for i, var in enumerate(names)}
        expected = next(i for i, c in enumerate(conditions) if holds(c, values))
        assert followed(outcome, values)[0] == expected


@settings(max_examples=drawn(60))
@given(st.lists(conditions_of(atoms()), min_size=1, max_size=5), st.data())
def test_the_wrapper_chooses_the_first_that_holds(
    conditions: list[Condition], data: st.DataObject
) -> None:
    outcome = choice.choose(conditions, at_first(conditions))
    reached = choice.leaves(outcome)
    conditions = [c for i, c in enumerate(conditions) if i in reached]
    assume(conditions)
    function = choosing(PARAMS, *conditions)
    for _ in range(20):
        values = {name: data.draw(st.sampled_from(some)) for name, some in VALUES.items()}
        expected = next((i for i, c in enumerate(conditions) if holds(c, values)), None)
        array = ARRAYS[values["x.contiguous"]]
        arguments = (values["a"], bool(values["b"]), values["c"], array)
        if expected is not None:
            assert function(*arguments) == expected
            continue
        with pytest.raises(ValueError, match="No variant fits"):
            function(*arguments)


@given(conditions_of(atoms()), st.data())
def test_texts_are_parsed(condition: Condition, data: st.DataObject) -> None:
    parsed = when.parse(str(condition), spec.Signature("f", PARAMS))
    for _ in range(8):
        values = {name: data.draw(st.sampled_from(some)) for name, some in VALUES.items()}
        assert holds(parsed, values) == holds(condition, values)
