"""benchmarks/executed.py runs, and says what executed kernels take."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.fakecuda import missing

SCRIPT: Final = Path(__file__).parents[2] / "benchmarks" / "executed.py"

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))


def test_a_short_run() -> None:
    command = [sys.executable, str(SCRIPT), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 11
    assert all(re.search(r" [\d.]+ (ns a thread|ms|s)$", line) for line in lines)
