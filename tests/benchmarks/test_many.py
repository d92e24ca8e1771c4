"""benchmarks/many.py runs, with few modules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

MANY: Final = Path(__file__).parents[2] / "benchmarks" / "many.py"


@pytest.mark.slow
def test_a_short_run() -> None:
    command = [sys.executable, str(MANY), "--quick", "--workers", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line.split(" | ")[0].strip("| ") for line in done.stdout.splitlines() if " | " in line]
    assert rows[2:5] == ["wrappers", "loops, O3", "tiled matmuls, with MLIR's passes"]
    assert rows[-2:] == ["a pool, started", "a pool, running"]
