"""benchmarks/floor.py runs, and its parts are parts."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

FLOOR: Final = Path(__file__).parents[2] / "benchmarks" / "floor.py"
CC: Final = shlex.split(os.environ.get("CC", "cc"))[0]


@pytest.mark.skipif(shutil.which(CC) is None, reason=f"needs a C compiler: no {CC}")
def test_a_short_run() -> None:
    command = [sys.executable, str(FLOOR), "--rounds", "5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    _, _, *rows = done.stdout.splitlines()
    titles = [row.split("|")[1].strip() for row in rows]
    assert titles == ["scalar, nop", "mm, nop", "t8_strided, nop", "t8_strided, pointers"]
    for row in rows:
        times = [float(text) for text in re.findall(r"\d+\.\d+", row)]
        shares = [int(text) for text in re.findall(r"(\d+) %", row)]
        assert (len(times), len(shares)) == (5, 3)
        assert all(time > 0 for time in times)
        assert all(0 < share < 100 for share in shares)
