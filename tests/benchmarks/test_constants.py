"""benchmarks/constants.py runs, with small arrays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

SCRIPT: Final = Path(__file__).parents[2] / "benchmarks" / "constants.py"


@pytest.mark.slow
def test_a_short_run() -> None:
    command = [sys.executable, str(SCRIPT), "--quick", "--rounds", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line.split(" | ")[0].strip("| ") for line in done.stdout.splitlines()[2:]]
    assert rows == [form for form in ("dense", "dense_resource", "llvm_ir") for _ in range(2)]
