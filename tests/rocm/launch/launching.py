"""Wrapping a kernel and launching it on the fake HIP library, in one line each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ffi_builder import runtime, spec
from ffi_builder.fakecuda.records import Launch
from ffi_builder.fakehip.driver import FakeHipDriver
from ffi_builder.providers import RocmLaunchCallProvider
from tests.fakecuda.memory import DeviceArray
from tests.rocm.code_objects import POINTER, CodeKernel, code_object
from tests.support.wrapping import attached

STREAM = spec.Stream("stream")
N = spec.Var("n", "int64")
X = spec.Tensor("x", [N], "float32", device_type="rocm")
ADD = CodeKernel("add", [(8, POINTER), 4])
"""``add(float *x, int n)``."""


def provider(kernel: CodeKernel, /, **options: Any) -> RocmLaunchCallProvider:
    """A provider for a code object with one kernel; a single thread if nothing else is said."""
    every: dict[str, Any] = {"image": code_object(kernel), "grid": 1, "block": 1, **options}
    image = every.pop("image")
    return RocmLaunchCallProvider(image, kernel.name, **every)


def compiled(
    kernel: CodeKernel, params: Sequence[spec.Param], /, **options: Any
) -> runtime.CompiledModule:
    """A module with a wrapper ``f`` that launches the kernel."""
    return runtime.compile(attached(params, provider(kernel, **options)))


def launched(
    hip: FakeHipDriver,
    kernel: CodeKernel,
    params: Sequence[spec.Param],
    /,
    *arguments: Any,
    **options: Any,
) -> Launch:
    """Wrap, call once, and return the only launch."""
    before = len(hip.launches())
    compiled(kernel, params, **options)["f"](*arguments)
    [found] = hip.launches()[before:]
    return found


def tensor(hip: FakeHipDriver, count: int = 4, device: int = 0, dtype: str = "float32") -> Any:
    """A tensor of zeros on a device."""
    return DeviceArray(hip, (count,), dtype, device).tensor(kind="rocm")


def names(hip: FakeHipDriver) -> list[str]:
    """The functions of HIP that were called, without those that ask."""
    asking = ("hipGetDevice", "hipThreadExchangeStreamCaptureMode", "hipStreamGetDevice")
    return [call.name for call in hip.calls() if call.name not in asking]
