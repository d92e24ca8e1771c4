"""benchmarks/lists.py runs, and shows each case."""

from __future__ import annotations

import itertools
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

LISTS: Final = Path(__file__).parents[2] / "benchmarks" / "lists.py"
CC: Final = shlex.split(os.environ.get("CC", "cc"))[0]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which(CC) is None, reason=f"needs a C compiler: no {CC}")
@pytest.mark.skipif(shutil.which("ninja") is None, reason="needs ninja")
def test_a_short_run() -> None:
    command = [sys.executable, str(LISTS), "--quick", "--lengths", "1", "64"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines()[2:]]
    ways = itertools.product(
        ("ints", "strs", "lists"), ("1", "64"), ("list", "Array"), ("accepted", "refused")
    )
    assert [tuple(row[:4]) for row in rows] == [*ways]
    assert all(float(figure) > 0 for row in rows for figure in row[4:])
