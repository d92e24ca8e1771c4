"""benchmarks/startup.py runs, and each row has a time for each step."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

STARTUP: Final = Path(__file__).parents[2] / "benchmarks" / "startup.py"


def test_a_short_run() -> None:
    command = [sys.executable, str(STARTUP), "--rounds", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if "–" in line]
    assert [row[0] for row in rows] == [
        *("ffi_builder", "llvmlite and orcjit alone"),
        *("ffi_builder", "wrap", "wrap", "ffi_builder.spec", "as it is", "with PyTorch hidden"),
    ]
    for row in rows:
        assert all(float(cell.split()[0]) >= 0 for cell in row[1:]), row
