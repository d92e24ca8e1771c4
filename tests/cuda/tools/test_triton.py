# pyright: basic, reportMissingImports=false
"""Kernels that Triton itself compiles (`make test-cuda`), on the fake driver."""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import Launch, cuda, wrap
from tests.fakecuda import DeviceArray, FakeDriver, device_array
from tests.fakecuda.allocating import Allocator

pytest.importorskip("triton", reason="needs triton: `make test-cuda` installs it")

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

SIZE: Final = 32
SCRATCH: Final = 256
"""Bytes for each block, of the two descriptors that the kernel makes."""
COPY: Final = f"copy(x: Tensor([n, {SIZE}], float32), y: Tensor([n, {SIZE}], float32))"
LAUNCH: Final = Launch(grid=f"ceildiv(n, {SIZE})")


def compile_kernel(function: Any, types: dict[str, str], promises: Any = (), **options: Any) -> Any:
    """Compile for sm_90; the last argument is a constexpr of 32."""
    source = ASTSource(
        function, {**types, "SIZE": "constexpr"}, {(len(types),): SIZE}, dict(promises)
    )
    given = {"num_warps": 4, "enable_fp_fusion": True, **options}
    return triton.compile(source, target=GPUTarget("cuda", 90, 32), options=given)


# ---- descriptors that kernels make in scratch memory


@triton.jit
def copy(x, y, n, SIZE: tl.constexpr):  # type: ignore
    rows = tl.program_id(0) * SIZE
    given = tl.make_tensor_descriptor(x, [n, SIZE], [SIZE, 1], [SIZE, SIZE])
    result = tl.make_tensor_descriptor(y, [n, SIZE], [SIZE, 1], [SIZE, SIZE])
    result.store([rows, 0], given.load([rows, 0]))


def copying(**options: Any) -> Any:
    types, promises = {"x": "*fp32", "y": "*fp32", "n": "i32"}, {(0,): [["tt.divisibility", 16]]}
    return compile_kernel(copy, types, promises, **options)


@pytest.fixture(scope="module")
def compiled() -> Any:
    return copying()


def rows_of(driver: FakeDriver, count: int, device: int = 0) -> DeviceArray:
    return device_array(driver, np.zeros((count, SIZE), "float32"), device=device)


@pytest.mark.parametrize("text", [COPY, None])
def test_each_block_of_the_grid_has_scratch_memory(
    driver: FakeDriver, allocator: Allocator, compiled: Any, text: str | None
):
    signature = cuda.triton_signature(compiled) if text is None else text
    function = wrap(compiled, signature, device="cuda", launch=LAUNCH)["copy"]
    x, y = rows_of(driver, 100), rows_of(driver, 100)
    function(x.tensor(), y.tensor(), *([100] if text is None else []))
    (scratch,), (launch,) = allocator.arrays, driver.launches()
    assert (scratch.shape, str(scratch.dtype)) == ((4, SCRATCH), "uint8")
    assert scratch.address % compiled.metadata.global_scratch_align == 0
    assert list(launch.arguments) == [
        *(struct.pack("<Q", each.address) for each in (x, y)),
        struct.pack("<i", 100),
        struct.pack("<Q", scratch.address),
        bytes(8),
    ]
    assert allocator.alive == {}
    assert driver.count("cuMemsetD8Async") == 0


def test_blocks_of_clusters_count_and_the_device_is_the_tensors(
    driver: FakeDriver, allocator: Allocator
):
    launch = Launch(grid=(f"ceildiv(n, {SIZE}) * 2", 3))
    function = wrap(copying(num_ctas=2), COPY, device="cuda", launch=launch)["copy"]
    x, y = rows_of(driver, 64, 1), rows_of(driver, 64, 1)
    function(x.tensor(), y.tensor())
    (scratch,), (launched,) = allocator.arrays, driver.launches()
    assert (scratch.device, scratch.shape) == (1, (4, 3, SCRATCH))
    assert (launched.grid, launched.cluster) == ((4, 3, 1), (2, 1, 1))
    assert launched.arguments[3] == struct.pack("<Q", scratch.address)


def test_an_empty_grid_launches_nothing(driver: FakeDriver, allocator: Allocator, compiled: Any):
    function = wrap(compiled, COPY, device="cuda", launch=LAUNCH)["copy"]
    empty = rows_of(driver, 0).tensor()
    function(empty, empty)
    assert driver.launches() == []
    assert [array.shape for array in allocator.arrays] == [(0, SCRATCH)]
