"""benchmarks/variants.py runs, and more variants take more instructions, but fewer than in C."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

VARIANTS: Final = Path(__file__).parents[2] / "benchmarks" / "variants.py"
CC: Final = shlex.split(os.environ.get("CC", "cc"))[0]
WRAPPERS: Final = ["one", "two", "eight", "dispatcher"]


@pytest.mark.skipif(shutil.which(CC) is None, reason=f"needs a C compiler: no {CC}")
def test_a_short_run() -> None:
    command = [sys.executable, str(VARIANTS), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in done.stdout.splitlines()
        if line.startswith("| ") and "---" not in line
    ]
    times = [row for row in rows if ": " in row[0]][1:]
    cases = ("first", "last", "at random")
    assert [row[0] for row in times] == [f"{case}: {name}" for case in cases for name in WRAPPERS]
    assert all(float(row[1]) > 0 for row in times)
    counts = {row[0]: [int(cell) for cell in row[1:]] for row in rows if row[0] in WRAPPERS}
    if shutil.which("valgrind") is None:
        assert "valgrind is not installed" in done.stdout
        return
    one, two, eight, dispatcher = (sum(counts[name]) for name in WRAPPERS)
    assert one < two < eight < dispatcher
