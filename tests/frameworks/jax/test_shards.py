"""Functions of JAX within ``jax.shard_map``: as functions of JAX itself, or refused as they are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.frameworks.jax.shards import CASES, GRADIENTS
from tests.runtime.samples import run_child

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, Any]]:
    """The outcome of each case, by kind of functions."""
    done = run_child("from tests.frameworks.jax.shards import main; main()")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("kind", ["no rules", "rules", "rules, not jitted"])
@pytest.mark.parametrize("case", CASES)
def test_results(found: dict[str, dict[str, Any]], kind: str, case: str) -> None:
    assert isinstance(found["plain"][case], list)
    assert found[kind][case] == found["plain"][case]


@pytest.mark.parametrize("case", ["a batch within", "a batch outside"])
def test_batching_rules(found: dict[str, dict[str, Any]], case: str) -> None:
    assert found["batched"][case] == found["plain"][case]


@pytest.mark.parametrize("kind", ["rules", "rules, not jitted"])
@pytest.mark.parametrize("case", GRADIENTS)
def test_gradients(found: dict[str, dict[str, Any]], kind: str, case: str) -> None:
    assert isinstance(found["plain"][case], list)
    assert found[kind][case] == found["plain"][case]


@pytest.mark.parametrize("case", [*GRADIENTS, "tangents"])
def test_derivatives_without_a_rule(found: dict[str, dict[str, Any]], case: str) -> None:
    assert " has no derivative; give vjp=(forward, backward)" in found["no rules"][case]


@pytest.mark.parametrize("kind", ["plain", "no rules", "rules", "rules, not jitted"])
def test_results_that_differ_between_devices_are_not_one(
    found: dict[str, dict[str, Any]], kind: str
) -> None:
    assert "out_specs which require replication" in found[kind]["sharded results as one"]


def test_rules_that_sum_over_devices_are_refused(found: dict[str, dict[str, Any]]) -> None:
    error = found["summing"]["of a replicated operand"]
    assert "output[1]" in error
    assert "float32[2] corresponding to an input of type float32[2]{V:i}" in error


def test_the_axes_in_the_text_of_a_type() -> None:
    """What is read where JAX has neither of the attributes that have had them so far."""
    done = run_child("from tests.frameworks.jax.shards import show_axes; show_axes()")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[] []", "['i'] ['i']", "['i', 'j'] ['i', 'j']"]
