"""benchmarks/live.py runs, with few functions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

SCRIPT: Final = Path(__file__).parents[2] / "benchmarks" / "live.py"


@pytest.mark.slow
def test_a_short_run() -> None:
    command = [sys.executable, str(SCRIPT), "--counts", "60", "--exported", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line.split(" | ")[0].strip("| ") for line in done.stdout.splitlines()]
    assert rows[2:4] == ["the same", "each its own"]
    assert rows[5] == "functions in a library"
    assert rows[7] == "3"
