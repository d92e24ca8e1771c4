"""Graph capture: nothing that a wrapper does beside the launch is captured, or breaks a capture."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Generator
from contextlib import contextmanager

import numpy as np
import pytest

from tests.cuda.launching import SAXPY_PARAMS, STREAM, N, X, array, compiled, wrap
from tests.fakecuda import NON_BLOCKING, CaptureMode, FakeDriver, KernelImage, Result, device_array
from tests.fakecuda.kernels import EMPTY, SAXPY, emulate_saxpy
from tests.support.threads import together


@contextmanager
def capturing(driver: FakeDriver) -> Generator[None]:
    """A stream of device 0 captures meanwhile, in the strictest mode, and its graph is not lost."""
    stream = driver.new_stream(flags=NON_BLOCKING)
    driver.begin_capture(stream)
    yield
    driver.must("cuGraphExecDestroy", ctypes.c_void_p(driver.end_capture(stream)))


@pytest.mark.parametrize("mode", list(CaptureMode))
@pytest.mark.parametrize("shared", [0, 100_000])
def test_a_first_call_may_be_in_a_capture(driver: FakeDriver, mode: CaptureMode, shared: int):
    """Loading and attributes do not break the capture, and the thread's mode comes back."""
    function = wrap(SAXPY, SAXPY_PARAMS, dynamic_smem_bytes=shared, block=128)
    stream = driver.new_stream(flags=NON_BLOCKING)
    emulate_saxpy(driver)
    x, y = (device_array(driver, np.ones(3, "float32")) for _ in range(2))
    driver.begin_capture(stream, mode)
    function(2.0, x.tensor(), y.tensor(), 3, ctypes.c_void_p(stream))
    graph = driver.end_capture(stream)
    assert y.host.tolist() == [1, 1, 1]
    for expected in (3, 5):
        driver.launch_graph(graph, stream)
        assert y.host.tolist() == [expected] * 3
    assert exchanged(driver) == 0


def exchanged(driver: FakeDriver) -> int:
    """The thread's capture mode, by exchanging it for itself."""
    mode = ctypes.c_int(0)
    driver.must("cuThreadExchangeStreamCaptureMode", ctypes.byref(mode))
    driver.must("cuThreadExchangeStreamCaptureMode", ctypes.byref(ctypes.c_int(mode.value)))
    return mode.value


def test_a_first_call_while_another_thread_captures(driver: FakeDriver):
    function = wrap(EMPTY, [STREAM])
    captured, other = (driver.new_stream(flags=NON_BLOCKING) for _ in range(2))
    driver.begin_capture(captured)
    together(lambda _: function(ctypes.c_void_p(other)), count=1)
    driver.must("cuGraphExecDestroy", ctypes.c_void_p(driver.end_capture(captured)))
    assert len(driver.launches()) == 1


# Calls after the first.


def test_a_kernel_is_made_ready_on_another_device(driver: FakeDriver):
    """Its primary context, and the attributes: each may allocate memory there."""
    function = wrap(KernelImage("k", (8,)), [X], dynamic_smem_bytes=100_000)
    tensors = [array(driver, device) for device in (0, 1)]
    function(tensors[0])
    with capturing(driver):
        function(tensors[1])
    assert [launch.device for launch in driver.launches()] == [0, 1]
    assert exchanged(driver) == 0


def test_attributes_that_cannot_be_set_do_not_break_it(driver: FakeDriver):
    function = wrap(EMPTY, [], dynamic_smem_bytes=100_000)
    with driver.current(1):
        driver.fail("cuKernelSetAttribute", Result.INVALID_VALUE)
        with capturing(driver), pytest.raises(RuntimeError, match="cuKernelSetAttribute failed"):
            function()
        function()
    assert exchanged(driver) == 0


def test_asking_for_limits_does_not_break_it(driver: FakeDriver):
    """A launch that was refused can be tried again with other sizes, into the same graph."""
    function = wrap(EMPTY, [STREAM, N], args=[], block=N)
    stream = driver.new_stream(flags=NON_BLOCKING)
    driver.begin_capture(stream)
    with pytest.raises(RuntimeError, match="the block has 2000 threads, at most 1024"):
        function(ctypes.c_void_p(stream), 2000)
    function(ctypes.c_void_p(stream), 1000)
    driver.launch_graph(driver.end_capture(stream), stream)
    assert [launch.block for launch in driver.launches()] == [(1000, 1, 1)]
    assert exchanged(driver) == 0


def test_preloading_and_releasing(driver: FakeDriver):
    module = compiled(EMPTY, [], dynamic_smem_bytes=100_000)
    with capturing(driver):
        for _ in range(2):
            module["_cuda_preload_f"](1)
            module["_cuda_release_f"]()
    assert driver.live("library") == 0
    assert exchanged(driver) == 0


def test_a_module_that_goes(driver: FakeDriver):
    module = compiled(EMPTY, [])
    with driver.current(0):
        module["f"]()
        with capturing(driver):
            del module
            gc.collect()
            assert driver.live("library") == 0
    assert exchanged(driver) == 0


def test_a_graph_does_not_keep_what_it_launches(driver: FakeDriver):
    """A graph that is launched after its kernels were unloaded is the caller's mistake."""
    module = compiled(EMPTY, [STREAM])
    stream = driver.new_stream(flags=NON_BLOCKING)
    driver.begin_capture(stream)
    module["f"](ctypes.c_void_p(stream))
    graph = driver.end_capture(stream)
    module["_cuda_release_f"]()
    assert driver.call("cuGraphLaunch", ctypes.c_void_p(graph), ctypes.c_void_p(stream)) != 0
    assert [violation.rule for violation in driver.violations()] == ["graph-outlived"]
    driver.clear_log()
