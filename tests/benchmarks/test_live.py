"""benchmarks/live.py runs, with few functions."""

from __future__ import annotations

import pytest

from tests.benchmarks import printed_by


@pytest.mark.slow
def test_a_short_run() -> None:
    printed = printed_by("live.py", "--counts", "60", "--exported", "3")
    rows = [line.split(" | ")[0].strip("| ") for line in printed.splitlines()]
    assert rows[2:4] == ["the same", "each its own"]
    assert rows[5] == "functions in a library"
    assert rows[7] == "3"
