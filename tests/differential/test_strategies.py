"""The strategies themselves: what they draw can be sent, and the oracle reads it safely."""

from __future__ import annotations

import pickle

from hypothesis import given, settings

from tests.differential.memory import Memory
from tests.differential.runner import Oracle
from tests.differential.strategies import LARGE, Case, cases
from tests.support.drawn import drawn


@settings(max_examples=drawn(50), derandomize=True, database=None, suppress_health_check=LARGE)
@given(cases(2))
def test_a_case_is_sent_to_another_process_and_the_oracle_changes_nothing(case: Case) -> None:
    signature, calls = pickle.loads(pickle.dumps((case.signature, case.calls)))
    assert (signature, calls) == (case.signature, case.calls)
    memory = Memory()
    for arguments in case.calls:
        memory.place(arguments)
        before = memory.snapshot()
        Oracle().outcomes(case)
        assert memory.snapshot() == before
