"""examples/gpt, in a process of its own: `make test-frameworks`."""

from __future__ import annotations

import re
import shutil

import pytest

from tests.examples.running import CXX, run
from tests.frontends.support import needs


@pytest.mark.skipif(
    shutil.which(CXX) is None, reason=f"torch.compile needs a C++ compiler: no {CXX}"
)
def test_the_model_has_the_logits_of_numpy_in_each_framework() -> None:
    for package in ("torch", "jax", "jax_tvm_ffi"):
        needs(package)
    largest, *printed = run("gpt/main.py", "1").splitlines()
    assert float(largest.rpartition(" ")[2]) > 1
    differences = dict(line.split(": ") for line in printed)
    assert list(differences) == [
        *("NumPy", "NumPy, kernels"),
        *("PyTorch", "PyTorch, kernels", "PyTorch, kernels as operators"),
        *("torch.compile", "torch.compile, kernels"),
        *("jax.jit", "jax.jit, kernels"),
    ]
    # The numbers of float32, and not those of the reference itself.
    assert all(re.fullmatch(r"[1-9]\.\de-0[67]", value) for value in differences.values())
