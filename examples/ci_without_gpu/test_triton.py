# pyright: basic, reportMissingImports=false
"""Test a kernel of Triton's, and how it is launched, without a GPU: `pytest test_triton.py`."""

import importlib.util
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ffi_builder import Launch, spec, testing, wrap

HERE = Path(__file__).parent
BLOCK = 1024
SIGNATURE = spec.Signature.parse(
    "axpy(x: Tensor([n], float32, intent=in, data_alignment=16), "
    "y: Tensor([n], float32, intent=inout, data_alignment=16), a: float32) where n: int32",
    device="cuda",
)
# The parameters of the kernel. Triton appends two pointers to scratch memory.
TYPES = ["float32*", "float32*", "int32", "float32", "handle", "handle"]


def compiled():
    """Return what triton.compile returns, or what `python triton_kernel.py` has saved of it.

    The PTX is executed; a cubin, which only a GPU can run, would be launched instead of it.
    """
    if importlib.util.find_spec("triton"):
        from triton_kernel import compile_kernel

        kernel = compile_kernel()
        return SimpleNamespace(asm={"ptx": kernel.asm["ptx"]}, metadata=kernel.metadata)
    metadata = json.loads((HERE / "axpy.json").read_text())
    ptx = (HERE / "axpy.ptx").read_text()
    return SimpleNamespace(asm={"ptx": ptx}, metadata=SimpleNamespace(**metadata))


@pytest.fixture(scope="module")
def axpy():
    launch = Launch(grid=f"ceildiv(n, {BLOCK})")
    return wrap(compiled(), SIGNATURE, launch=launch, args=["x", "y", "n", "a"])["axpy"]


def test_the_launch(gpu, axpy):
    x, y = (gpu.array(np.ones(3000, "float32")) for _ in "xy")
    axpy(x, y, 0.5)
    [launch] = gpu.launches
    assert (launch.kernel, launch.grid, launch.block) == ("axpy", (3, 1, 1), (128, 1, 1))
    assert launch.values(TYPES) == [x.address, y.address, 3000, 0.5, 0, 0]


def test_a_wrong_argument_is_refused(gpu, axpy):
    x, y = (gpu.array(np.ones(3000, "float32")) for _ in "xy")
    with pytest.raises(ValueError, match=r"Mismatched y.shape\[0\] .* expected 3000"):
        axpy(x, y[1:], 0.5)
    with pytest.raises(ValueError, match=r"address aligned to 16 bytes \(data_alignment of x\)"):
        axpy(x[1:], y[1:], 0.5)
    assert not gpu.launches


def test_random_arguments_give_what_numpy_gives(gpu, axpy):
    testing.check_kernel(axpy, SIGNATURE, lambda x, y, a: y + a * x)
