"""The strategies themselves: what they draw is of every kind, and the oracle reads it safely."""

from __future__ import annotations

import pickle
from collections import Counter

from hypothesis import given, settings

from tests.differential.memory import Memory
from tests.differential.rows import ROWS, rows_of
from tests.differential.runner import Oracle
from tests.differential.strategies import LARGE, Case, cases
from tests.differential.tricky import CASES

RARE = 25
"""So many rows may be missed by 6,000 calls; 100,000 miss hardly one."""


def test_every_kind_of_call_is_drawn() -> None:
    met: Counter[str] = Counter()
    oracle = Oracle()

    @settings(
        max_examples=1200,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=LARGE,
    )
    @given(cases(5))
    def draw(case: Case) -> None:
        for outcome in oracle.outcomes(case):
            met["calls"] += 1
            met.update([outcome.kind] if outcome.kind == "accepted" else rows_of(outcome.message))

    draw()
    assert 0.3 < met["accepted"] / met["calls"] < 0.6
    assert len(ROWS.keys() - met.keys()) <= RARE, sorted(ROWS.keys() - met.keys())


@settings(max_examples=20, derandomize=True, database=None, suppress_health_check=LARGE)
@given(cases(2))
def test_a_case_can_be_sent_to_another_process(case: Case) -> None:
    signature, calls = pickle.loads(pickle.dumps((case.signature, case.calls)))
    assert signature == case.signature
    assert calls == case.calls


@settings(max_examples=50, derandomize=True, database=None, suppress_health_check=LARGE)
@given(cases(2))
def test_the_oracle_changes_nothing(case: Case) -> None:
    memory = Memory()
    for arguments in case.calls:
        memory.place(arguments)
        before = memory.snapshot()
        Oracle().outcomes(case)
        assert memory.snapshot() == before


def test_every_row_is_met_by_the_tricky_calls() -> None:
    oracle = Oracle()
    outcomes = [outcome for case in CASES.values() for outcome in oracle.outcomes(case)]
    rejected = [outcome.message for outcome in outcomes if outcome.kind != "accepted"]
    assert ROWS.keys() == {row for message in rejected for row in rows_of(message)}
