"""benchmarks/plain.py runs, and shows both kinds of modules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

PLAIN: Final = Path(__file__).parents[2] / "benchmarks" / "plain.py"


def test_a_short_run() -> None:
    command = [sys.executable, str(PLAIN), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    rows = [line.split("|")[1:-1] for line in lines if "---" not in line and "plain" not in line]
    titles = [row[0].strip() for row in rows]
    assert titles[:4] == [
        "a new matmul, attach",
        "a new matmul, attach and compile",
        "one of its structure, attach",
        "one of its structure, attach and compile",
    ]
    for row in rows:
        assert all(float(cell) > 0 for cell in row[1:3])
