"""The plan's interpreter and the compiled wrapper against the oracle, on calls of every kind.

2,000 calls; ``FFI_BUILDER_EXAMPLES`` asks for another number, and then every run draws others.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Final

import pytest
from hypothesis import HealthCheck, Phase, event, given, settings

from tests.differential.runner import Compiled, Interpreter, Oracle, differences
from tests.differential.strategies import Case, cases

EXAMPLES: Final = os.environ.get("FFI_BUILDER_EXAMPLES")
CALLS: Final = 10

many = settings(
    max_examples=max(1, int(EXAMPLES or 2000) // CALLS),
    derandomize=EXAMPLES is None,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def interpreter() -> Interpreter:
    if find_spec("ffi_builder.testing") is None:
        pytest.skip("ffi_builder.testing is not there yet")
    return Interpreter(importlib.import_module("ffi_builder.testing").check_raw)


@pytest.fixture(scope="module")
def compiled() -> Iterator[Compiled]:
    for module in ("torch_mlir", "llvmlite", "tvm_ffi_orcjit"):
        pytest.importorskip(module)
    worker = Compiled()
    yield worker
    worker.close()


def compare(case: Case, implementation: Callable[[Case], list[object]]) -> None: ...
