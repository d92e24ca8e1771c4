"""benchmarks/overlaps.py runs, and shows each case."""

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

OVERLAPS: Final = Path(__file__).parents[2] / "benchmarks" / "overlaps.py"
CC: Final = shlex.split(os.environ.get("CC", "cc"))[0]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which(CC) is None, reason=f"needs a C compiler: no {CC}")
def test_a_short_run() -> None:
    command = [sys.executable, str(OVERLAPS), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    compared, refused = done.stdout.split("\n\n")
    rows = [line.strip("| ").split(" | ") for line in compared.splitlines()[2:]]
    orders = ("one by one", "in random order")
    assert list(dict.fromkeys(row[0] for row in rows)) == [
        f"{length}, {order}" for length in (1, 10, 100, 1000) for order in orders
    ]
    cases = ["nothing", "z with xs and ys", "xs with each other, ys and z"]
    assert [row[1] for row in rows] == cases * 8
    assert all(float(row[2]) > 0 for row in rows)
    rows = [line.strip("| ").split(" | ") for line in refused.splitlines()[2:]]
    lists = (f"{length} vectors" for length in ("10", "1,000", "100,000"))
    labels = ["an int32", *(f"{some}, {order}" for some, order in itertools.product(lists, orders))]
    assert [row[:2] for row in rows] == [
        [*way] for way in itertools.product(labels, ("wrapper", "check"))
    ]
