"""Wrapping a kernel and launching it on the fake driver, in one line each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tvm_ffi

from ffi_builder import runtime, spec
from ffi_builder.providers import CudaLaunchCallProvider
from tests.fakecuda import DeviceArray, FakeDriver, KernelImage, Launch, make_cubin
from tests.support.wrapping import attached

STREAM = spec.Stream("stream")
N = spec.Var("n", "int64")
X = spec.Tensor("x", [N], "float32", device_type="cuda")
SAXPY_PARAMS = [
    spec.Var("a", "float32"),
    X,
    spec.Tensor("y", [N], "float32", device_type="cuda"),
    spec.Var("count", "int32"),
    STREAM,
]
"""The parameters of ``kernels.SAXPY``."""


def provider(kernel: KernelImage, /, **options: Any) -> CudaLaunchCallProvider:
    """A provider for a cubin with one kernel; a single thread if ``options`` say nothing else."""
    every: dict[str, Any] = {"image": make_cubin([kernel]), "grid": 1, "block": 1, **options}
    image = every.pop("image")
    return CudaLaunchCallProvider(image, kernel.name, **every)


def compiled(
    kernel: KernelImage, params: Sequence[spec.Param], /, **options: Any
) -> runtime.CompiledModule:
    """A module with a wrapper ``f`` that launches the kernel."""
    return runtime.compile(attached(params, provider(kernel, **options)))


def wrap(kernel: KernelImage, params: Sequence[spec.Param], /, **options: Any) -> tvm_ffi.Function:
    """The wrapper alone."""
    return compiled(kernel, params, **options)["f"]


def array(driver: FakeDriver, device: int = 0) -> Any:
    """A tensor of four elements."""
    return DeviceArray(driver, (4,), "float32", device).tensor()


def launched(
    driver: FakeDriver,
    kernel: KernelImage,
    params: Sequence[spec.Param],
    /,
    *arguments: Any,
    **options: Any,
) -> Launch:
    """Wrap, call once, and return the only launch."""
    before = len(driver.launches())
    wrap(kernel, params, **options)(*arguments)
    [found] = driver.launches()[before:]
    return found
