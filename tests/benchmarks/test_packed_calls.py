"""benchmarks/packed_calls.py counts the instructions of each kind of call."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

SCRIPT: Final = Path(__file__).parents[2] / "benchmarks" / "packed_calls.py"


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
def test_every_row_has_a_figure() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    figures = {
        title: int(n) for title, n in re.findall(r"^\| (.+) \| (\d+) \|$", done.stdout, re.M)
    }
    assert len(figures) == 6
    kept, looked_up = "`packed.GlobalFunction`", "`packed.GlobalFunction(…, keep=False)`"
    assert 0 < figures[kept] < figures[looked_up]
