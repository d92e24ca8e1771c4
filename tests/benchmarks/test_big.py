"""benchmarks/big.py runs, with kernels of few operations."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

BIG: Final = Path(__file__).parents[2] / "benchmarks" / "big.py"


@pytest.mark.slow
def test_a_short_run() -> None:
    command = [sys.executable, str(BIG), "--operations", "1000", "--rounds", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if " | O" in line]
    assert [row.split(" | ")[0].strip("| ") for row in rows] == [
        kernel for kernel in ("chain", "scalars", "vectors") for _ in range(2)
    ]
