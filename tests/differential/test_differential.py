"""The plan's interpreter and the compiled wrapper against the oracle, on calls of every kind.

2,000 calls; ``FFI_BUILDER_EXAMPLES`` asks for another number, and then every run draws others.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from typing import Final

import pytest
from hypothesis import Phase, event, given, settings

from tests.differential.runner import (
    Compiled,
    Implementation,
    Interpreter,
    Oracle,
    differences,
)
from tests.differential.strategies import LARGE, Case, cases

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


@pytest.fixture(scope="module")
def interpreter() -> Interpreter:
    testing = importlib.import_module("ffi_builder.testing")
    if not hasattr(testing, "check_raw"):
        pytest.skip("ffi_builder.testing.check_raw is not there yet")
    return Interpreter(testing.check_raw)


@pytest.fixture(scope="module")
def compiled() -> Iterator[Compiled]:
    for module in ("torch_mlir", "llvmlite", "tvm_ffi_orcjit"):
        pytest.importorskip(module)
    worker = Compiled()
    yield worker
    worker.close()


ORACLE: Final = Oracle()


def compare(case: Case, implementation: Implementation) -> None:
    expected = ORACLE.outcomes(case)
    for outcome in expected:
        event(outcome.kind)
    found = list(differences(case, expected, implementation.outcomes(case)))
    assert not found, found[0]


@many
@given(case=cases(CALLS))
def test_interpreter(interpreter: Interpreter, case: Case) -> None:
    compare(case, interpreter)


@many
@given(case=cases(CALLS))
def test_compiled(compiled: Compiled, case: Case) -> None:
    compare(case, compiled)
