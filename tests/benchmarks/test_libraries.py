"""benchmarks/libraries.py runs, and shows each function and each mistake."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec

import pytest

from benchmarks.calling.libraries import FUNCTIONS, HEADERS
from tests.examples.running import ROOT
from tests.wrapping.libraries import needs_header

pytest.importorskip("clang.native")
pytestmark = [needs_header(name) for name in HEADERS]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")
@pytest.mark.skipif(not (find_spec("nanobind") and find_spec("cffi")), reason="needs nanobind")
def test_a_short_run() -> None:
    command = [sys.executable, "-m", "benchmarks.libraries", "--quick"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    times, mistakes = done.stdout.split("\n\n")
    rows = [line.strip("| ").split(" | ") for line in times.splitlines()[2:]]
    assert [row[0] for row in rows] == [*FUNCTIONS]
    assert all(float(figure) > 0 for row in rows for figure in row[1:])
    made = [line.strip("| ").split(" | ") for line in mistakes.splitlines()[2:]]
    assert {ours for _, _, ours, _, _ in made} == {"TypeError", "ValueError"}
    assert all("**" not in ours for _, _, ours, _, _ in made)
