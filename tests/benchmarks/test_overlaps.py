"""benchmarks/overlaps.py runs, and shows each case."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

OVERLAPS: Final = Path(__file__).parents[2] / "benchmarks" / "overlaps.py"
CC: Final = shlex.split(os.environ.get("CC", "cc"))[0]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which(CC) is None, reason=f"needs a C compiler: no {CC}")
def test_a_short_run() -> None:
    command = [sys.executable, str(OVERLAPS), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines()[2:]]
    orders = ("one by one", "in random order")
    assert list(dict.fromkeys(row[0] for row in rows)) == [
        f"{length}, {order}" for length in (1, 10, 100, 1000) for order in orders
    ]
    compared = ["nothing", "z with xs and ys", "xs with each other, ys and z"]
    assert [row[1] for row in rows] == compared * 8
    assert all(float(row[2]) > 0 for row in rows)
