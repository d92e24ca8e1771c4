"""Streams, contexts and devices of launches, and the context that is current afterwards."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from ffi_builder import BuildError, SpecError, spec
from tests.cuda.launching import STREAM, N, X, array, launched, provider, wrap
from tests.fakecuda import (
    LEGACY,
    PER_THREAD,
    DeviceArray,
    DeviceAttribute,
    FakeDriver,
    KernelImage,
    Result,
)
from tests.fakecuda.kernels import EMPTY
from tests.support.wrapping import attached, current_stream

ONE = KernelImage("one", (8,))

CONTEXT_CALLS = (
    "cuCtxGetCurrent",
    "cuCtxGetDevice",
    "cuCtxPushCurrent_v2",
    "cuCtxPopCurrent_v2",
    "cuDevicePrimaryCtxRetain",
    "cuCtxSetCurrent",
)


@contextmanager
def counting(driver: FakeDriver) -> Generator[dict[str, int]]:
    """How often the calls about contexts are made; filled in at the end."""
    before = {name: driver.count(name) for name in CONTEXT_CALLS}
    counts: dict[str, int] = {}
    yield counts
    counts.update(
        {n: driver.count(n) - before[n] for n in CONTEXT_CALLS if driver.count(n) - before[n]}
    )


@contextmanager
def unchanged(driver: FakeDriver) -> Generator[None]:
    """The thread's stack of contexts is afterwards what it was."""
    driver.init()
    before = (driver.stack(), driver.stack_depth)
    yield
    assert (driver.stack(), driver.stack_depth) == before


# Which stream.


def test_a_stream_decides_over_the_tensors_device(driver: FakeDriver):
    """It is the caller's to bring both together, as for any launch."""
    stream = driver.new_stream(device=1)
    launch = launched(driver, ONE, [X, STREAM], array(driver, 0), ctypes.c_void_p(stream))
    assert launch.device == 1


def test_an_env_stream_is_the_current_one_of_the_tensors_device(driver: FakeDriver):
    streams = [driver.new_stream(device) for device in (0, 1)]
    function = wrap(ONE, [X, spec.EnvStream("stream")])
    with current_stream(streams[0], 0), current_stream(streams[1], 1):
        for device in (1, 0):
            function(array(driver, device))
    found = [(launch.stream, launch.device) for launch in driver.launches()]
    assert found == [(streams[1], 1), (streams[0], 0)]


@pytest.mark.parametrize("kind", ["cuda_host", "cuda_managed", "any"])
@pytest.mark.parametrize("stream", [[], [spec.EnvStream("stream")]])
def test_the_current_stream_is_that_of_the_first_cuda_tensor(
    driver: FakeDriver, kind: str, stream: list[spec.EnvStream]
):
    """Pinned and managed memory has a device id as well, but tvm-ffi has no stream for it."""
    other = spec.Tensor("p", [N], "float32", device_type=kind)
    wanted = driver.new_stream(1)
    function = wrap(KernelImage("k", (8, 8)), [other, X, *stream])
    pinned = DeviceArray(driver, (4,), "float32", 1)
    with current_stream(wanted, 1):
        first = pinned.tensor(kind="cuda_managed" if kind == "any" else kind)
        function(first, array(driver, 1))
    [launch] = driver.launches()
    assert (launch.stream, launch.device) == (wanted, 1)


def test_an_absent_tensor_has_no_device(driver: FakeDriver):
    """The next tensor's device counts."""
    two = [spec.Optional(spec.Tensor("o", [3], "float32", device_type="cuda")), X]
    stream = driver.new_stream(1)
    with current_stream(stream, 1):
        launch = launched(driver, KernelImage("k", (8, 8)), two, None, array(driver, 1))
    assert (launch.stream, launch.device) == (stream, 1)


@pytest.mark.parametrize("special", [0, LEGACY, PER_THREAD])
def test_a_stream_of_the_provider(driver: FakeDriver, special: int):
    launch = launched(driver, ONE, [X, STREAM], array(driver, 1), 0x1234, stream=special)
    assert (launch.stream, launch.device) == (special, 1)


def test_a_stream_chosen_among_several(driver: FakeDriver):
    params = [spec.Stream("a"), spec.Stream("b")]
    with pytest.raises(BuildError, match=r"has the streams a, b; choose one with stream="):
        attached(params, provider(EMPTY))
    stream = driver.new_stream()
    launch = launched(driver, EMPTY, params, 0, ctypes.c_void_p(stream), stream="b")
    assert launch.stream == stream


@pytest.mark.parametrize("stream", ["n", N, "nobody", spec.Stream("other")])
def test_what_is_no_stream_of_the_signature(stream: Any):
    launch = provider(EMPTY, args=[], stream=stream)
    expected = "expected a Stream or EnvStream of 'f', which has stream, but got "
    with pytest.raises(BuildError, match=re.escape(f"stream: {expected}{stream!r}")):
        attached([N, STREAM], launch)


@pytest.mark.parametrize("stream", [3, -1, True, 1.0, object])
def test_what_is_no_stream(stream: Any):
    with pytest.raises(SpecError, match=r"stream: expected a parameter or its name, 0 \(NULL\), 1"):
        provider(EMPTY, stream=stream)


# The context.


def test_a_real_stream_needs_no_context(driver: FakeDriver):
    """Neither for the first launch nor for further ones: no call about contexts is made."""
    stream = driver.new_stream(device=1)
    function = wrap(ONE, [X, STREAM])
    tensor = array(driver, 1)
    with unchanged(driver), counting(driver) as counts:
        for _ in range(3):
            function(tensor, ctypes.c_void_p(stream))
        assert driver.stack() == 0
    assert counts == {"cuCtxGetCurrent": 1}  # of this test itself
    assert [launch.device for launch in driver.launches()] == [1, 1, 1]


@pytest.mark.parametrize("special", [0, LEGACY, PER_THREAD])
@pytest.mark.parametrize("device", [0, 1])
def test_without_a_context_the_primary_one_is_pushed_and_popped(
    driver: FakeDriver, special: int, device: int
):
    function = wrap(ONE, [X, STREAM])
    tensor = array(driver, device)
    with unchanged(driver):
        for _ in range(2):
            function(tensor, ctypes.c_void_p(special))
    assert driver.stack() == 0
    assert [launch.device for launch in driver.launches()] == [device] * 2
    # It is kept: where nobody else has one, making it takes 100 ms and more.
    assert driver.count("cuDevicePrimaryCtxRetain") == 1


def test_a_context_of_the_same_device_is_used_as_it_is(driver: FakeDriver):
    function = wrap(ONE, [X])
    driver.init()
    own = driver.get("cuCtxCreate_v2", ctypes.c_uint(0), 1)
    with counting(driver) as counts:
        function(array(driver, 1))
    assert driver.stack() == own
    assert counts == {"cuCtxGetCurrent": 1, "cuCtxGetDevice": 1}
    [launch] = driver.launches()
    assert (launch.context, launch.device) == (own, 1)


def test_a_context_of_another_device_comes_back(driver: FakeDriver):
    function = wrap(ONE, [X])
    with driver.current(0), unchanged(driver):
        function(array(driver, 1))
    [launch] = driver.launches()
    assert launch.device == 1


def test_without_tensors_the_current_context_is_taken(driver: FakeDriver):
    function = wrap(EMPTY, [])
    with driver.current(1), unchanged(driver):
        function()
    function()
    assert [launch.device for launch in driver.launches()] == [1, 0]


FAILURES = [
    ("cuCtxGetCurrent", Result.UNKNOWN),
    ("cuCtxGetDevice", Result.UNKNOWN),
    ("cuDevicePrimaryCtxRetain", Result.OUT_OF_MEMORY),
    ("cuCtxPushCurrent_v2", Result.OUT_OF_MEMORY),
    ("cuLaunchKernelEx", Result.LAUNCH_OUT_OF_RESOURCES),
    ("cuDeviceGetAttribute", Result.INVALID_DEVICE),
    ("cuKernelGetAttribute", Result.INVALID_HANDLE),
    ("cuKernelSetAttribute", Result.INVALID_VALUE),
]


@pytest.mark.parametrize(
    ("name", "result", "has_tensor"),
    [
        *((name, result, True) for name, result in FAILURES),
        *((name, result, False) for name, result in FAILURES[-3:]),
    ],
)
def test_the_callers_context_comes_back_after_each_failure(
    driver: FakeDriver, name: str, result: Result, has_tensor: bool
):
    params, arguments = ([X], [array(driver, 1)]) if has_tensor else ([], [])
    function = wrap(ONE if has_tensor else EMPTY, params, dynamic_smem_bytes=100_000)
    with driver.current(0):
        with unchanged(driver):
            driver.fail(name, result)
            with pytest.raises(RuntimeError, match=f"{name} failed: {result.symbol}"):
                function(*arguments)
        with unchanged(driver):
            function(*arguments)
    assert [launch.device for launch in driver.launches()] == [1 if has_tensor else 0]


# A device that somebody has reset.


def test_a_primary_context_that_was_reset_is_retained_anew(driver: FakeDriver):
    """As by cudaDeviceReset: streams and memory are gone, the module is not."""
    function = wrap(ONE, [X])
    with unchanged(driver):
        for device in (0, 1, 1):
            function(array(driver, device))
            driver.must("cuDevicePrimaryCtxReset_v2", device)
        function(array(driver, 1))
        function(array(driver, 0))
    assert [launch.device for launch in driver.launches()] == [0, 1, 1, 1, 0]
    assert driver.count("cuDevicePrimaryCtxRetain") == 5


def test_a_context_that_turns_out_to_be_gone_at_the_launch(driver: FakeDriver):
    function = wrap(ONE, [X])
    function(array(driver, 1))
    driver.fail("cuLaunchKernelEx", Result.CONTEXT_IS_DESTROYED)
    with unchanged(driver):
        function(array(driver, 1))
    assert len(driver.launches()) == 2


@pytest.mark.parametrize("name", ["cuCtxPushCurrent_v2", "cuLaunchKernelEx"])
def test_a_context_that_is_gone_for_good_is_an_error(driver: FakeDriver, name: str):
    """It is tried once more, and not for ever; a caller's own context is the caller's."""
    function, tensor = wrap(ONE, [X]), array(driver, 1)
    driver.fail(name, Result.CONTEXT_IS_DESTROYED, nth=0)
    with unchanged(driver), pytest.raises(RuntimeError, match=f"{name} failed: CUDA_ERROR_CONTEXT"):
        function(tensor)
    assert driver.count(name) == 2
    if name == "cuLaunchKernelEx":
        with driver.current(1), pytest.raises(RuntimeError, match="CUDA_ERROR_CONTEXT_IS_DESTR"):
            function(tensor)
        assert driver.count(name) == 3


# A real stream of another device than the tensors'.


def test_a_streams_own_device_is_made_ready(driver: FakeDriver):
    """Whichever was ready before: by a launch, by preloading, or none."""
    function = wrap(ONE, [X, STREAM], dynamic_smem_bytes=100_000)
    streams = [ctypes.c_void_p(driver.new_stream(device)) for device in (0, 1)]
    with unchanged(driver):
        for device in (1, 1, 0, 1, 0):
            function(array(driver, 0), streams[device])
    assert [launch.device for launch in driver.launches()] == [1, 1, 0, 1, 0]
    devices = [call.arguments["device"] for call in driver.calls("cuKernelSetAttribute")]
    assert devices == [1, 0]


def test_a_stream_elsewhere_after_one_of_the_tensors_device(driver: FakeDriver):
    function = wrap(ONE, [X, STREAM], dynamic_smem_bytes=100_000, grid=16, cluster=16)
    streams = [ctypes.c_void_p(driver.new_stream(device)) for device in (0, 1)]
    with driver.current(0), unchanged(driver):
        for device in (0, 1, 1):
            function(array(driver, 0), streams[device])
    assert [launch.device for launch in driver.launches()] == [0, 1, 1]
    # Refused once, and then made ready.
    assert driver.count("cuLaunchKernelEx") == 4


def test_what_is_refused_on_a_stream_elsewhere_is_an_error(driver: FakeDriver):
    """Once the kernel is ready there, nothing is tried again; limits are those of that device."""
    size = spec.Var("size", "int32")
    function = wrap(ONE, [X, STREAM, size], args=["x"], block=size, dynamic_smem_bytes=100_000)
    stream = ctypes.c_void_p(driver.new_stream(1))
    tensor = array(driver, 0)
    driver.set_attribute(DeviceAttribute.MAX_THREADS_PER_BLOCK, 512, device=1)
    with unchanged(driver):
        for _ in range(2):
            with pytest.raises(RuntimeError) as caught:
                function(tensor, stream, 600)
            words = f"device 1, stream {stream.value:#x}; the block has 600 threads, at most 512"
            assert words in str(caught.value)
    assert driver.count("cuKernelSetAttribute") == 1
    function(tensor, stream, 512)


@pytest.mark.parametrize("name", ["cuStreamGetCtx", "cuCtxPushCurrent_v2", "cuCtxGetDevice"])
def test_where_a_stream_does_not_tell_its_device_it_is_the_tensors(driver: FakeDriver, name: str):
    function = wrap(ONE, [X, STREAM], dynamic_smem_bytes=100_000)
    stream = ctypes.c_void_p(driver.new_stream(1))
    driver.fail(name, Result.UNKNOWN)
    with unchanged(driver):
        function(array(driver, 1), stream)
    assert {call.arguments["device"] for call in driver.calls("cuKernelSetAttribute")} == {1}


def test_the_device_of_a_real_stream_is_found_for_attributes(driver: FakeDriver):
    """With no tensor only the stream says it; the context comes back."""
    function = wrap(EMPTY, [STREAM], dynamic_smem_bytes=100_000)
    stream = driver.new_stream(1)
    with driver.current(0), unchanged(driver):
        function(ctypes.c_void_p(stream))
    [launch] = driver.launches()
    assert launch.device == 1
    assert {call.arguments["device"] for call in driver.calls("cuKernelSetAttribute")} == {1}


def test_more_devices_than_states_are_kept_for(driver: FakeDriver):
    """No device has such a number, and nothing behind the table is touched."""
    function = wrap(ONE, [X])
    tensor = DeviceArray(driver, (4,), "float32")
    for number in (128, 2**31 - 1):
        words = "cuDevicePrimaryCtxRetain failed: CUDA_ERROR_INVALID"
        with pytest.raises(RuntimeError, match=words):
            function(tensor.tensor(device=number))
