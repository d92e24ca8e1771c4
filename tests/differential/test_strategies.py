"""The strategies themselves: what they draw can be sent, and the oracle reads it safely."""

from __future__ import annotations

import pickle

from hypothesis import given, settings

from tests.differential.memory import Memory
from tests.differential.runner import Oracle
from tests.differential.strategies import LARGE, Case, cases


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
