"""The fake driver enforces its rules: for launches, streams and graphs."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

from tests.cuda.asking import Request
from tests.fakecuda import (
    NON_BLOCKING,
    PER_THREAD,
    CaptureMode,
    DeviceAttribute,
    FakeDriver,
    FunctionAttribute,
    KernelImage,
    LaunchAttribute,
    Result,
    make_cubin,
)
from tests.fakecuda.calling import (
    Config,
    P,
    attribute,
    kernel,
    launch,
    load,
    loading,
    rules_broken,
    tries,
)
from tests.fakecuda.kernels import BOUNDED, CLUSTERED, EMPTY, HUNGRY
from tests.fakecuda.numbers import CaptureStatus

# Launching.


@tries("grid", "block", "registers")
def test_sizes(driver: FakeDriver):
    empty, bounded, hungry = (kernel(driver, image) for image in (EMPTY, BOUNDED, HUNGRY))
    value = ctypes.c_uint64()
    params = (P * 1)(ctypes.addressof(value))
    most = (2**31 - 1, 65535, 65535)
    with driver.current():
        assert launch(driver, empty, grid=most) == Result.SUCCESS
        for axis in range(3):
            for size in (0, most[axis] + 1):
                grid = tuple(size if index == axis else 1 for index in range(3))
                assert launch(driver, empty, grid=grid) == Result.INVALID_VALUE
        for block in ((0, 1, 1), (1025, 1, 1), (1, 1025, 1), (1, 1, 65), (32, 33, 1)):
            assert launch(driver, empty, block=block) == Result.INVALID_VALUE
        assert launch(driver, empty, block=(16, 1, 64)) == Result.SUCCESS
        assert launch(driver, bounded, block=(257, 1, 1), params=params) == Result.INVALID_VALUE
        result = launch(driver, hungry, block=(1024, 1, 1), params=params)
        assert result == Result.LAUNCH_OUT_OF_RESOURCES
        assert launch(driver, hungry, block=(256, 1, 1), params=params) == Result.SUCCESS


@tries("shared")
def test_shared_memory(driver: FakeDriver):
    function, large = kernel(driver), 227 << 10
    set_ = ("cuKernelSetAttribute", int(FunctionAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES))
    with driver.current():
        assert launch(driver, function, shared=48 << 10) == Result.SUCCESS
        assert launch(driver, function, shared=(48 << 10) + 1) == Result.INVALID_VALUE
        assert driver.call(*set_, large + 1, P(function), 0) == Result.INVALID_VALUE
        driver.must(*set_, large, P(function), 0)
        assert launch(driver, function, shared=large) == Result.SUCCESS
        assert launch(driver, function, shared=large + 1) == Result.INVALID_VALUE
    with driver.current(1):
        assert launch(driver, function, shared=large) == Result.INVALID_VALUE


@tries("attribute", "attribute-memory")
def test_attributes(driver: FakeDriver):
    function = kernel(driver)
    fine = attribute(LaunchAttribute.PROGRAMMATIC_STREAM_SERIALIZATION, 1) + attribute(0)
    with driver.current():
        assert launch(driver, function, attributes=fine) == Result.SUCCESS
        for number in (LaunchAttribute.SYNCHRONIZATION_POLICY, 99):
            wrong = attribute(number, 1)
            assert launch(driver, function, attributes=wrong) == Result.INVALID_VALUE
        config = Config(Config().grid, Config().block, 0, PER_THREAD, 4096, 1)
        config.grid[:] = config.block[:] = (1, 1, 1)
        result = driver.call("cuLaunchKernelEx", ctypes.byref(config), P(function), None, None)
        assert result == Result.INVALID_VALUE
    found = driver.launches()[0]
    assert found.attributes[LaunchAttribute.PROGRAMMATIC_STREAM_SERIALIZATION][:4] == b"\1\0\0\0"
    assert rules_broken(driver) == ["attribute-memory"]


@tries("cluster", "cluster-large", "cluster-device")
def test_clusters(driver: FakeDriver):
    function, fixed = kernel(driver), kernel(driver, CLUSTERED)

    def cluster(x: int, grid: int, handle: int = function, params: Any = None) -> int:
        given = attribute(LaunchAttribute.CLUSTER_DIMENSION, x, 1, 1)
        return launch(driver, handle, grid=(grid, 1, 1), attributes=given, params=params)

    value = ctypes.c_uint64()
    params = (P * 1)(ctypes.addressof(value))
    with driver.current():
        assert cluster(8, 16) == Result.SUCCESS
        assert cluster(8, 12) == Result.INVALID_CLUSTER_SIZE
        assert cluster(16, 16) == Result.INVALID_CLUSTER_SIZE
        number = int(FunctionAttribute.NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
        driver.must("cuKernelSetAttribute", number, 1, P(function), 0)
        assert cluster(16, 16) == Result.SUCCESS
        assert cluster(17, 17) == Result.INVALID_CLUSTER_SIZE
        assert cluster(4, 4, fixed, params) == Result.INVALID_CLUSTER_SIZE
        assert launch(driver, fixed, grid=(3, 1, 1), params=params) == Result.INVALID_CLUSTER_SIZE
        assert launch(driver, fixed, grid=(4, 1, 1), params=params) == Result.SUCCESS
        driver.set_attribute(DeviceAttribute.CLUSTER_LAUNCH, 0)
        assert cluster(8, 16) == Result.INVALID_VALUE


@tries("cooperative")
def test_cooperative_launches(driver: FakeDriver):
    function, flag = kernel(driver), attribute(LaunchAttribute.COOPERATIVE, 1)
    most = 132 * 2  # two blocks of 1024 threads fit onto each multiprocessor
    with driver.current():
        block = (1024, 1, 1)
        assert (
            launch(driver, function, grid=(most, 1, 1), block=block, attributes=flag)
            == Result.SUCCESS
        )
        assert (
            launch(driver, function, grid=(most + 1, 1, 1), block=block, attributes=flag)
            == Result.COOPERATIVE_LAUNCH_TOO_LARGE
        )


@tries("parameters", "parameter-memory", "parameter-alignment")
def test_parameters(driver: FakeDriver):
    function = kernel(driver, KernelImage("k", (128, 4)))
    memory = ctypes.create_string_buffer(bytes(range(64)) * 4, 256)
    start = ctypes.addressof(memory) + -ctypes.addressof(memory) % 64
    number = ctypes.c_int32(7)

    def call(first: int, extra: Any = None) -> int:
        params = (P * 2)(first, ctypes.addressof(number))
        return launch(driver, function, params=params, extra=extra)

    with driver.current():
        assert call(start) == Result.SUCCESS
        [found] = driver.launches()
        assert found.arguments == (ctypes.string_at(start, 128), struct.pack("<i", 7))
        assert [parameter.offset for parameter in found.parameters] == [48, 176]
        assert rules_broken(driver) == []
        assert call(start + 16) == Result.SUCCESS
        assert rules_broken(driver) == ["parameter-alignment"]
        assert call(4096) == Result.INVALID_VALUE
        assert rules_broken(driver) == ["parameter-memory"]
        assert call(start, (P * 1)()) == Result.INVALID_VALUE
        assert launch(driver, function) == Result.INVALID_VALUE
        buffer, size = ctypes.create_string_buffer(bytes(180), 180), ctypes.c_size_t(180)
        extra = (P * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(size), 0)
        assert launch(driver, function, extra=extra) == Result.SUCCESS
    assert rules_broken(driver) == []


@tries("tensor-map")
def test_tensor_maps(driver: FakeDriver):
    """``tests/cuda/test_tensor_maps.py`` tries each of their rules."""
    driver.init()
    with driver.current():
        for columns, result in ((256, Result.SUCCESS), (257, Result.INVALID_VALUE)):
            assert Request(box=(64, columns, 1)).made(driver.call) == result


# Streams and graphs.


@tries("stream", "stream-destroyed")
def test_streams(driver: FakeDriver):
    function, stream = kernel(driver), driver.new_stream()
    assert launch(driver, function, stream=0x1234) == Result.INVALID_HANDLE
    assert launch(driver, function, stream=stream) == Result.SUCCESS
    driver.must("cuStreamDestroy_v2", P(stream))
    assert launch(driver, function, stream=stream) == Result.INVALID_HANDLE
    assert rules_broken(driver) == ["stream-destroyed"]


@tries("capture-unsafe", "capture-lost")
def test_what_a_capture_forbids(driver: FakeDriver):
    function, stream = kernel(driver), driver.new_stream(flags=NON_BLOCKING)
    mode = ctypes.c_int(CaptureMode.RELAXED)
    driver.begin_capture(stream)
    driver.must("cuThreadExchangeStreamCaptureMode", ctypes.byref(mode))
    assert loading(driver, make_cubin([EMPTY])) == Result.SUCCESS
    driver.must("cuThreadExchangeStreamCaptureMode", ctypes.byref(mode))
    assert launch(driver, function, stream=stream) == Result.SUCCESS
    assert capture_status(driver, stream) == CaptureStatus.ACTIVE
    assert loading(driver, make_cubin([EMPTY])) == Result.STREAM_CAPTURE_UNSUPPORTED
    assert capture_status(driver, stream) == CaptureStatus.INVALIDATED
    assert launch(driver, function, stream=stream) == Result.STREAM_CAPTURE_INVALIDATED
    ended = driver.call("cuStreamEndCapture", P(stream), ctypes.byref(P()))
    assert ended == Result.STREAM_CAPTURE_INVALIDATED
    assert driver.launches() == []


def capture_status(driver: FakeDriver, stream: int) -> int:
    status = ctypes.c_int()
    driver.must("cuStreamIsCapturing", P(stream), ctypes.byref(status))
    return status.value


@tries("capture-legacy")
def test_the_legacy_stream_in_a_capture(driver: FakeDriver):
    function = kernel(driver)
    for flags, expected in ((0, Result.STREAM_CAPTURE_IMPLICIT), (NON_BLOCKING, Result.SUCCESS)):
        stream = driver.new_stream(flags=flags)
        with driver.current():
            driver.begin_capture(stream)
            assert launch(driver, function, stream=0) == expected
            driver.call("cuStreamEndCapture", P(stream), ctypes.byref(P()))


@tries("graph-outlived")
def test_graphs_run_again_with_the_bytes_of_the_capture(driver: FakeDriver):
    loaded = load(driver, KernelImage("k", (4,)))
    function = driver.get("cuLibraryGetKernel", P(loaded), b"k")
    stream, number = driver.new_stream(flags=NON_BLOCKING), ctypes.c_int32(7)
    driver.begin_capture(stream)
    params = (P * 1)(ctypes.addressof(number))
    assert launch(driver, function, stream=stream, params=params) == Result.SUCCESS
    graph = driver.end_capture(stream)
    assert driver.launches() == []
    number.value = 8
    driver.launch_graph(graph, stream)
    driver.launch_graph(graph, stream)
    assert [found.arguments for found in driver.launches()] == [(b"\7\0\0\0",)] * 2
    driver.must("cuLibraryUnload", P(loaded))
    assert driver.call("cuGraphLaunch", P(graph), P(stream)) != Result.SUCCESS
    assert rules_broken(driver) == ["graph-outlived"]
