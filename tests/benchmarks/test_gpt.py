"""benchmarks/gpt.py: a quick run, with each model compiled."""

from __future__ import annotations

import re

import pytest

from tests.benchmarks import printed_by
from tests.frontends.support import needs


@pytest.mark.slow
def test_a_quick_run_prints_both_tables() -> None:
    for package in ("torch", "jax", "jax_tvm_ffi"):
        needs(package)
    printed = printed_by("gpt.py", "--quick")
    rows = re.findall(r"^\| ([^|]+) \| +([\d.]*) \|", printed, re.MULTILINE)
    assert [name for name, _ in rows] == [
        *("PyTorch", "PyTorch, kernels", "PyTorch, kernels as operators"),
        *("torch.compile", "torch.compile, kernels", "jax.jit", "jax.jit, kernels"),
        *("rms_norm", "rotate", "gelu", "attention", "matmuls and the rest", "all"),
    ]
    assert [calls for _, calls in rows[7:]] == ["5", "4", "2", "2", "", ""]
