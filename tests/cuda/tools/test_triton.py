# pyright: basic, reportMissingImports=false
"""Kernels that Triton itself compiles (`make test-cuda`), on the fake driver."""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import Launch, cuda, spec, testing, wrap
from ffi_builder.providers import VariantsCallProvider
from tests.fakecuda import DeviceArray, FakeDriver, device_array
from tests.fakecuda.allocating import Allocator
from tests.fakecuda.memory import tensor_at

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


def compile_kernel(
    function: Any, types: dict[str, str], promises: Any = (), arch: int = 90, **options: Any
) -> Any:
    """Compile it; the last argument is a constexpr of 32."""
    source = ASTSource(
        function, {**types, "SIZE": "constexpr"}, {(len(types),): SIZE}, dict(promises)
    )
    given = {"num_warps": 4, "enable_fp_fusion": True, **options}
    return triton.compile(source, target=GPUTarget("cuda", arch, 32), options=given)


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


def test_a_program_is_a_cluster_and_the_device_is_the_tensors(
    driver: FakeDriver, allocator: Allocator
):
    launch = Launch(grid=(f"ceildiv(n, {SIZE})", 3))
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


# ---- variants


@triton.jit
def add(x, y, n, SIZE: tl.constexpr):  # type: ignore
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(y + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


def test_variants_by_dtype_and_alignment() -> None:
    text = "add(x: Tensor([n], float32 | float16), y: Tensor([n], x.dtype)) where n: int32"
    signature = spec.Signature.parse(text, device="cuda")
    promises = {(index,): [["tt.divisibility", 16]] for index in range(2)}

    def variant(dtype: str, promises: Any, name: str, **options: Any) -> Any:
        types = {"x": f"*{dtype}", "y": f"*{dtype}", "n": "i32"}
        compiled = compile_kernel(add, types, promises, **options)
        compiled.asm.pop("cubin")
        return cuda.triton_variant(compiled, signature, launch=LAUNCH, name=name)

    variants = [
        variant("fp16", promises, "half"),
        variant("fp16", {}, "any half"),
        variant("fp32", promises, "single", num_ctas=2),
    ]
    function = wrap("module {}", signature, provider=VariantsCallProvider(variants))["add"]
    with testing.FakeCuda("sm_90", execute=True) as gpu:
        for dtype, start in (("float32", 0), ("float16", 0), ("float16", 1)):
            y = gpu.array(np.ones(1000, dtype))
            function(y[start:], y[start:])
            np.testing.assert_array_equal(y.numpy()[start:], 2)
        with pytest.raises(ValueError, match=r"No variant fits: expected half \(x\.dtype == floa"):
            function(*[gpu.array(np.ones(1000, "float32"))[1:]] * 2)


# ---- descriptors that callers make


@triton.jit
def scale(x, y, by, SIZE: tl.constexpr):  # type: ignore
    rows = tl.program_id(0) * SIZE
    y.store([rows, 0], x.load([rows, 0]) * by)


SCALE: Final = f"scale(x: Tensor([n, m], float16), y: Tensor([k, {SIZE}], bfloat16), by: float32)"
TYPES: Final = {"x": "tensordesc<fp16[32, 32]>", "y": "tensordesc<bf16[32, 32]>", "by": "fp32"}
SIZES: Final = struct.Struct("<2i2q")


def by_descriptors(arch: int = 90) -> Any:
    return compile_kernel(scale, TYPES, arch=arch)


def facts_of(tensor_map: bytes) -> tuple[int, ...]:
    """What the fake driver was asked for: address, rank, type, sizes, box, swizzle, …."""
    return struct.unpack_from("<3Q5Q5I4I", tensor_map, 8)


@pytest.mark.parametrize("text", [SCALE, None])
def test_a_tensor_becomes_a_map_and_its_sizes_and_strides(driver: FakeDriver, text: str | None):
    compiled = by_descriptors()
    signature = cuda.triton_signature(compiled) if text is None else text
    function = wrap(compiled, signature, device="cuda", launch=Launch(grid=2))["scale"]
    x, y = (
        device_array(driver, np.zeros((64, 40), "float16")),
        DeviceArray(driver, (64, 32), "int16"),
    )
    as_bfloat16 = tensor_at(y.address, (64, 32), "bfloat16")
    for _ in range(2):
        function(x.tensor(), as_bfloat16, 2.0)
    assert driver.count("cuTensorMapEncodeTiled") == 2
    first, second = driver.launches()
    assert first.arguments == second.arguments
    map_x, *sizes_x, map_y = first.arguments[:6]
    assert facts_of(map_x) == (x.address, 2, 6, 40, 64, 0, 0, 0, 32, 32, 0, 0, 0, 2, 0, 2, 0)
    assert facts_of(map_y) == (y.address, 2, 9, 32, 64, 0, 0, 0, 32, 32, 0, 0, 0, 2, 0, 2, 0)
    assert b"".join(sizes_x) == SIZES.pack(64, 40, 40, 1)
    rest = SIZES.pack(64, 32, 32, 1) + struct.pack("<f", 2.0) + bytes(16)
    assert b"".join(first.arguments[6:]) == rest
    with pytest.raises(ValueError, match=r"x.shape\[0\] is 0"):
        function(tensor_at(x.address, (0, 40), "float16"), as_bfloat16, 2.0)


def test_where_there_are_no_maps_the_kernel_gets_pointers():
    compiled = by_descriptors(80)
    wrapped = wrap(compiled, cuda.triton_signature(compiled), launch=Launch(grid=2))["scale"]
    with testing.FakeCuda("sm_80") as gpu:
        x = gpu.array(np.zeros((64, 40), "float16"))
        y = gpu.array(np.zeros((64, 32), "int16"))
        wrapped(x, tensor_at(y.address, (64, 32), "bfloat16"), 2.0)
    (launch,) = gpu.launches
    described = [
        struct.pack("<Q4q2b", address, *sizes, *sizes[1:], 1, 0, 0)
        + SIZES.pack(*sizes, sizes[1], 1)
        for address, sizes in ((x.address, (64, 40)), (y.address, (64, 32)))
    ]
    assert b"".join(launch.arguments) == b"".join(described) + struct.pack("<f", 2.0) + bytes(16)
