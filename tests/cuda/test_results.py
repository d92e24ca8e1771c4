"""Tensors that a launch returns: allocated before it, given to the kernel, released on failure."""

from __future__ import annotations

from typing import Any

import pytest

from ffi_builder import attach_ffi_func, runtime, spec
from tests.cuda.launching import N, X, array, provider
from tests.fakecuda import DeviceArray, FakeDriver, KernelImage, Result
from tests.fakecuda.allocating import Allocator
from tests.support.wrapping import new_module

Y = spec.Tensor("y", [N], "float32", device_type="cuda")


def returning(**options: Any) -> Any:
    module = new_module()
    made = provider(KernelImage("k", (8, 8)), **options)
    attach_ffi_func(module, "f", [X], made, returns=Y)
    return runtime.compile(module)["f"]


def test_the_kernel_writes_to_what_is_returned(driver: FakeDriver, allocator: Allocator):
    def twice(launch: Any) -> None:
        x, y = launch.values(["handle"] * 2)
        launch.memory(y, 4, "float32")[:] = 2 * launch.memory(x, 4, "float32")

    driver.kernel("k", twice)
    x = DeviceArray(driver, (4,), "float32", 1)
    x.host[:] = 3
    result = returning()(x.tensor())
    [array] = allocator.arrays
    assert array.device == 1
    assert array.host.tolist() == [6, 6, 6, 6]
    assert len(allocator.alive) == 1
    del result
    assert allocator.alive == {}


@pytest.mark.parametrize("name", ["cuLibraryLoadData", "cuLaunchKernelEx", "cuKernelSetAttribute"])
def test_what_was_allocated_is_released_when_the_launch_fails(
    driver: FakeDriver, allocator: Allocator, name: str
):
    function = returning(dynamic_smem_bytes=100_000)
    driver.fail(name, Result.OUT_OF_MEMORY)
    with pytest.raises(RuntimeError, match=f"{name} failed"):
        function(array(driver))
    assert len(allocator.arrays) == 1
    assert allocator.alive == {}


def test_an_empty_grid_returns_a_tensor(driver: FakeDriver, allocator: Allocator):
    assert returning(grid=N)(DeviceArray(driver, (0,), "float32").tensor()) is not None
    assert driver.launches() == []
