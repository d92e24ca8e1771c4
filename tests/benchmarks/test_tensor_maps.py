"""benchmarks/tensor_maps.py runs, and says what a map costs."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

SCRIPT: Final = Path(__file__).parents[2] / "benchmarks" / "tensor_maps.py"
CC: Final = shlex.split(os.environ.get("CC", "cc"))[0]


@pytest.mark.skipif(shutil.which(CC) is None, reason=f"needs a C compiler: no {CC}")
def test_a_short_run() -> None:
    command = [sys.executable, str(SCRIPT), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines()[2:]]
    assert [row[0] for row in rows] == ["0", "1", "3"]
    assert all(float(row[1]) > 0 for row in rows)
