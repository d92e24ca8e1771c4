"""The kernel of examples/triton_aot.py, as Triton has compiled it; make.py says how."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import attach_ffi_func, runtime, spec
from ffi_builder.providers import CudaLaunchCallProvider
from ffi_builder.providers.cuda import Scalar
from tests.cuda.gpu.device import Gpu, Skipped
from tests.cuda.gpu.emulation import softmax
from tests.support.wrapping import new_module

HERE: Final = Path(__file__).parent
CUBIN: Final = (HERE / "softmax.cubin").read_bytes()
LAUNCH: Final[dict[str, Any]] = json.loads((HERE / "softmax.json").read_text())
"""The launch parameters in Triton's metadata."""
WIDEST: Final = 1024

_ROWS, _COLS = spec.Var("rows", "int32"), spec.Var("cols", "int32", max=WIDEST)


def _tensors(*intents: str | None) -> list[spec.Tensor]:
    return [
        spec.Tensor(
            name,
            [_ROWS, _COLS],
            "float32",
            strides=[spec.Var(f"{name}_pitch", "int64", divisibility=16), 1],
            data_alignment=16,
            device_type="cuda",
            intent=intent,
        )
        for name, intent in zip("xy", intents, strict=True)
    ]


def compiled(*, intents: bool = False) -> runtime.CompiledModule:
    """``softmax(x, y)``; with ``intents`` the signature says that y is written."""
    x, y = _tensors("in", "out") if intents else _tensors(None, None)
    module = new_module()
    provider = CudaLaunchCallProvider(
        CUBIN,
        "softmax",
        grid=_ROWS,
        block=32 * LAUNCH["num_warps"],
        args=[x, y, "x_pitch", "y_pitch", _COLS, *[Scalar(0, "handle")] * 2],
        dynamic_smem_bytes=LAUNCH["shared"],
    )
    attach_ffi_func(module, "softmax", [x, y], provider)
    return runtime.compile(module)


def triton_kernel(gpu: Gpu) -> None:
    """Try rows of every length, within wider ones that stay as they are, and one too long."""
    if gpu.capability != (9, 0):
        raise Skipped("the kernel is compiled for sm_90a")
    function = compiled()["softmax"]
    values = np.random.default_rng(0).standard_normal((5, WIDEST + 80), "float32")
    for cols in (1, 1000, WIDEST):
        x, y = gpu.array(values), gpu.array(values)
        function(x.columns(cols), y.columns(cols))
        found = y.host
        np.testing.assert_allclose(found[:, :cols], softmax(values[:, :cols]), rtol=1e-5)
        np.testing.assert_array_equal(found[:, cols:], values[:, cols:])
    x, y = gpu.array(values), gpu.array(values)
    with pytest.raises(ValueError, match=r"expected at most 1024 \(max of cols\) but got 1104"):
        function(x.tensor, y.tensor)
