"""The compiled wrapper, with MLIR and without, and its diagnosis run in Python, against the oracle.

Calls that are drawn go to wrappers with MLIR, tricky ones to those without (tests/plain compares
the LLVM IR of both), and in ``make fuzz`` all to all. 666 are drawn; ``FFI_BUILDER_EXAMPLES`` asks for another number, and then every run draws others.
``FFI_BUILDER_OPT_LEVEL=0`` compiles the wrappers at another level than 2.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

import pytest
from hypothesis import Phase, given, settings

from tests.differential.outcome import Outcome
from tests.differential.rows import ROWS, rows_of
from tests.differential.runner import Oracle, Worker, differences
from tests.differential.strategies import LARGE, Case, cases
from tests.differential.tricky import CASES
from tests.support.drawn import drawn

EXAMPLES: Final = os.environ.get("FFI_BUILDER_EXAMPLES")
DRAWN: Final = int(EXAMPLES or drawn(2000))
CALLS: Final = 5
RARE: Final = 75
"""So many rows of docs/checks.md may be missed by 666 calls; 100,000 miss hardly one. Which are
drawn depends on the modules that a process has loaded, from which Hypothesis takes constants."""

many = settings(
    max_examples=max(1, DRAWN // CALLS),
    derandomize=EXAMPLES is None,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=LARGE,
)


@pytest.fixture(scope="module", params=["diagnosed and compiled"])
def workers() -> Iterator[dict[str, Worker]]:
    """All implementations."""
    processes = {name: Worker(name) for name in ("diagnosed", "compiled", "plain")}
    yield processes
    for process in processes.values():
        process.close()


ORACLE: Final = Oracle()


def compare(case: Case, expected: list[Outcome], workers: dict[str, Worker], compiled: str) -> None:
    for name in workers if EXAMPLES else ("diagnosed", compiled):
        worker = workers[name]
        found = list(differences(case, expected, worker.outcomes(case)))
        assert not found, f"{len(found)} calls differ:{''.join(found[:3])}"


def rows_met(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Yield the rows of docs/checks.md that calls meet, or that one is accepted."""
    for outcome in outcomes:
        yield from ["accepted"] if outcome.kind == "accepted" else rows_of(outcome.message)


@pytest.mark.hypothesis
def test_drawn_calls(workers: dict[str, Worker]) -> None:
    """They are of every kind, too: some two in five are accepted, and most rows are met."""
    met: Counter[str] = Counter()

    @many
    @given(case=cases(CALLS))
    def draw(case: Case) -> None:
        expected = ORACLE.outcomes(case)
        compare(case, expected, workers, "compiled")
        met.update([*rows_met(expected), *["calls"] * len(expected)])

    draw()
    if DRAWN >= 600:
        assert 0.3 < met["accepted"] / met["calls"] < 0.6
        assert len(ROWS.keys() - met.keys()) <= RARE, sorted(ROWS.keys() - met.keys())


@cache
def tricky_outcomes(name: str) -> list[Outcome]:
    return ORACLE.outcomes(CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_tricky_calls(workers: dict[str, Worker], name: str) -> None:
    compare(CASES[name], tricky_outcomes(name), workers, "plain")


def test_every_row_is_met_by_the_tricky_calls() -> None:
    met = {row for name in CASES for row in rows_met(tricky_outcomes(name))}
    assert met - {"accepted"} == ROWS.keys()
