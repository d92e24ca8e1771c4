"""Wheels of kernels that launch an image."""

from __future__ import annotations

from pathlib import Path

import pytest

from ffi_builder import Launch, wrap
from tests.cuda.images.images import image
from tests.packaging.environments import Environment
from tests.packaging.wheels import content, made
from tests.runtime.samples import needs_cc

pytestmark = needs_cc


@pytest.mark.slow
def test_kernels_for_cuda(tmp_path: Path):
    text = "saxpy(a: float32, x: Tensor([n], float32), y: Tensor([n], float32)) where n: int32"
    launch = Launch(grid="ceildiv(n, 256)", block=256)
    args = ["a", "x", "y", "n"]
    module = wrap(image("cuda13-sm_90.cubin"), text, args=args, device="cuda", launch=launch)
    wheel = made(tmp_path / "dist", module)  # imported without a driver
    assert "preload" not in content(wheel)["my_kernels/__init__.pyi"].decode()
    user = Environment(tmp_path / "environment")
    user.unpack(wheel)
    code = (
        "import my_kernels; print(my_kernels.__all__, my_kernels._library['_cuda_preload_saxpy'])"
    )
    assert user.run(code) == "['saxpy'] ffi.Function\n"
