"""benchmarks/jax_calls.py: a quick run, with the handler by hand compiled."""

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

BENCHMARKS: Final = Path(__file__).parents[2] / "benchmarks"
CXX: Final = shlex.split(os.environ.get("CXX", "g++"))[0]
JAX: Final = "needs jax and jax-tvm-ffi: `make test-frameworks` installs them"


@pytest.mark.skipif(shutil.which(CXX) is None, reason=f"needs a C++ compiler: no {CXX}")
def test_a_quick_run_prints_both_tables() -> None:
    pytest.importorskip("jax", reason=JAX)
    pytest.importorskip("jax_tvm_ffi", reason=JAX)
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "jax_calls.py"), "--quick"],
        capture_output=True,
        text=True,
        cwd=BENCHMARKS.parent,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^\| ([^|]+) \| +(-?[\d.]+) \|", done.stdout, re.MULTILINE)
    assert [name for name, _ in rows] == [
        *("a + b", "ffi_builder", "ffi_builder, output first", "XLA handler by hand"),
        *("ffi_builder, without jit", "ffi_builder, output first, without jit"),
        *("ffi_builder", "ffi_builder, output first", "XLA handler by hand"),
    ]
    assert all(float(least) > 0 for _, least in rows[:6])
