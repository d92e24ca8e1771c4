"""benchmarks/gpt.py: a quick run, with each model compiled."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.frontends.support import needs

BENCHMARKS: Final = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.slow
def test_a_quick_run_prints_both_tables() -> None:
    for package in ("torch", "jax", "jax_tvm_ffi"):
        needs(package)
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "gpt.py"), "--quick"],
        capture_output=True,
        text=True,
        cwd=BENCHMARKS.parent,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^\| ([^|]+) \| +([\d.]*) \|", done.stdout, re.MULTILINE)
    assert [name for name, _ in rows] == [
        *("PyTorch", "PyTorch, kernels", "PyTorch, kernels as operators"),
        *("torch.compile", "torch.compile, kernels", "jax.jit", "jax.jit, kernels"),
        *("rms_norm", "rotate", "gelu", "attention", "matmuls and the rest", "all"),
    ]
    assert [calls for _, calls in rows[7:]] == ["5", "4", "2", "2", "", ""]
