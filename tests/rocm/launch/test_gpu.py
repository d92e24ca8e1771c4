"""The cases of ``make test-rocm-gpu``, on the fake, which runs the kernels as functions in Python."""

from __future__ import annotations

from typing import Any

import pytest

from ffi_builder import testing
from ffi_builder.fakehip.build import missing
from tests.rocm.gpu.cases import CASES
from tests.rocm.gpu.device import Gpu, Skipped
from tests.rocm.images.llvm import LINKER

pytestmark = [
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.skipif(LINKER is None, reason="needs ld.lld (Debian's lld-19)"),
]


@pytest.mark.parametrize("name", CASES)
def test_on_the_fake(name: str):
    with testing.FakeHip("gfx942", "gfx942") as gpu:

        @gpu.kernel("saxpy", ["float32", "float32*", "float32*", "int32"])
        def saxpy(_: Any, a: float, x: Any, y: Any, n: int) -> None:  # pyright: ignore[reportUnusedFunction]
            y[:n] += a * x[:n]

        types = ["int8", "int16", "int32", "int64", "float32", "float64", "float64*"]

        @gpu.kernel("widths", types)
        def widths(_: Any, *values: Any) -> None:  # pyright: ignore[reportUnusedFunction]
            values[-1][:6] = values[:-1]

        try:
            CASES[name](Gpu.of_this_process())
        except Skipped as skipped:
            pytest.skip(str(skipped))
