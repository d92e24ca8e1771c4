"""Errors when the driver refuses: its words, the launch's figures, the size that is too large."""

from __future__ import annotations

import ctypes
from traceback import extract_tb
from typing import Any

import pytest

from ffi_builder import attach_ffi_func, runtime, spec
from ffi_builder.providers import CheckStatus
from tests.cuda.launching import N, X, compiled, provider, wrap
from tests.fakecuda import (
    DeviceArray,
    DeviceAttribute,
    FakeDriver,
    IllegalAddressError,
    KernelImage,
    MisalignedAddressError,
    Result,
    make_cubin,
    make_fatbin,
    make_ptx,
)
from tests.fakecuda.kernels import CLUSTERED, EMPTY, HUNGRY
from tests.support.wrapping import new_module
from tests.support.wrapping import wrap as wrap_with


def message(function: Any, *arguments: Any) -> str:
    with pytest.raises(RuntimeError) as caught:
        function(*arguments)
    return str(caught.value)


def test_the_whole_message(driver: FakeDriver):
    function = wrap(
        KernelImage("k", (8,)),
        [X, spec.EnvStream("stream")],
        grid=(N, 2),
        block=(N * 32, 2, 1),
        dynamic_smem_bytes=N * 16,
    )
    tensor = DeviceArray(driver, (64,), "float32", 1).tensor()
    assert message(function, tensor) == (
        "cuLaunchKernelEx failed: CUDA_ERROR_INVALID_VALUE (1: invalid argument) for kernel 'k': "
        "grid=(64, 2, 1), block=(2048, 2, 1), dynamic_smem_bytes=1024, device 1, stream 0x0; "
        "block.x is 2048, at most 1024 on this device; the block has 4096 threads, at most 1024 for "
        "this kernel on this device when calling: `f(x: Tensor([n], float32))`"
    )


def test_the_frames_are_those_of_every_error(driver: FakeDriver):
    driver.fail("cuLaunchKernelEx", Result.LAUNCH_FAILED)
    with pytest.raises(RuntimeError) as caught:
        wrap(EMPTY, [])()
    frames = [frame.name for frame in extract_tb(caught.value.__traceback__)]
    assert "test_the_frames_are_those_of_every_error" in frames


@pytest.mark.parametrize(
    ("options", "arguments", "figures", "excess"),
    [
        ({"block": (1, N)}, 1025, "block=(1, 1025, 1)", "block.y is 1025, at most 1024 on this device; the block has 1025 threads, at most 1024"),
        ({"block": (1, 1, N)}, 65, "block=(1, 1, 65)", "block.z is 65, at most 64"),
        ({"block": (64, N)}, 17, "block=(64, 17, 1)", "the block has 1088 threads, at most 1024"),
        ({"dynamic_smem_bytes": N}, 232449, "dynamic_smem_bytes=232449", "dynamic_smem_bytes is 232449, at most 232448 for this kernel"),
        ({"grid": N, "cluster": 2}, 3, "grid=(3, 1, 1), block=(1, 1, 1), cluster=(2, 1, 1)", "grid.x is 3, no multiple of cluster.x, 2"),
        ({"grid": N, "cluster": N}, 17, "cluster=(17, 1, 1)", "the cluster has 17 blocks, and not every device can have more than 8"),
        ({"grid": N, "attributes": ["cooperative"]}, 100_000, "cooperative", "all blocks of a cooperative launch have to fit onto the device at once"),
    ],
)  # fmt: skip
def test_what_is_too_much(
    driver: FakeDriver, options: dict[str, Any], arguments: int, figures: str, excess: str
):
    text = message(wrap(EMPTY, [N], args=[], **options), arguments)
    assert figures in text
    assert f"; {excess}" in text
    # Nothing else is said to be too much.
    assert text.count(";") == 1 + excess.count(";")


@pytest.mark.parametrize("size", [2**21, 2**22, 2**31 - 1])
def test_more_threads_than_fit_a_number_are_too_many(driver: FakeDriver, size: int):
    text = message(wrap(EMPTY, [N], args=[], block=(N, N, N)), size)
    assert f"; the block has {min(size**3, 2**63 - 1)} threads, at most 1024" in text


def test_limits_are_asked_of_the_device(driver: FakeDriver):
    driver.set_attribute(DeviceAttribute.MAX_GRID_DIM_X, 1000, device=1)
    function = wrap(KernelImage("k", (8,)), [X], grid=N)
    small, large = (DeviceArray(driver, (2000,), "float32", d).tensor() for d in (0, 1))
    function(small)
    assert driver.count("cuDeviceGetAttribute") == 0  # not before a launch has failed
    assert "; grid.x is 2000, at most 1000 on this device" in message(function, large)


def test_too_many_registers(driver: FakeDriver):
    text = message(wrap(HUNGRY, [spec.DataPointer("p")], block=1024), 0)
    assert "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701: too many resources requested" in text


def test_a_device_without_clusters(driver: FakeDriver):
    driver.set_attribute(DeviceAttribute.CLUSTER_LAUNCH, 0)
    text = message(wrap(EMPTY, [], grid=2, cluster=2))
    assert text.count("; this device has no clusters") == 1


def test_a_grid_that_is_no_multiple_of_the_kernels_own_cluster(driver: FakeDriver):
    function = wrap(CLUSTERED, [spec.DataPointer("p"), N], args=["p"], grid=(4, N))
    function(0, 3)
    function = wrap(CLUSTERED, [spec.DataPointer("p"), N], args=["p"], grid=(N, 3))
    text = message(function, 0, 7)
    assert "CUDA_ERROR_INVALID_CLUSTER_SIZE" in text
    assert text.count("; grid.x is 7, no multiple of cluster.x, 2 when calling") == 1


def test_the_device_of_a_real_stream_is_named(driver: FakeDriver):
    function = wrap(EMPTY, [spec.Stream("stream")])
    stream = driver.new_stream(1)
    driver.fail("cuLaunchKernelEx", Result.LAUNCH_FAILED)
    text = message(function, ctypes.c_void_p(stream))
    assert f"device 1, stream {stream:#x}; a kernel before it has failed" in text
    assert driver.stack() == 0


def test_a_launch_that_could_not_be_prepared_has_its_figures(driver: FakeDriver):
    function = wrap(EMPTY, [N], args=[], grid=N, block=64, dynamic_smem_bytes=100_000)
    driver.fail("cuKernelSetAttribute", Result.INVALID_VALUE)
    assert message(function, 3) == (
        "cuKernelSetAttribute failed: CUDA_ERROR_INVALID_VALUE (1: invalid argument) for kernel "
        "'empty': grid=(3, 1, 1), block=(64, 1, 1), dynamic_smem_bytes=100000, device 0, stream 0x0 "
        "when calling: `f(n: int64)`"
    )


LONG_NAME = KernelImage("k" * 3000)
FLAGS = ["programmatic_stream_serialization", "cooperative"]
FAILED: list[tuple[str, KernelImage, dict[str, Any], int, str]] = [
    # options, what the driver answers, words of the message
    ("attributes", EMPTY, {"attributes": FLAGS}, Result.NOT_SUPPORTED, ", cooperative, programmatic_stream_serialization, dyn"),
    ("no name", EMPTY, {}, 12345, "failed: an error without a name (12345: an error without a name) for kernel"),
    ("a long name is cut", LONG_NAME, {}, Result.LAUNCH_FAILED, "k" * 199 + "…'"),
]  # fmt: skip


@pytest.mark.parametrize(("kernel", "options", "result", "words"), [e[1:] for e in FAILED], ids=[e[0] for e in FAILED])  # fmt: skip
def test_a_launch_that_fails(
    driver: FakeDriver, kernel: KernelImage, options: dict[str, Any], result: int, words: str
):
    driver.fail("cuLaunchKernelEx", result)
    text = message(wrap(kernel, [], **options))
    assert words in text
    assert text.endswith("when calling: `f()`")


@pytest.mark.parametrize(
    ("image", "has"),
    [
        (make_cubin([EMPTY], sm=80), "sm_80"),
        (make_cubin([EMPTY], sm=100), "sm_100"),
        (make_fatbin([(make_cubin([EMPTY], sm=sm), sm) for sm in (80, 100)]), "sm_80, sm_100"),
    ],
)
def test_an_image_for_another_gpu(driver: FakeDriver, image: bytes, has: str):
    text = message(wrap(EMPTY, [], image=image))
    assert text == (
        "cuLibraryLoadData failed: CUDA_ERROR_NO_BINARY_FOR_GPU (209: no kernel image is available "
        f"for execution on the device) for kernel 'empty'; the image has {has}, and device 0 is "
        "sm_90 when calling: `f()`"
    )


def test_a_kernel_that_only_another_part_has(driver: FakeDriver):
    parts = [(make_cubin([EMPTY], sm=80), 80), (make_cubin([HUNGRY]), 90)]
    text = message(wrap(EMPTY, [], image=make_fatbin(parts)))
    words = "; the image has sm_80, sm_90 (this kernel in sm_80 alone), and device 0 is sm_90 when"
    assert words in text


def test_ptx_that_is_too_new(driver: FakeDriver):
    driver.set_version(12010)
    text = message(wrap(EMPTY, [], image=make_ptx([EMPTY], version="8.5")))
    assert "CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222: " in text
    words = (
        "the image has compute_90, and device 0 is sm_90; its PTX is newer than the driver, which"
    )
    assert f"{words} is of CUDA 12.1: update it, or ship a cubin" in text


def test_a_driver_that_does_not_answer_says_no_limits(driver: FakeDriver):
    """After an error that stays, every further call fails too."""
    function = wrap(EMPTY, [N], args=[], block=N)
    driver.fail("cuDeviceGetAttribute", Result.UNKNOWN, nth=0)
    driver.fail("cuKernelGetAttribute", Result.UNKNOWN, nth=0)
    assert "at most" not in message(function, 2000)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (IllegalAddressError, "CUDA_ERROR_ILLEGAL_ADDRESS (700: an illegal memory access"),
        (MisalignedAddressError, "CUDA_ERROR_MISALIGNED_ADDRESS (716: misaligned address)"),
    ],
)
def test_an_error_that_stays_with_the_context(
    driver: FakeDriver, error: type[Exception], words: str
):
    def crash(_: Any) -> None:
        raise error

    driver.kernel("empty", crash)
    function = wrap(EMPTY, [])
    function()
    for _ in range(2):
        assert words in message(function)
    assert driver.stack() == 0


def test_a_name_longer_than_the_buffer_is_cut(driver: FakeDriver):
    module = new_module()
    attach_ffi_func(module, "f", [], provider(EMPTY), fn_display_name="x" * 6000)
    driver.fail("cuLaunchKernelEx", Result.LAUNCH_FAILED)
    text = message(runtime.compile(module)["f"])
    assert text.startswith("cuLaunchKernelEx failed: CUDA_ERROR_LAUNCH_FAILED")
    assert text.endswith("x" * 1000)
    assert len(text) == 4095


@pytest.mark.parametrize(("failing", "size"), [("cuLaunchKernelEx", 0), ("cuKernelSetAttribute", 100_000)])  # fmt: skip
def test_check_status_around_a_launch(driver: FakeDriver, failing: str, size: int):
    inner = provider(EMPTY, dynamic_smem_bytes=size)
    told = CheckStatus(inner, error="ValueError", message="no launch: {status}")
    function = wrap_with([], told)
    if not size:
        function()
    driver.fail(failing, Result.LAUNCH_FAILED)
    with pytest.raises(ValueError, match=r"no launch: 719 when calling"):
        function()


def test_check_status_is_not_asked_about_loading(driver: FakeDriver):
    """There is no launch yet to have a status."""
    told = CheckStatus(provider(EMPTY), error="ValueError", message="no launch: {status}")
    function = wrap_with([], told)
    driver.fail("cuLibraryLoadData", Result.OUT_OF_MEMORY)
    assert "cuLibraryLoadData failed: CUDA_ERROR_OUT_OF_MEMORY" in message(function)
    function()


def test_an_empty_launch_has_the_status_of_success(driver: FakeDriver):
    told = CheckStatus(provider(EMPTY, args=[], grid=N))
    wrap_with([N], told)(0)
    assert driver.calls() == []


def test_the_checks_of_the_signature_come_first(driver: FakeDriver):
    module = compiled(KernelImage("k", (8,)), [X])
    with pytest.raises(TypeError, match=r"Mismatched x\.dtype"):
        module["f"](DeviceArray(driver, (3,), "float64").tensor())
    assert driver.calls() == []
