"""Grid, block, cluster, shared memory and attributes: computed, checked, and passed on."""

from __future__ import annotations

import re
import struct
from typing import Any

import pytest

from ffi_builder import BuildError, SpecError, attach_ffi_func, runtime, spec
from tests.cuda.launching import launched, provider, wrap
from tests.fakecuda import (
    DeviceArray,
    DeviceAttribute,
    FakeDriver,
    FunctionAttribute,
    KernelImage,
    LaunchAttribute,
    make_cubin,
    make_ptx,
)
from tests.fakecuda.kernels import BOUNDED, CLUSTERED, EMPTY, STATIC
from tests.support.wrapping import new_module

N, M = spec.Var("n", "int64"), spec.Var("m", "int32")
OPT_IN = 227 << 10


SIZES: list[tuple[str, list[spec.Param], tuple[int, ...], dict[str, Any], tuple[Any, ...]]] = [
    # parameters, arguments, options, and grid, block, shared memory of the launch
    ("ints", [], (), {"grid": (2, 3, 4), "block": [8, 4, 2], "dynamic_smem_bytes": 96}, ((2, 3, 4), (8, 4, 2), 96)),
    ("expressions", [N, M], (1000, 3), {"grid": (spec.ceildiv(N, 128), M), "block": (N % 64, 2), "dynamic_smem_bytes": M * 16}, ((8, 3, 1), (40, 2, 1), 48)),
    ("texts", [N], (9,), {"grid": ("ceildiv(n, 4)", "2", N), "block": "n", "dynamic_smem_bytes": "n * 16"}, ((3, 2, 9), (9, 1, 1), 144)),
    ("1 for what is left out", [N], (5,), {"grid": N, "block": 32}, ((5, 1, 1), (32, 1, 1), 0)),
    ("the largest grid", [N, M], (2**31 - 1, 65535), {"grid": (N, M, 65535)}, ((2**31 - 1, 65535, 65535), (1, 1, 1), 0)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("params", "values", "options", "sizes"), [e[1:] for e in SIZES], ids=[e[0] for e in SIZES]
)
def test_sizes(driver: FakeDriver, params: Any, values: Any, options: Any, sizes: Any):
    launch = launched(driver, EMPTY, params, *values, args=[], **options)
    assert (launch.grid, launch.block, launch.shared) == sizes
    assert launch.cluster == (1, 1, 1)
    assert not launch.attributes


RANGES = [
    ({"grid": N}, 2**31, "grid.x = n is 2147483648 for kernel 'empty'; expected 0 to 2147483647"),
    ({"grid": N}, -1, "grid.x = n is -1 for kernel 'empty'; expected 0 to 2147483647"),
    ({"grid": N}, 2**32 + 1, "grid.x = n is 4294967297"),
    ({"grid": (1, N)}, 65536, "grid.y = n is 65536 for kernel 'empty'; expected 0 to 65535"),
    ({"grid": (1, 1, N)}, 65536, "grid.z = n is 65536"),
    ({"grid": (N, 0)}, -1, "grid.x = n is -1"),
    ({"block": N}, 0, "block.x = n is 0 for kernel 'empty'; expected 1 to 2147483647"),
    ({"block": "n"}, 0, "block.x = n is 0 for kernel 'empty'; expected 1 to"),
    ({"grid": N * N}, 2**32 + 1, "The value of n * n does not fit int64"),
    ({"block": (1, N)}, 2**32 + 1, "block.y = n is 4294967297"),
    ({"block": N}, -(2**63), "block.x = n is -9223372036854775808"),
    ({"cluster": N}, 0, "cluster.x = n is 0 for kernel 'empty'; expected 1 to 2147483647"),
    ({"dynamic_smem_bytes": N}, -1, "dynamic_smem_bytes = n is -1"),
    ({"dynamic_smem_bytes": N * 4}, 2**30, r"dynamic_smem_bytes = n * 4 is 4294967296"),
]


@pytest.mark.parametrize(("options", "value", "words"), RANGES, ids=lambda value: str(value)[:40])
def test_ranges_are_checked_before_anything_is_narrowed(
    driver: FakeDriver, options: dict[str, Any], value: int, words: str
):
    function = wrap(EMPTY, [N], args=[], **options)
    shown = rf"^{re.escape(words)}.* when calling: `f\(n: int64\)`$"
    with pytest.raises(ValueError, match=shown):
        function(value)
    assert driver.calls() == []


def test_a_kernels_name_may_have_braces(driver: FakeDriver):
    """No compiler writes such a one; in messages they stand for a value."""
    function = wrap(KernelImage("k{}", (1,)), [N], args=[N * 1], grid=N)
    with pytest.raises(ValueError, match=r"grid.x = n is -1 for kernel 'k\{ \}'"):
        function(-1)
    with pytest.raises(ValueError, match=r"n \* 1 is 1000, .* that kernel 'k\{ \}' has for it"):
        function(1000)


@pytest.mark.parametrize("grid", [N, (1, N), (3, 1, N), (N, 65535, 7)])
def test_an_empty_grid_succeeds_and_calls_nothing(driver: FakeDriver, grid: Any):
    function = wrap(EMPTY, [N], args=[], grid=grid)
    function(0)
    assert driver.calls() == []
    function(1)
    assert len(driver.launches()) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"grid": (1, "q + 1")}, "grid.y: there is no symbol 'q', but n\n    q + 1\n    ^"),
        ({"block": spec.Var("q", "int32")}, "block.x: symbol 'q' (Var('q', 'int32')) is not one"),
        ({"dynamic_smem_bytes": N * spec.Var("q", "int64")}, "dynamic_smem_bytes: symbol 'q' ("),
        ({"cluster": "f"}, "cluster.x: 'f' is a float32 symbol, not an integer one"),
    ],
)
def test_symbols_that_the_signature_does_not_have(options: dict[str, Any], words: str):
    params = [N, spec.Var("f", "float32")] if "cluster" in options else [N]
    with pytest.raises(BuildError) as caught:
        wrap(EMPTY, params, args=[], **options)
    assert f"CudaLaunchCallProvider: {words}" in str(caught.value)


def test_a_grid_of_the_int_0(driver: FakeDriver):
    wrap(EMPTY, [], grid=(0, 2))()
    assert driver.calls() == []


INTS: list[tuple[dict[str, Any], str]] = [
    ({"grid": (1, 65536)}, "grid.y: expected 0 to 65535 but got 65536"),
    ({"grid": -1}, "grid.x: expected 0 to 2147483647 but got -1"),
    ({"grid": ()}, "grid: expected one to three sizes but got 0"),
    ({"grid": (1, 1, 1, 1)}, "grid: expected one to three sizes but got 4"),
    ({"grid": "n +"}, "grid.x: expected an int, a symbol or an expression but got the end"),
    ({"block": (1, "n n")}, "block.y: expected an operator or the end but got 'n'"),
    ({"grid": "-1"}, "grid.x: expected 0 to 2147483647 but got -1"),
    ({"dynamic_smem_bytes": ""}, "dynamic_smem_bytes: expected an int, a symbol or an expression"),
    ({"grid": 1.5}, "grid: expected up to three ints or expressions of Vars, as text such as"),
    ({"grid": "ceildiv(n, BLOCK)"}, "but got BLOCK, which may be 0; write a number, or a quotient"),
    ({"grid": "x.shape[0] // 2"}, "Write the dimension's name, such as n for `x"),
    ({"grid": (1, True)}, "grid.y: expected an int or an expression of Vars but got True"),
    ({"grid": spec.Var("v", "float32")}, "grid.x: 'v' is a float32 symbol"),
    ({"block": 2048}, "block.x: expected 1 to 1024 but got 2048"),
    ({"block": (1, 1, 65)}, "block.z: expected 1 to 64 but got 65"),
    ({"block": 0}, "block.x: expected 1 to 1024 but got 0"),
    ({"block": (64, 32)}, "at most 1024 threads, the most that there is, but got 64 x 32 = 2048"),
    ({"cluster": 17}, "cluster.x: expected 1 to 16 but got 17"),
    ({"cluster": (8, 4), "grid": (8, 4)}, "at most 16 blocks but got 8 x 4 = 32"),
    ({"cluster": 2, "grid": 3}, "grid.x: expected a multiple of cluster.x, 2, but got 3"),
    ({"dynamic_smem_bytes": -1}, "dynamic_smem_bytes: expected 0 to 2147483647 but got -1"),
    ({"dynamic_smem_bytes": 2**31}, "dynamic_smem_bytes: expected 0 to"),
    ({"attributes": [[]]}, "shared_memory_mode but got []"),
    ({"attributes": "cooperative"}, "attributes: expected a list of names, or a dict of values"),
]


@pytest.mark.parametrize(("options", "words"), INTS, ids=lambda value: str(value)[:40])
def test_ints_are_checked_when_the_provider_is_made(options: dict[str, Any], words: str):
    with pytest.raises(SpecError) as caught:
        provider(EMPTY, **options)
    assert words in str(caught.value)


COMPILED: list[tuple[KernelImage, dict[str, Any], str]] = [
    (BOUNDED, {"block": 257}, "at most 256 threads, the most that the kernel 'bounded'"),
    (CLUSTERED, {"cluster": 4, "grid": 4}, r"cluster: expected \(2, 1, 1\), which the kernel"),
    (CLUSTERED, {"grid": 3}, r"expected a multiple of cluster\.x, 2, but got 3"),
    (EMPTY, {"image": make_cubin([EMPTY], sm=80), "cluster": 2, "grid": 2}, "an image for sm_90 or later"),
    (EMPTY, {"image": make_cubin([BOUNDED])}, "No kernel 'empty' in the cubin for sm_90"),
    (EMPTY, {"image": b"something else"}, "expected a cubin, a fatbin or PTX"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kernel", "options", "words"), COMPILED, ids=lambda value: str(value)[:40]
)
def test_what_the_image_does_not_allow(kernel: KernelImage, options: dict[str, Any], words: str):
    with pytest.raises(SpecError, match=words):
        provider(kernel, **options)


# Launch attributes.


def number(value: int, *more: int) -> bytes:
    """A CUlaunchAttributeValue: 64 bytes."""
    return struct.pack(f"<{1 + len(more)}I", value, *more).ljust(64, b"\0")


SERIAL, TOGETHER = "programmatic_stream_serialization", "cooperative"
IS_SERIAL = {LaunchAttribute.PROGRAMMATIC_STREAM_SERIALIZATION: number(1)}
IS_TOGETHER = {LaunchAttribute.COOPERATIVE: number(1)}
OF_2_BY_4 = {LaunchAttribute.CLUSTER_DIMENSION: number(2, 4, 1)}


@pytest.mark.parametrize(
    ("options", "passed"),
    [
        ({"attributes": [SERIAL]}, IS_SERIAL),
        ({"attributes": [TOGETHER]}, IS_TOGETHER),
        ({"grid": (4, 4), "cluster": (2, 4)}, OF_2_BY_4),
        ({"grid": (4, 4), "cluster": (2, 4), "attributes": [SERIAL, TOGETHER]}, OF_2_BY_4 | IS_TOGETHER | IS_SERIAL),
    ],
)  # fmt: skip
def test_attributes_are_passed_with_all_of_their_bytes(
    driver: FakeDriver, options: Any, passed: Any
):
    launch = launched(driver, EMPTY, [], **options)
    assert dict(launch.attributes) == passed
    assert launch.cluster == (*options.get("cluster", (1, 1)), 1)


def test_a_cluster_may_be_computed(driver: FakeDriver):
    function = wrap(EMPTY, [N, M], args=[], grid=(N * 2, M), cluster=(N, M))
    function(2, 3)
    [launch] = driver.launches()
    assert launch.attributes[LaunchAttribute.CLUSTER_DIMENSION] == number(2, 3, 1)
    assert driver.count("cuKernelSetAttribute") == 0


# Attributes of the kernel: set once on each device that needs them.


def settings(driver: FakeDriver) -> list[tuple[Any, ...]]:
    names = ("attribute", "value", "device")
    calls = driver.calls("cuKernelSetAttribute")
    return [tuple(call.arguments[name] for name in names) for call in calls]


SHARED = FunctionAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
NON_PORTABLE = FunctionAttribute.NON_PORTABLE_CLUSTER_SIZE_ALLOWED
EDGE = (48 << 10) - STATIC.shared
POINTER = spec.DataPointer("p")
LARGE, SMALL = KernelImage("large", cluster=(4, 4, 1)), KernelImage("small", cluster=(8, 1, 1))
LEAVES: list[tuple[str, KernelImage, dict[str, Any], list[tuple[Any, ...]]]] = [
    ("48 KiB of shared memory need no leave", EMPTY, {"dynamic_smem_bytes": 48 << 10}, []),
    ("with static shared memory", STATIC, {"dynamic_smem_bytes": EDGE}, []),
    ("more with static shared memory", STATIC, {"dynamic_smem_bytes": EDGE + 16}, [(SHARED, OPT_IN - STATIC.shared, 0)]),
    ("a cluster of 8 blocks needs no leave", EMPTY, {"grid": 8, "cluster": 8}, []),
    ("a compiled cluster of 8 blocks needs no leave", SMALL, {"grid": 8}, []),
    ("a cluster of more than 8 blocks", EMPTY, {"grid": 16, "cluster": 16}, [(NON_PORTABLE, 1, 0)]),
    # With `__cluster_dims__` no launch attribute is needed, but the leave is.
    ("a compiled cluster of more", LARGE, {"grid": (4, 8)}, [(NON_PORTABLE, 1, 0)]),
    ("a compiled cluster that is said again", LARGE, {"grid": (4, 8), "cluster": (4, 4)}, [(NON_PORTABLE, 1, 0)]),
    ("a compiled cluster of PTX", LARGE, {"grid": (4, 8), "image": make_ptx([LARGE])}, [(NON_PORTABLE, 1, 0)]),
]  # fmt: skip


@pytest.mark.parametrize(("kernel", "options", "asked"), [e[1:] for e in LEAVES], ids=[e[0] for e in LEAVES])  # fmt: skip
def test_what_needs_leave(driver: FakeDriver, kernel: KernelImage, options: Any, asked: Any):
    params, values = ([POINTER], [0]) if kernel is STATIC else ([], [])
    launch = launched(driver, kernel, params, *values, **options)
    assert settings(driver) == asked
    cluster = kernel.cluster or (options.get("cluster", 1), 1, 1)
    assert launch.cluster == cluster
    assert bool(launch.attributes) == ("cluster" in options)


def test_more_shared_memory_is_asked_for_once(driver: FakeDriver):
    function = wrap(EMPTY, [], dynamic_smem_bytes=(48 << 10) + 1, stream=0)
    with driver.current():
        for _ in range(3):
            function()
    assert len(driver.launches()) == 3
    assert settings(driver) == [(SHARED, OPT_IN, 0)]


def test_once_for_each_device(driver: FakeDriver):
    x = spec.Tensor("x", [N], "float32", device_type="cuda")
    function = wrap(KernelImage("k", (8,)), [x], dynamic_smem_bytes=100_000)
    arrays = [DeviceArray(driver, (1,), "float32", device).tensor() for device in (0, 1, 0, 1)]
    for array in arrays:
        function(array)
    assert settings(driver) == [(SHARED, OPT_IN, 0), (SHARED, OPT_IN, 1)]
    assert [launch.device for launch in driver.launches()] == [0, 1, 0, 1]


def test_shared_memory_that_is_known_at_the_call(driver: FakeDriver):
    x = spec.Tensor("x", [N], "float32", device_type="cuda")
    function = wrap(KernelImage("k", (8,)), [x], dynamic_smem_bytes=N * 1024)
    small, large = (DeviceArray(driver, (n,), "float32").tensor() for n in (48, 200))
    function(small)
    assert settings(driver) == []
    function(large)
    function(large)
    assert settings(driver) == [(SHARED, OPT_IN, 0)]
    assert [launch.shared for launch in driver.launches()] == [48 << 10, 200 << 10, 200 << 10]


def test_ptx_does_not_say_how_much_static_shared_memory_there_is(driver: FakeDriver):
    launched(driver, EMPTY, [], image=make_ptx([EMPTY]), dynamic_smem_bytes=16)
    assert len(settings(driver)) == 1


def test_a_large_cluster_that_is_computed(driver: FakeDriver):
    function = wrap(EMPTY, [N], args=[], grid=N, cluster=N)
    function(8)
    assert settings(driver) == []
    function(16)
    assert settings(driver) == [(NON_PORTABLE, 1, 0)]


def test_what_is_needed_is_set_bit_by_bit(driver: FakeDriver):
    """A launch that needs one attribute does not take the other for set, nor set both again."""
    x = spec.Tensor("x", [N], "float32", device_type="cuda")
    kernel = KernelImage("k", (8, 4))
    function = wrap(kernel, [x, M], grid=16, cluster=M, dynamic_smem_bytes=N * 1024)
    few, many = (DeviceArray(driver, (n,), "float32").tensor() for n in (1, 200))
    shared = (SHARED, OPT_IN, 0)
    cluster = (NON_PORTABLE, 1, 0)
    function(many, 1)
    assert settings(driver) == [shared]
    function(few, 16)
    assert settings(driver) == [shared, cluster]
    for array, blocks in ((many, 16), (few, 16), (many, 1)):
        function(array, blocks)
    assert settings(driver) == [shared, cluster]


def test_both_at_once(driver: FakeDriver):
    driver.set_attribute(DeviceAttribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 150_000)
    launched(driver, EMPTY, [], grid=16, cluster=16, dynamic_smem_bytes=100_000)
    assert settings(driver) == [(SHARED, 150_000, 0), (NON_PORTABLE, 1, 0)]


def test_wrappers_of_one_kernel_do_not_take_each_others_leave(driver: FakeDriver):
    """Each sets what the device has at most, and not its own size."""
    module = new_module()
    for name, size in (("small", 60_000), ("large", 200_000)):
        attach_ffi_func(module, name, [], provider(EMPTY, dynamic_smem_bytes=size))
    both = runtime.compile(module)
    for name in ("large", "small", "large"):
        both[name]()
    assert [launch.shared for launch in driver.launches()] == [200_000, 60_000, 200_000]
