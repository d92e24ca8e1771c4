"""The scripts of benchmarks/ run, in their shortest forms."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

BENCHMARKS: Final = Path(__file__).parents[2] / "benchmarks"


def printed_by(script: str, *options: str) -> str:
    """Run a script of benchmarks/, and return what it prints."""
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / script), *options],
        capture_output=True,
        text=True,
        cwd=BENCHMARKS.parent,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
