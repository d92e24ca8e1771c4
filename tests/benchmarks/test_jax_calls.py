"""benchmarks/jax_calls.py: a quick run, with the handler by hand compiled."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from typing import Final

import pytest

from tests.benchmarks import printed_by

CXX: Final = shlex.split(os.environ.get("CXX", "g++"))[0]
JAX: Final = "needs jax and jax-tvm-ffi: `make test-frameworks` installs them"


@pytest.mark.skipif(shutil.which(CXX) is None, reason=f"needs a C++ compiler: no {CXX}")
def test_a_quick_run_prints_both_tables() -> None:
    pytest.importorskip("jax", reason=JAX)
    pytest.importorskip("jax_tvm_ffi", reason=JAX)
    printed = printed_by("jax_calls.py", "--quick")
    rows = re.findall(r"^\| ([^|]+) \| +(-?[\d.]+) \|", printed, re.MULTILINE)
    assert [name for name, _ in rows] == [
        *("a + b", "ffi_builder", "ffi_builder, output first", "XLA handler by hand"),
        *("ffi_builder, without jit", "ffi_builder, output first, without jit"),
        *("ffi_builder", "ffi_builder, output first", "XLA handler by hand"),
    ]
    assert all(float(least) > 0 for _, least in rows[:6])
