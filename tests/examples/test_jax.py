"""examples/jax_softmax, in a process of its own: `make test-frameworks`."""

from __future__ import annotations

import shutil

import pytest

from tests.examples.running import CC, run
from tests.frontends.support import needs


@pytest.mark.skipif(shutil.which(CC) is None, reason=f"needs a C compiler: no {CC}")
def test_a_training_step_is_as_with_the_softmax_of_jax() -> None:
    needs("jax")
    needs("jax_tvm_ffi")
    loss, error = run("jax_softmax/train.py").splitlines()
    words = loss.replace(",", "").split()
    before, after, expected = float(words[1]), float(words[3]), float(words[-1])
    assert after < before / 2
    assert after == pytest.approx(expected, abs=1e-3)
    assert error == (
        "ValueError: Mismatched x.ndim on argument #0 when calling: `softmax(x: Tensor([rows, "
        "columns], float32), y: Tensor([rows, columns], float32))`, expected 2 but got 1"
    )
