# pyright: basic
"""Test a kernel of TileLang's, and how it is launched, without a GPU: `pytest test_tilelang.py`.

`python tilelang_kernel.py` has compiled it, in TileLang's own environment.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from ffi_builder import Launch, spec, testing, wrap

HERE = Path(__file__).parent
SAVED = json.loads((HERE / "scale.json").read_text())
# TileLang does not say what is read and written, but check_kernel asks for it.
SIGNATURE = spec.Signature.parse(SAVED["signature"]).with_params(
    x={"intent": "in"}, y={"intent": "out"}
)


@pytest.fixture(scope="module")
def scale():
    launch = Launch(grid=SAVED["grid"], block=SAVED["block"])
    options = {"function": SAVED["function"], "args": SAVED["args"], "launch": launch}
    return wrap((HERE / "scale.ptx").read_text(), SIGNATURE, **options)["scale"]


def test_the_launch(gpu, scale):
    x, y = (gpu.array(np.ones((9, 128), "float32")) for _ in "xy")
    scale(x, y, 3.0)
    [launch] = gpu.launches
    assert (launch.grid, launch.block, launch.shared) == ((3, 1, 1), (128, 1, 1), 0)
    expected = [x.address, y.address, 3.0, 9]
    assert launch.values(["handle", "handle", "float32", "int32"]) == expected


def test_a_wrong_argument_is_refused(gpu, scale):
    x, y = (gpu.array(np.ones((9, 128), "float32")) for _ in "xy")
    with pytest.raises(ValueError, match=r"Mismatched y.shape\[1\] .* expected 128 but got 64"):
        scale(x, y[:, :64], 3.0)
    with pytest.raises(TypeError, match=r"Mismatched x.dtype .* expected float32 but got int32"):
        scale(gpu.array(np.ones((9, 128), "int32")), y, 3.0)
    assert not gpu.launches


def test_random_arguments_give_what_numpy_gives(gpu, scale):
    testing.check_kernel(scale, SIGNATURE, lambda x, y, by: x * by)
