"""Ordinary uses of the provider, each of which works, and says so by asserts."""

from __future__ import annotations

import ctypes
import gc
import struct
import threading
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from ffi_builder import spec
from ffi_builder.providers import CheckStatus
from ffi_builder.providers.cuda import Struct, TensorMap
from tests.cuda.launching import compiled, provider, wrap
from tests.fakecuda import (
    NON_BLOCKING,
    DeviceArray,
    FakeDriver,
    KernelImage,
    LaunchAttribute,
    device_array,
    make_ptx,
)
from tests.fakecuda.kernels import EMPTY, SAXPY, emulate_saxpy
from tests.support.wrapping import SafeCall
from tests.support.wrapping import wrap as wrap_with

N = spec.Var("n", "int64")
X = spec.Tensor("x", [N], "float32", device_type="cuda")
Y = spec.Tensor("y", [N], "float32", device_type="cuda")
STREAM = spec.Stream("stream")
ONE = KernelImage("one", (8,))
COUNT = spec.Var("count", "int32")


def array(driver: FakeDriver, device: int = 0) -> Any:
    return DeviceArray(driver, (4,), "float32", device).tensor()


def a_call(driver: FakeDriver) -> None:
    wrap(EMPTY, [])()
    assert len(driver.launches()) == 1


def a_tensor_map(driver: FakeDriver) -> None:
    """Of a row at a time."""
    matrix = spec.Tensor("x", [N, 64], "float32", device_type="cuda")
    f = wrap(KernelImage("one", (128,)), [matrix], args=[TensorMap("x", box=(1, 64))])
    f(DeviceArray(driver, (4, 64), "float32", 0).tensor())
    assert len(driver.launches()) == 1


def two_devices(driver: FakeDriver) -> None:
    """Arrays of each device in turn, with another one current: the numbers are right."""
    emulate_saxpy(driver)
    saxpy = wrap(SAXPY, [spec.Var("a", "float32"), X, Y, COUNT], block=4)
    for device in (0, 1):
        x, y = (device_array(driver, np.ones(4, "float32"), device) for _ in range(2))
        with driver.current(1 - device):
            saxpy(2.0, x.tensor(), y.tensor(), 4)
        assert y.host.tolist() == [3, 3, 3, 3], "the wrong sum"


def saxpy_again(driver: FakeDriver) -> None:
    """A second launch succeeds: the first one has touched nothing that it must not."""
    emulate_saxpy(driver)
    saxpy = wrap(SAXPY, [spec.Var("a", "float32"), X, Y, COUNT], block=4)
    x, y = (device_array(driver, np.ones(4, "float32"), 1) for _ in range(2))
    with driver.current(0):
        saxpy(2.0, x.tensor(), y.tensor(), 4)
        saxpy(2.0, x.tensor(), y.tensor(), 4)
    assert y.host.tolist() == [5, 5, 5, 5], "the wrong sum"


def a_callers_context(driver: FakeDriver) -> None:
    function, tensor = wrap(ONE, [X]), array(driver, 1)
    with driver.current(0):
        before = (driver.stack(), driver.stack_depth)
        function(tensor)
        assert (driver.stack(), driver.stack_depth) == before, "another context is current"


def a_callers_context_after_a_failure(driver: FakeDriver) -> None:
    function, tensor = wrap(ONE, [X]), array(driver, 1)
    with driver.current(0):
        before = (driver.stack(), driver.stack_depth)
        driver.fail("cuLaunchKernelEx", 719)
        with pytest.raises(RuntimeError, match="LAUNCH_FAILED"):
            function(tensor)
        assert (driver.stack(), driver.stack_depth) == before, "another context is current"


def a_context_of_the_caller(driver: FakeDriver) -> None:
    """It fits, and is used as it is."""
    function = wrap(EMPTY, [])
    with driver.current(0):
        function()


def many_calls_on_another_device(driver: FakeDriver) -> None:
    function, tensor = wrap(ONE, [X]), array(driver, 1)
    with driver.current(0):
        for number in range(200):
            # As programs do that switch between devices by themselves.
            driver.must("cuCtxSetCurrent", ctypes.c_void_p(driver.retain(number % 2)))
            function(tensor)
    for number in range(200):
        driver.must("cuDevicePrimaryCtxRelease_v2", number % 2)


def on_the_last_device(driver: FakeDriver) -> None:
    wrap(ONE, [X])(array(driver, 1))


def many_calls(driver: FakeDriver) -> None:
    """100 calls with no context of the caller's: nothing piles up."""
    function = wrap(EMPTY, [])
    for _ in range(100):
        function()
    assert driver.live("primary") <= 1, "retained again and again"
    assert driver.live("library") == 1, "loaded again and again"


def a_module_that_goes(driver: FakeDriver) -> None:
    """A context that another part of the program has retained is still there."""
    driver.retain(0)
    wrap(EMPTY, [])()
    gc.collect()
    assert driver.live("primary") == 1, "another one's primary context was released"
    assert driver.live("library") == 0, "still loaded"


def a_context_that_is_current_when_a_module_goes(driver: FakeDriver) -> None:
    with driver.current(0):
        wrap(ONE, [X])(array(driver, 1))
        gc.collect()
        driver.must("cuCtxSynchronize")


def a_stream(driver: FakeDriver) -> None:
    wrap(EMPTY, [STREAM])(ctypes.c_void_p(driver.new_stream()))


def one_stream_after_another(driver: FakeDriver) -> None:
    function = wrap(EMPTY, [STREAM])
    for _ in range(2):
        stream = ctypes.c_void_p(driver.new_stream())
        function(stream)
        driver.must("cuStreamDestroy_v2", stream)


def a_first_call_in_a_capture(driver: FakeDriver) -> None:
    function, stream = wrap(EMPTY, [STREAM]), driver.new_stream(flags=NON_BLOCKING)
    driver.begin_capture(stream)
    function(ctypes.c_void_p(stream))
    driver.launch_graph(driver.end_capture(stream), stream)
    assert len(driver.launches()) == 1


def a_capture_of_others_after_a_call(driver: FakeDriver) -> None:
    """A library of others relies on its thread's mode: what it may not do breaks its capture."""
    wrap(EMPTY, [])()
    mode = ctypes.c_int(0)
    driver.must("cuThreadExchangeStreamCaptureMode", ctypes.byref(mode))
    assert mode.value == 0, "the thread's capture mode is another one"


def a_capture_of_a_blocking_stream(driver: FakeDriver) -> None:
    function, stream = wrap(EMPTY, [STREAM]), driver.new_stream()
    with driver.current():
        driver.begin_capture(stream)
        function(ctypes.c_void_p(stream))
        driver.end_capture(stream)


def sixteen_threads(driver: FakeDriver) -> None:
    """First calls, all at once, while loading takes a while."""
    module = compiled(EMPTY, [STREAM])
    call = SafeCall(module.address("f"))
    argument = (ctypes.c_int64 * 2)(4, driver.new_stream())
    barrier = threading.Barrier(16)
    failed: list[int] = []

    def work() -> None:
        result = (ctypes.c_int64 * 2)()
        barrier.wait()
        failed.append(call(None, ctypes.addressof(argument), 1, ctypes.addressof(result)))

    driver.delay("cuLibraryLoadData", 20_000)
    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not any(failed), "calls have failed"
    assert driver.count("cuLibraryLoadData") == 1, "loaded again and again"


def a_failure_and_a_success(driver: FakeDriver) -> None:
    function = wrap(EMPTY, [])
    driver.fail("cuLibraryLoadData", 2)
    with pytest.raises(RuntimeError, match="OUT_OF_MEMORY"):
        function()
    function()


def a_release_and_a_call(driver: FakeDriver) -> None:
    module = compiled(EMPTY, [])
    module["f"]()
    module["_cuda_release_f"]()
    module["f"]()


def much_shared_memory(driver: FakeDriver) -> None:
    function = wrap(ONE, [X], dynamic_smem_bytes=100_000)
    function(array(driver, 0))


def much_shared_memory_on_each_device(driver: FakeDriver) -> None:
    function = wrap(ONE, [X], dynamic_smem_bytes=100_000)
    for device in (0, 1):
        function(array(driver, device))


def a_large_cluster(driver: FakeDriver) -> None:
    wrap(EMPTY, [], grid=16, cluster=16)()


def a_small_cluster_and_flags(driver: FakeDriver) -> None:
    flags = ["cooperative", "programmatic_stream_serialization"]
    wrap(EMPTY, [], grid=(4, 3), cluster=(2, 3), attributes=flags)()
    [launch] = driver.launches()
    assert launch.cluster == (2, 3, 1), "another cluster"
    assert launch.attributes.keys() == {
        LaunchAttribute.COOPERATIVE,
        LaunchAttribute.CLUSTER_DIMENSION,
        LaunchAttribute.PROGRAMMATIC_STREAM_SERIALIZATION,
    }, "other attributes"
    for number, value in launch.attributes.items():
        size = 12 if number == LaunchAttribute.CLUSTER_DIMENSION else 4
        assert value[0], "an attribute without its value"
        assert value[size:] == bytes(64 - size), "an attribute with too much"


def attributes_and_a_status(driver: FakeDriver) -> None:
    told = CheckStatus(provider(EMPTY, attributes=["cooperative"]))
    wrap_with([], told)()


def grids_of_every_size(driver: FakeDriver) -> None:
    function = wrap(EMPTY, [N], args=[], grid=(N, 2), block=(1, 3))
    for size in (0, 5):
        function(size)
    with suppress(ValueError):
        function(2**32 + 1)
    [launch] = driver.launches()
    assert (launch.grid, launch.block) == ((5, 2, 1), (1, 3, 1)), "another size"


def a_large_grid(driver: FakeDriver) -> None:
    wrap(EMPTY, [N], args=[], grid=N)(2000)


def parameters_of_every_kind(driver: FakeDriver) -> None:
    memory = ctypes.create_string_buffer(bytes(range(128)), 128)
    x = DeviceArray(driver, (4,), "float32")
    flag = spec.Var("flag", "bool")
    function = wrap(
        KernelImage("k", (128, 1, 24, 4)),
        [spec.DataPointer("map"), flag, X, COUNT],
        args=[TensorMap("map"), flag, Struct(flag, X.data, COUNT), COUNT],
    )
    function(ctypes.addressof(memory), True, x.tensor(), 7)
    [launch] = driver.launches()
    expected = (
        bytes(range(128)),
        b"\1",
        struct.pack("<?7xQi4x", True, x.address, 7),
        struct.pack("<i", 7),
    )
    assert launch.arguments == expected, "other bytes"


def ptx(driver: FakeDriver) -> None:
    wrap(EMPTY, [], image=make_ptx([EMPTY]).rstrip(b"\0"))()
