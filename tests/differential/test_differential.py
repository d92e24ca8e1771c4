"""The compiled wrapper, and its diagnosis run in Python, against the oracle, on calls of every kind.

2,000 calls; ``FFI_BUILDER_EXAMPLES`` asks for another number, and then every run draws others.
``FFI_BUILDER_OPT_LEVEL=0`` compiles the wrappers at another level than 2.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

import pytest
from hypothesis import Phase, currently_in_test_context, event, given, settings

from tests.differential.runner import Oracle, Worker, differences
from tests.differential.strategies import LARGE, Case, cases
from tests.differential.tricky import CASES

EXAMPLES: Final = os.environ.get("FFI_BUILDER_EXAMPLES")
CALLS: Final = 10

many = settings(
    max_examples=max(1, int(EXAMPLES or 2000) // CALLS),
    derandomize=EXAMPLES is None,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=LARGE,
)


@pytest.fixture(scope="module", params=["diagnosed", "compiled"])
def worker(request: pytest.FixtureRequest) -> Iterator[Worker]:
    """Each implementation."""
    if request.param == "compiled":
        for module in ("torch_mlir", "llvmlite", "tvm_ffi_orcjit"):
            pytest.importorskip(module)
    process = Worker(request.param)
    yield process
    process.close()


ORACLE: Final = Oracle()


def note_kind(kind: str) -> None:
    """For ``--hypothesis-show-statistics``."""
    if currently_in_test_context():
        event(kind)


def compare(case: Case, worker: Worker) -> None:
    expected = ORACLE.outcomes(case)
    for outcome in expected:
        note_kind(outcome.kind)
    found = list(differences(case, expected, worker.outcomes(case)))
    assert not found, f"{len(found)} calls differ:{''.join(found[:3])}"


@many
@given(case=cases(CALLS))
def test_drawn_calls(worker: Worker, case: Case) -> None:
    compare(case, worker)


@pytest.mark.parametrize("name", CASES)
def test_tricky_calls(worker: Worker, name: str) -> None:
    compare(CASES[name], worker)
