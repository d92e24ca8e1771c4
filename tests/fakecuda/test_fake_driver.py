"""The fake driver enforces its rules: for itself, contexts, images and kernels."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from ffi_builder.fakecuda.rules import RULES
from tests.fakecuda import (
    LEGACY,
    PER_THREAD,
    DeviceArray,
    FakeDriver,
    IllegalAddressError,
    MisalignedAddressError,
    Result,
    Running,
    device_array,
    environment,
    library,
    make_cubin,
    make_fatbin,
    make_ptx,
)
from tests.fakecuda.building import compile_c
from tests.fakecuda.calling import P, kernel, launch, load, loading, rules_broken, tries
from tests.fakecuda.kernels import EMPTY, SAXPY, emulate_saxpy

# The driver.


@tries("init", "no-device")
def test_cu_init(driver: FakeDriver):
    count = ctypes.c_int()
    assert driver.call("cuDeviceGetCount", ctypes.byref(count)) == Result.NOT_INITIALIZED
    driver.init()
    driver.must("cuDeviceGetCount", ctypes.byref(count))
    assert count.value == 2
    assert driver.call("cuInit", ctypes.c_uint(1)) == Result.INVALID_VALUE
    driver.reset(devices=0)
    assert driver.call("cuInit", ctypes.c_uint(0)) == Result.NO_DEVICE


LEAVING = r"""
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void show(const char *when) {
  int count;
  printf("%s %d\n", when, (int)cuDeviceGetCount(&count));
  fflush(stdout);
}
static void late(void) { show("exit"); }

int main(void) {
  atexit(late); /* before cuInit: it runs after what that registers */
  cuInit(0);
  show("main");
  if (fork() == 0) {
    show("child");
    _exit(0);
  }
  wait(NULL);
  return 0;
}
"""


@tries("exit", "fork")
def test_exit_and_fork(driver: FakeDriver, tmp_path: Path):
    (tmp_path / "main.c").write_text(LEAVING)
    compile_c(tmp_path / "main.c", library(), "-o", tmp_path / "main")
    done = subprocess.run(
        [tmp_path / "main"], env=environment(library()), capture_output=True, text=True, check=True
    )
    ends = f"child {int(Result.NOT_INITIALIZED)}\nexit {int(Result.DEINITIALIZED)}\n"
    assert done.stdout == f"main 0\n{ends}"


@tries("outdated-name")
def test_names_of_cuda_3(driver: FakeDriver):
    with driver.current():
        assert driver.call("cuCtxPopCurrent", None) == Result.INVALID_CONTEXT
    assert rules_broken(driver) == ["outdated-name"]


# Contexts.


@tries("context")
@pytest.mark.parametrize("stream", [0, LEGACY, PER_THREAD])
def test_default_streams_need_a_context(driver: FakeDriver, stream: int):
    function = kernel(driver)
    assert launch(driver, function, stream=stream) == Result.INVALID_CONTEXT
    with driver.current():
        assert launch(driver, function, stream=stream) == Result.SUCCESS


def test_a_real_stream_needs_none(driver: FakeDriver):
    function, stream = kernel(driver), driver.new_stream(1)
    assert launch(driver, function, stream=stream) == Result.SUCCESS
    assert driver.launches()[0].device == 1


@tries("context-destroyed", "primary-count")
def test_a_primary_context_is_counted(driver: FakeDriver):
    function = kernel(driver)
    with driver.current(0):
        driver.retain(0)
        driver.must("cuDevicePrimaryCtxRelease_v2", 0)
        assert launch(driver, function) == Result.SUCCESS
        driver.must("cuDevicePrimaryCtxRelease_v2", 0)
        assert launch(driver, function) == Result.CONTEXT_IS_DESTROYED
        assert driver.call("cuDevicePrimaryCtxRelease_v2", 0) == Result.INVALID_CONTEXT


@tries("context-failed", "device-memory")
def test_a_kernels_error_stays(driver: FakeDriver):
    function = kernel(driver, SAXPY)
    emulate_saxpy(driver)
    x, y = (device_array(driver, np.ones(4, "float32"), device) for device in (0, 1))
    values = [ctypes.c_float(2), ctypes.c_uint64(x.address), ctypes.c_uint64(y.address)]
    every = [*values, ctypes.c_int32(4)]
    params = (P * 4)(*(ctypes.addressof(value) for value in every))
    with driver.current(0):
        assert launch(driver, function, block=(4, 1, 1), params=params) == Result.SUCCESS
        # It was run, and touched memory of another device: that is found by the next call.
        assert launch(driver, function, block=(4, 1, 1), params=params) == Result.ILLEGAL_ADDRESS
        assert driver.call("cuCtxSynchronize") == Result.ILLEGAL_ADDRESS
    with driver.current(1):
        assert driver.call("cuCtxSynchronize") == Result.SUCCESS


def fault(driver: FakeDriver, error: Exception) -> int:
    """Return a kernel that ends with this error."""

    def fails(_: Running) -> None:
        raise error

    driver.kernel("empty", fails)
    return kernel(driver)


@tries("context-failed", "device-alignment")
@pytest.mark.parametrize(
    ("error", "result"),
    [
        (IllegalAddressError(), Result.ILLEGAL_ADDRESS),
        (MisalignedAddressError(), Result.MISALIGNED_ADDRESS),
        (ZeroDivisionError(), Result.LAUNCH_FAILED),
    ],
)
def test_all_later_calls_return_it(driver: FakeDriver, error: Exception, result: Result):
    function, size = fault(driver, error), ctypes.c_size_t(4)
    stream, other = driver.new_stream(0), driver.new_stream(0)
    with driver.current(0):
        memory = driver.get("cuMemAlloc_v2", size)
        host, at, out = ctypes.create_string_buffer(4), P(memory), ctypes.byref(P())
        assert launch(driver, function, stream=stream) == Result.SUCCESS
        for name, *arguments in (
            ("cuCtxSynchronize",),
            ("cuStreamSynchronize", P(stream)),
            ("cuStreamQuery", P(other)),
            ("cuStreamBeginCapture_v2", P(other), 0),
            ("cuStreamCreate", out, ctypes.c_uint(0)),
            ("cuMemAlloc_v2", out, size),
            ("cuMemcpyDtoH_v2", host, at, size),
            ("cuMemcpyHtoDAsync_v2", at, host, size, P(stream)),
            ("cuMemsetD8_v2", at, ctypes.c_ubyte(0), size),
            ("cuModuleLoadData", out, make_cubin([EMPTY])),
            ("cuMemFree_v2", at),
            ("cuStreamDestroy_v2", P(other)),
        ):
            assert driver.call(name, *arguments) == result, name
        for where in (0, LEGACY, PER_THREAD, stream):
            assert launch(driver, function, stream=where) == result
        driver.errors.clear()
        driver.recover()
        assert driver.call("cuCtxSynchronize") == Result.SUCCESS


def test_a_graph_is_instantiated_in_a_context(driver: FakeDriver):
    """A launch of it is not: both were seen on an H200."""
    stream, graph, made = driver.new_stream(0), P(), P()
    driver.begin_capture(stream)
    driver.must("cuStreamEndCapture", P(stream), ctypes.byref(graph))
    given = (ctypes.byref(made), graph, ctypes.c_ulonglong(0))
    assert driver.call("cuGraphInstantiateWithFlags", *given) == Result.INVALID_CONTEXT
    with driver.current(0):
        driver.must("cuGraphInstantiateWithFlags", *given)
    driver.must("cuGraphLaunch", made, P(stream))


def test_a_graph_ends_with_the_kernel_that_fails(driver: FakeDriver):
    function, stream = fault(driver, IllegalAddressError()), driver.new_stream(0)
    driver.begin_capture(stream)
    for _ in range(2):
        assert launch(driver, function, stream=stream) == Result.SUCCESS
    graph = driver.end_capture(stream)
    driver.launch_graph(graph, stream)
    assert len(driver.launches()) == 1
    result = driver.call("cuGraphLaunch", P(graph), P(stream))
    assert result == Result.ILLEGAL_ADDRESS


def test_memory_is_freed_by_whoever_has_allocated_it(driver: FakeDriver):
    array = DeviceArray(driver, (4,), "float32")
    with driver.current(0):
        mine = driver.get("cuMemAlloc_v2", ctypes.c_size_t(64))
        assert driver.call("cuMemFree_v2", P(array.address)) == Result.INVALID_VALUE
        assert driver.call("cuMemFree_v2", P(mine + 8)) == Result.INVALID_VALUE
        driver.must("cuMemFree_v2", P(mine))
        assert driver.call("cuMemFree_v2", P(mine)) == Result.INVALID_VALUE
    array.host[:] = 1


@tries("stack", "pop")
def test_the_stack(driver: FakeDriver):
    context = driver.retain()
    assert driver.call("cuCtxPopCurrent_v2", None) == Result.INVALID_CONTEXT
    for _ in range(64):
        driver.must("cuCtxPushCurrent_v2", P(context))
    assert driver.call("cuCtxPushCurrent_v2", P(context)) != Result.SUCCESS
    assert rules_broken(driver) == ["stack"]


@tries("device")
def test_devices_are_numbered(driver: FakeDriver):
    driver.init()
    out = P()
    for number in (-1, 2):
        result = driver.call("cuDevicePrimaryCtxRetain", ctypes.byref(out), number)
        assert result == Result.INVALID_DEVICE


# Images.


@tries("image", "image-memory", "image-gpu", "ptx", "ptx-version")
def test_images(driver: FakeDriver):
    cubin, ptx = make_cubin([EMPTY]), make_ptx([EMPTY])
    for image in (cubin, ptx, make_fatbin([(cubin, 90)]), make_ptx([EMPTY], target="sm_80")):
        assert loading(driver, image) == Result.SUCCESS
    assert loading(driver, b"nothing of that kind") == Result.INVALID_IMAGE
    assert loading(driver, cubin[:100].ljust(5000, b"\xff")) == Result.INVALID_IMAGE
    assert loading(driver, make_cubin([EMPTY], sm=80)) == Result.NO_BINARY_FOR_GPU
    assert loading(driver, make_cubin([EMPTY], sm=100)) == Result.NO_BINARY_FOR_GPU
    assert loading(driver, ptx.rstrip(b"\0") + b"garbage") == Result.INVALID_PTX
    driver.set_version(13000)
    newest = make_ptx([EMPTY], version="9.1")
    assert loading(driver, newest) == Result.UNSUPPORTED_PTX_VERSION
    driver.set_version(13010)
    assert loading(driver, newest) == Result.SUCCESS
    assert loading(driver, P(4096)) == Result.INVALID_VALUE
    assert rules_broken(driver) == ["image-memory"]


@tries("library", "kernel-name")
def test_finding_kernels(driver: FakeDriver):
    loaded, out = load(driver, EMPTY), ctypes.byref(P())
    assert driver.call("cuLibraryGetKernel", out, P(loaded), b"Empty") == Result.NOT_FOUND
    driver.must("cuLibraryUnload", P(loaded))
    assert driver.call("cuLibraryGetKernel", out, P(loaded), b"empty") == Result.INVALID_HANDLE
    assert driver.call("cuLibraryUnload", P(loaded)) == Result.INVALID_HANDLE


GLOBALS = b"""
.visible .global .align 4 .f32 scale;
.extern .global .u32 missing;
.const .align 16 .v4 .u32 table[8][2] = {1};
.visible .global .attribute(.managed) .u64 managed;
"""


@tries("kernel-name", "context")
def test_globals(driver: FakeDriver):
    loaded = P(load(driver, image=make_ptx([EMPTY]).rstrip(b"\0") + GLOBALS + b"\0"))
    address, size = ctypes.c_uint64(), ctypes.c_size_t()
    out = (ctypes.byref(address), ctypes.byref(size), loaded)
    assert driver.call("cuLibraryGetGlobal", *out, b"scale") == Result.INVALID_CONTEXT
    found: set[int] = set()
    for device in (0, 1):
        with driver.current(device):
            for name, wanted in ((b"scale", 4), (b"table", 256), (b"managed", 8)):
                driver.must("cuLibraryGetGlobal", *out, name)
                assert size.value == wanted
                found.add(address.value)
                assert (
                    driver.memory(address.value, wanted, "uint8", device).tolist() == [0] * wanted
                )
            assert driver.call("cuMemFree_v2", address) == Result.INVALID_VALUE
            for name in (b"Scale", b"missing"):
                assert driver.call("cuLibraryGetGlobal", *out, name) == Result.NOT_FOUND
    assert len(found) == 6
    with driver.current():
        driver.must("cuLibraryUnload", loaded)
        assert driver.call("cuLibraryGetGlobal", *out, b"scale") == Result.INVALID_HANDLE
        assert driver.call("cuMemsetD8_v2", address, ctypes.c_ubyte(0), 8) == Result.INVALID_VALUE


@tries("kernel", "kernel-unloaded")
def test_what_can_be_launched(driver: FakeDriver):
    loaded = load(driver)
    function = driver.get("cuLibraryGetKernel", P(loaded), b"empty")
    with driver.current():
        assert launch(driver, 0) == Result.INVALID_HANDLE
        assert launch(driver, loaded) == Result.INVALID_HANDLE
        assert launch(driver, function) == Result.SUCCESS
        driver.must("cuLibraryUnload", P(loaded))
        assert launch(driver, function) == Result.INVALID_HANDLE
    assert rules_broken(driver) == ["kernel-unloaded"]


@tries("function-context")
def test_a_function_is_of_one_context(driver: FakeDriver):
    handle = kernel(driver)
    with driver.current(0):
        function = driver.get("cuKernelGetFunction", P(handle))
        assert launch(driver, function) == Result.SUCCESS
        with driver.current(1):
            assert launch(driver, function) == Result.INVALID_HANDLE
            assert launch(driver, handle) == Result.SUCCESS


# Functions for tests.


def test_failures_are_injected(driver: FakeDriver):
    driver.fail("cuInit", Result.UNKNOWN, nth=2)
    results = [driver.call("cuInit", ctypes.c_uint(0)) for _ in range(3)]
    assert results == [0, Result.UNKNOWN, 0]
    driver.fail("cuInit", Result.UNKNOWN, nth=0)
    assert [driver.call("cuInit", ctypes.c_uint(0)) for _ in range(2)] == [Result.UNKNOWN] * 2


def test_the_host_cannot_touch_device_memory(driver: FakeDriver):
    array = DeviceArray(driver, (4,), "float32")
    reading, writing = os.pipe()
    with pytest.raises(OSError, match="Bad address"):
        os.write(writing, (ctypes.c_char * 16).from_address(array.address))
    os.close(reading)
    os.close(writing)


def test_saxpy_is_computed(driver: FakeDriver):
    function = kernel(driver, SAXPY)
    emulate_saxpy(driver)
    x, y = (device_array(driver, np.arange(100, dtype="float32")) for _ in range(2))
    every = [ctypes.c_float(2), ctypes.c_uint64(x.address), ctypes.c_uint64(y.address)]
    every.append(ctypes.c_int32(100))  # pyright: ignore[reportArgumentType]
    params = (P * 4)(*(ctypes.addressof(value) for value in every))
    with driver.current():
        assert launch(driver, function, block=(64, 1, 1), params=params) == Result.SUCCESS
    assert y.host.tolist() == [3 * i if i < 64 else i for i in range(100)]


TESTS = "".join(path.read_text() for path in Path(__file__).parent.glob("test_fake_*.py"))


def test_every_rule_is_tried():
    listed = " ".join(re.findall(r"^@tries\((.*?)\)", TESTS, re.MULTILINE | re.DOTALL))
    assert set(re.findall(r'"([\w-]+)"', listed)) == set(RULES)


def test_every_result_is_tested():
    """A rule whose result no test names would be a rule in name only."""
    named = {result for rule in RULES.values() for result in rule.results}
    assert [result for result in named if f"Result.{result.name}" not in TESTS] == []
