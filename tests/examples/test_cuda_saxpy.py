"""examples/cuda_saxpy.py, on the fake driver or on a GPU."""

from __future__ import annotations

import pytest

from tests.cuda.images.images import IMAGES
from tests.examples.running import run
from tests.fakecuda import missing

SAXPY = "saxpy(a: float32, x: Tensor([n], float32), y: Tensor([n], float32))"


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
@pytest.mark.parametrize("image", [["cuda13-sm_90.cubin"], []], ids=["cubin", "nvrtc"])
def test_cuda_saxpy_computes_with_and_without_a_gpu(image: list[str]):
    if not image:
        pytest.importorskip("cuda.bindings.nvrtc")
    printed = run("cuda_saxpy.py", *(str(IMAGES / name) for name in image))
    lines = [line for line in printed.splitlines() if "There is no GPU" not in line]
    assert lines[0] == "cubin for sm_90"
    assert lines[-2:] == [
        "largest difference from NumPy: 0.0",
        f"TypeError: Mismatched x.dtype on argument #1 when calling: `{SAXPY}`, "
        "expected float32 but got float64",
    ]
