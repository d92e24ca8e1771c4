"""Workspaces on CUDA devices: filled on the current stream, before the launch; and released."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import BuildError, attach, providers, runtime, spec
from tests.cuda.launching import array, provider
from tests.fakecuda import (
    NON_BLOCKING,
    Call,
    DeviceArray,
    FakeDriver,
    KernelImage,
    Launch,
    Result,
    environment,
    no_driver,
    older,
)
from tests.fakecuda.allocating import Allocator
from tests.runtime.samples import run_child
from tests.support.wrapping import current_stream, new_module

KERNEL = KernelImage("k", (8, 8))
"""``void k(float *x, float *w)``."""
TEXT = "f(x: Tensor([n], float32), w: Workspace([n, 2], float32, zero=True))"
HOST = """
llvm.func @k(%x: !llvm.ptr, %w: !llvm.ptr) { llvm.return }
"""


def launching(text: str = TEXT, **options: Any) -> Any:
    module = new_module()
    attach(module, spec.Signature.parse(text, device="cuda"), provider(KERNEL, **options))
    return runtime.compile(module)["f"]


def on_the_host(text: str = TEXT) -> Any:
    """A function that launches nothing itself."""
    module = new_module(HOST)
    signature = spec.Signature.parse(text, device="cuda")
    attach(module, signature, providers.DirectCallProvider("k"))
    return runtime.compile(module)["f"]


def emulate(driver: FakeDriver) -> None:
    """Let the kernel copy its workspace to x, and write to it."""

    def kernel(running: Any) -> None:
        x, w = running.values(["handle"] * 2)
        scratch = running.memory(w, 8, "float32")
        running.memory(x, 4, "float32")[:] = scratch[:4]
        scratch[:] = 5

    driver.kernel("k", kernel)


def test_the_kernel_gets_zeros_in_every_call(driver: FakeDriver, allocator: Allocator):
    emulate(driver)
    function, x = launching(), DeviceArray(driver, (4,), "float32", 1)
    for _ in range(3):
        x.host[:] = 3
        function(x.tensor())
        assert x.host.tolist() == [0, 0, 0, 0]
        assert allocator.alive == {}
    assert [(array.device, array.shape) for array in allocator.arrays] == [(1, (4, 2))] * 3


def test_it_is_not_filled_unless_asked(driver: FakeDriver, allocator: Allocator):
    emulate(driver)
    x = DeviceArray(driver, (4,), "float32")
    launching(TEXT.replace(", zero=True", ""))(x.tensor())
    assert x.host.tolist() == [7, 7, 7, 7]
    assert driver.count("cuMemsetD8Async") == 0


def test_the_stream_is_that_of_the_launch(driver: FakeDriver, allocator: Allocator):
    x, stream = DeviceArray(driver, (4,), "float32", 1), driver.new_stream(1, NON_BLOCKING)
    with current_stream(stream, 1):
        launching()(x.tensor())
    names = ("cuMemsetD8Async", "cuLaunchKernelEx")
    order = [
        event
        for event in driver.log()
        if isinstance(event, Launch) or (isinstance(event, Call) and event.name in names)
    ]
    memset, called, launch = order
    assert isinstance(memset, Call)
    assert isinstance(launch, Launch)
    assert isinstance(called, Call)
    assert memset.arguments["count"] == 32
    assert memset.arguments["stream"] == launch.stream == stream
    assert driver.stack_depth == 0


@pytest.mark.parametrize("current", [None, 0, 1])
def test_what_is_current_stays_so(driver: FakeDriver, allocator: Allocator, current: int | None):
    function, x = on_the_host(), DeviceArray(driver, (4,), "float32", 1)
    if current is None:
        function(x.tensor())
    else:
        with driver.current(current) as context:
            function(x.tensor())
            assert driver.stack() == context
    assert driver.stack_depth == 0
    [array] = allocator.arrays
    assert array.host.tolist() == [[0, 0]] * 4


def test_without_a_launch_of_its_own(driver: FakeDriver, allocator: Allocator):
    """The driver is found at the first call, and left when the module goes."""
    function, x = on_the_host(), DeviceArray(driver, (4,), "float32")
    for _ in range(2):
        function(x.tensor())
    assert driver.count("cuInit") == 1
    assert driver.live("primary") == 1
    assert [array.host.tolist() for array in allocator.arrays] == [[[0, 0]] * 4] * 2
    del function
    gc.collect()
    assert driver.live("primary") == 0


def test_two_functions_of_a_module(driver: FakeDriver, allocator: Allocator):
    module = new_module(HOST)
    for name in ("f", "g"):
        signature = spec.Signature.parse(name + TEXT[1:], device="cuda")
        attach(module, signature, providers.DirectCallProvider("k"))
    signature = spec.Signature.parse("h" + TEXT[1:], device="cuda")
    attach(module, signature, provider(KERNEL))
    compiled, x = runtime.compile(module), DeviceArray(driver, (4,), "float32")
    for name in ("f", "g", "h"):
        compiled[name](x.tensor())
    assert driver.count("cuInit") == 1
    assert driver.count("cuMemsetD8Async") == 3


def test_wrappers_that_are_attached_again_and_again(driver: FakeDriver, allocator: Allocator):
    x = DeviceArray(driver, (4,), "float32")
    for _ in range(4):
        on_the_host()(x.tensor())
    assert driver.count("cuMemsetD8Async") == 4


def test_an_empty_one_needs_no_memset(driver: FakeDriver, allocator: Allocator):
    on_the_host()(DeviceArray(driver, (0,), "float32").tensor())
    assert driver.count("cuMemsetD8Async") == 0


def test_a_memset_that_fails(driver: FakeDriver, allocator: Allocator):
    x = DeviceArray(driver, (4,), "float32")
    for function in (launching(), on_the_host()):
        driver.fail("cuMemsetD8Async", Result.INVALID_VALUE)
        with pytest.raises(RuntimeError) as raised:
            function(x.tensor())
        assert str(raised.value) == (
            "cuMemsetD8Async failed: CUDA_ERROR_INVALID_VALUE (1: invalid argument), to fill the "
            "workspace w with zeros when calling: `f(x: Tensor([n], float32))`"
        )
        assert allocator.alive == {}
        assert driver.stack_depth == 0
        function(x.tensor())
    assert allocator.alive == {}


def test_a_context_that_cannot_be_entered(driver: FakeDriver, allocator: Allocator):
    driver.fail("cuDevicePrimaryCtxRetain", Result.OUT_OF_MEMORY)
    words = r"^cuDevicePrimaryCtxRetain failed: .*, to fill the work"
    with pytest.raises(RuntimeError, match=words):
        on_the_host()(array(driver))
    assert allocator.alive == {}


def test_a_launch_that_fails_releases_it(driver: FakeDriver, allocator: Allocator):
    function, x = launching(), DeviceArray(driver, (4,), "float32")
    driver.fail("cuLaunchKernelEx", Result.OUT_OF_MEMORY)
    with pytest.raises(RuntimeError, match="cuLaunchKernelEx failed"):
        function(x.tensor())
    assert allocator.alive == {}


@pytest.mark.parametrize("stream", [0, 1, 2])
def test_a_launch_on_another_stream_is_refused(stream: int):
    with pytest.raises(BuildError) as raised:
        launching(stream=stream)
    assert str(raised.value) == (
        "CudaLaunchCallProvider: stream: expected the framework's current stream, as Workspace "
        f"'w' is released for that, but got {stream}; leave it out"
    )


def test_an_env_stream_is_the_current_one(driver: FakeDriver, allocator: Allocator):
    text = "f(x: Tensor([n], float32), s: EnvStream, w: Workspace([n, 2], float32, zero=True))"
    emulate(driver)
    x = DeviceArray(driver, (4,), "float32")
    x.host[:] = 3
    launching(text, stream="s")(x.tensor())
    assert x.host.tolist() == [0, 0, 0, 0]


CHILD = """
import sys
from ffi_builder import runtime
from tests.support.allocating import counting
f = runtime.load(sys.argv[1])["f"]
with counting():
    try:
        f(3)
    except RuntimeError as error:
        print(error)
"""


@pytest.mark.parametrize("driver_file", ["none", "old"])
def test_a_machine_without_the_driver(tmp_path: Path, driver_file: str):
    module = new_module("llvm.func @k(%n: i64, %w: !llvm.ptr) { llvm.return }")
    text = "f(n: int64, w: Workspace([n], float32, zero=True))"
    signature = spec.Signature.parse(text, device="cuda")
    attach(module, signature, providers.DirectCallProvider("k"))
    path = tmp_path / "made.so"
    runtime.compile(module).export_library(path)
    file = no_driver() if driver_file == "none" else older("cuMemsetD8Async")
    done = run_child(CHILD, path, env=environment(file))
    words = (
        "libcuda.so.1 could not be loaded to fill workspaces of 'f': "
        if driver_file == "none"
        else "libcuda.so.1 has no cuMemsetD8Async, which filling workspaces of 'f' needs: the NVIDIA "
    )
    assert done.stdout.startswith(words), done.stderr
    assert done.stdout.endswith(" when calling: `f(n: int64)`\n")
