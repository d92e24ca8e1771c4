"""The diagnosis in C, compiled for sanitizers, on calls of every kind and at its limits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.support_code import test_functions
from tests.support_code.diagnosis_checks import CHECKS
from tools import plan_header as header

ROOT: Final = Path(__file__).parents[2]
OPTIONS: Final = {
    # Python keeps memory until the end.
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}
# tvm-ffi would import PyTorch, which takes more memory than `LITTLE` allows.
WITHOUT_TORCH: Final = """
import runpy, sys
sys.modules["torch"] = None
runpy.run_module("tests.support_code.diagnosis_checks", run_name="__main__")
"""
LITTLE: Final = ":max_allocation_size_mb=1"
TIMEOUT: Final = 300
"""Seconds; going through all pairs of long lists takes longer."""

library = test_functions.library
sanitizer = test_functions.sanitizer


@pytest.mark.slow
@pytest.mark.hypothesis  # `make fuzz` draws all
@pytest.mark.parametrize("name", CHECKS)
def test_calls(name: str, library: Path, sanitizer: str) -> None:
    options = {**OPTIONS, "LD_PRELOAD": sanitizer}
    if name == "no_memory":
        options["ASAN_OPTIONS"] += LITTLE
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, str(library), name],
        cwd=ROOT,
        env={**os.environ, **options},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert done.returncode == 0, done.stderr[-5000:]


def test_the_header_is_that_of_the_table() -> None:
    """``make support`` writes it."""
    there = ROOT / "ffi_builder" / "support" / "plan.h"
    assert there.read_text() == header.text()
