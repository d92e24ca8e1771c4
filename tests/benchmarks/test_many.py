"""benchmarks/many.py runs, with few modules."""

from __future__ import annotations

import pytest

from tests.benchmarks import printed_by


@pytest.mark.slow
def test_a_short_run() -> None:
    printed = printed_by("many.py", "--quick", "--workers", "2")
    rows = [line.split(" | ")[0].strip("| ") for line in printed.splitlines() if " | " in line]
    assert rows[2:5] == ["wrappers", "loops, O3", "tiled matmuls, with MLIR's passes"]
    assert rows[-2:] == ["a pool, started", "a pool, running"]
