"""Loading: once, under threads too; again after a failure; before it is needed; and back."""

from __future__ import annotations

import ctypes
import gc
from collections import Counter

import pytest

from ffi_builder import attach_ffi_func, runtime, spec
from tests.cuda.launching import STREAM, X, array, compiled, provider, wrap
from tests.fakecuda import (
    DeviceArray,
    FakeDriver,
    KernelImage,
    Result,
    make_cubin,
    make_fatbin,
    make_ptx,
)
from tests.fakecuda.kernels import EMPTY, SAXPY
from tests.support.threads import together
from tests.support.wrapping import SafeCall, new_module

THREADS, ROUNDS = 16, 100


def test_nothing_happens_before_the_first_call(driver: FakeDriver):
    function = wrap(EMPTY, [])
    assert driver.calls() == []
    function()
    names = [call.name for call in driver.calls()]
    assert names[0] == "cuInit"
    assert names.count("cuLibraryLoadData") == names.count("cuLibraryGetKernel") == 1


def test_what_was_loaded_is_kept(driver: FakeDriver):
    function = wrap(EMPTY, [STREAM])
    stream = ctypes.c_void_p(driver.new_stream())
    function(stream)
    driver.clear_log()
    function(stream)
    assert [call.name for call in driver.calls()] == ["cuLaunchKernelEx"]


def test_wrappers_of_one_image_share_it(driver: FakeDriver):
    image = make_cubin([EMPTY, SAXPY])
    module = new_module()
    for name in ("a", "b"):
        attach_ffi_func(module, name, [], provider(EMPTY, image=image))
    saxpy = [spec.Var("a", "float32"), X, spec.DataPointer("y"), spec.Var("i", "int32")]
    attach_ffi_func(module, "c", saxpy, provider(SAXPY, image=image))
    both = runtime.compile(module)
    for name in ("a", "b", "a"):
        both[name]()
    assert driver.count("cuLibraryLoadData") == 1
    assert driver.count("cuLibraryGetKernel") == 1
    both["c"](1.0, DeviceArray(driver, (3,), "float32").tensor(), 0, 3)
    assert driver.count("cuLibraryLoadData") == 1
    assert driver.count("cuLibraryGetKernel") == 2


PTX = make_ptx([EMPTY])
FORMATS = {
    "cubin": make_cubin([EMPTY]),
    "ptx": PTX,
    "ptx without NUL": PTX.rstrip(b"\0"),
    "ptx with several": PTX + bytes(3),
    "ptx as str": PTX.rstrip(b"\0").decode(),
    "fatbin": make_fatbin([(make_cubin([EMPTY], sm=80), 80), (make_cubin([EMPTY]), 90)]),
}


@pytest.mark.parametrize("format_", FORMATS)
def test_each_format(driver: FakeDriver, format_: str):
    wrap(EMPTY, [], image=FORMATS[format_])()
    assert len(driver.launches()) == 1
    [call] = driver.calls("cuLibraryLoadData")
    address = call.arguments["code"]
    assert isinstance(address, int)
    assert address % 64 == 0


def test_ptx_is_the_same_however_it_ends(driver: FakeDriver):
    module = new_module()
    images = [image for name, image in FORMATS.items() if "ptx" in name]
    for number, image in enumerate(images):
        attach_ffi_func(module, f"f{number}", [], provider(EMPTY, image=image))
    found = runtime.compile(module)
    for number in range(len(images)):
        found[f"f{number}"]()
    assert driver.count("cuLibraryLoadData") == 1


# Threads.


def test_first_calls_of_16_threads_100_times(driver: FakeDriver):
    """A call during another thread's loading waits for it, and nothing is loaded twice."""
    module = compiled(EMPTY, [STREAM])
    call = SafeCall(module.address("f"))
    stream = driver.new_stream()
    argument = (ctypes.c_int64 * 2)(4, stream)  # an opaque pointer
    statuses: list[int] = []

    def work() -> None:
        result = (ctypes.c_int64 * 2)()
        statuses.append(call(None, ctypes.addressof(argument), 1, ctypes.addressof(result)))

    driver.delay("cuLibraryLoadData", 300)
    driver.delay("cuLibraryGetKernel", 300)
    for _ in range(ROUNDS):
        together(lambda _: work(), THREADS)
        module["_cuda_release_f"]()
    assert Counter(statuses) == {0: THREADS * ROUNDS}
    assert len(driver.launches()) == THREADS * ROUNDS
    assert driver.count("cuLibraryLoadData") == driver.count("cuLibraryUnload") == ROUNDS


def test_first_calls_that_fail_and_succeed_in_16_threads(driver: FakeDriver):
    """Each attempt that fails is the error of one thread; the next one tries again."""
    module = compiled(EMPTY, [STREAM])
    stream = ctypes.c_void_p(driver.new_stream())
    outcomes: list[str] = []
    words = "cuLibraryLoadData failed: CUDA_ERROR_OUT_OF_MEMORY"
    for nth in (1, 2, 3):
        driver.fail("cuLibraryLoadData", Result.OUT_OF_MEMORY, nth)
    driver.delay("cuLibraryLoadData", 300)

    def work() -> None:
        try:
            module["f"](stream)
            outcomes.append("launched")
        except RuntimeError as error:
            outcomes.append("failed" if words in str(error) else str(error))

    together(lambda _: work(), THREADS)
    assert Counter(outcomes) == {"failed": 3, "launched": THREADS - 3}
    assert driver.count("cuLibraryLoadData") == 4


def test_primary_contexts_are_retained_once_by_many_threads(driver: FakeDriver):
    module = compiled(KernelImage("k", (8,)), [X])
    arrays = [array(driver, device) for device in (0, 1)]
    driver.delay("cuDevicePrimaryCtxRetain", 300)

    def work() -> None:
        for tensor in arrays:
            module["f"](tensor)

    together(lambda _: work(), THREADS)
    assert len(driver.launches()) == 2 * THREADS
    assert driver.live("primary") == 2


# Failures.


@pytest.mark.parametrize(
    "name", ["cuInit", "cuLibraryLoadData", "cuLibraryGetKernel", "cuLaunchKernelEx"]
)
def test_a_failed_first_call_is_tried_again(driver: FakeDriver, name: str):
    function = wrap(EMPTY, [])
    driver.fail(name, Result.OUT_OF_MEMORY)
    with pytest.raises(RuntimeError, match=f"{name} failed: CUDA_ERROR_OUT_OF_MEMORY"):
        function()
    assert driver.launches() == []
    function()
    assert len(driver.launches()) == 1
    assert driver.live("library") == 1


# Preloading.


def test_preloading_leaves_only_the_launch(driver: FakeDriver):
    module = compiled(EMPTY, [STREAM], dynamic_smem_bytes=100_000)
    stream = driver.new_stream(1)
    module["_cuda_preload_f"](1)
    assert driver.launches() == []
    assert driver.stack() == 0
    attributes = [call.arguments["device"] for call in driver.calls("cuKernelSetAttribute")]
    assert attributes == [1]
    assert driver.count("cuKernelGetFunction") == 1
    driver.clear_log()
    module["f"](ctypes.c_void_p(stream))
    # Without a tensor the stream has to be asked for its device.
    asking = ["cuStreamGetCtx", "cuCtxPushCurrent_v2", "cuCtxGetDevice", "cuCtxPopCurrent_v2"]
    assert [call.name for call in driver.calls()] == [*asking, "cuLaunchKernelEx"]


def test_after_preloading_a_tensors_device_is_ready(driver: FakeDriver):
    module = compiled(KernelImage("k", (8,)), [X, STREAM], dynamic_smem_bytes=100_000)
    stream = driver.new_stream(1)
    module["_cuda_preload_f"](1)
    tensor = array(driver, 1)
    driver.clear_log()
    module["f"](tensor, ctypes.c_void_p(stream))
    assert [call.name for call in driver.calls()] == ["cuLaunchKernelEx"]


def test_preloading_takes_the_current_device(driver: FakeDriver):
    module = compiled(EMPTY, [], dynamic_smem_bytes=100_000)
    with driver.current(1):
        module["_cuda_preload_f"]()
        assert driver.stack_depth == 1
    assert [call.arguments["device"] for call in driver.calls("cuKernelSetAttribute")] == [1]


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ((1, 2), TypeError, "the number of a device, 0 to 127, or nothing .* but got 2 arguments"),
        (("cuda",), TypeError, "but got an argument of another type"),
        ((-1,), ValueError, "but got -1"),
        ((128,), ValueError, "but got 128"),
        ((5,), RuntimeError, "cuDevicePrimaryCtxRetain failed: CUDA_ERROR_INVALID_DEVICE"),
    ],
)
def test_preloading_refuses(
    driver: FakeDriver, arguments: tuple[object, ...], kind: type[Exception], words: str
):
    with pytest.raises(kind, match=words):
        compiled(EMPTY, [])["_cuda_preload_f"](*arguments)


@pytest.mark.parametrize("name", ["cuKernelGetFunction", "cuCtxPushCurrent_v2"])
def test_a_preload_that_fails_restores_the_context(driver: FakeDriver, name: str):
    module = compiled(EMPTY, [])
    with driver.current(0):
        before = (driver.stack(), driver.stack_depth)
        driver.fail(name, Result.OUT_OF_MEMORY)
        with pytest.raises(RuntimeError, match=f"{name} failed: CUDA_ERROR_OUT_OF_MEMORY"):
            module["_cuda_preload_f"](1)
        assert (driver.stack(), driver.stack_depth) == before


# Giving back.


def test_releasing_unloads_and_the_next_call_loads_again(driver: FakeDriver):
    module = compiled(EMPTY, [])
    module["_cuda_release_f"]()  # nothing is loaded yet
    assert driver.calls() == []
    module["f"]()
    module["_cuda_release_f"]()
    assert driver.live("library") == 0
    module["_cuda_release_f"]()
    module["f"]()
    assert driver.live("library") == 1
    assert driver.count("cuLibraryLoadData") == 2


def test_releasing_takes_no_argument(driver: FakeDriver):
    module = compiled(EMPTY, [])
    module["f"]()
    with pytest.raises(TypeError, match=r"release kernel 'empty': expected no argument but got 3"):
        module["_cuda_release_f"](1, 2, 3)
    assert driver.live("library") == 1


def test_releasing_forgets_the_attributes(driver: FakeDriver):
    module = compiled(KernelImage("k", (8,)), [X], dynamic_smem_bytes=100_000)
    tensor = array(driver)
    for _ in range(2):
        module["f"](tensor)
        module["_cuda_release_f"]()
    assert driver.count("cuKernelSetAttribute") == 2
    assert len(driver.launches()) == 2


def test_a_release_that_fails_says_so(driver: FakeDriver):
    module = compiled(EMPTY, [])
    module["f"]()
    driver.fail("cuLibraryUnload", Result.LAUNCH_FAILED)
    with pytest.raises(RuntimeError, match="cuLibraryUnload failed: CUDA_ERROR_LAUNCH_FAILED"):
        module["_cuda_release_f"]()
    module["f"]()
    assert len(driver.launches()) == 2


def test_a_module_that_goes_gives_everything_back(driver: FakeDriver):
    module = compiled(EMPTY, [])
    module["f"]()
    assert (driver.live("library"), driver.live("primary")) == (1, 1)
    function = module["f"]
    del module
    gc.collect()
    function()  # which keeps the code alive
    assert driver.live("library") == 1
    del function
    gc.collect()
    assert (driver.live("library"), driver.live("primary")) == (0, 0)


def test_a_module_that_goes_leaves_what_others_have_retained(driver: FakeDriver):
    """Another part of the program has a primary context of its own, which may be current."""
    driver.retain(0)
    wrap(EMPTY, [])()
    gc.collect()
    assert (driver.live("library"), driver.live("primary")) == (0, 1)
    with driver.current(0):
        wrap(KernelImage("k", (8,)), [X])(array(driver, 1))
        gc.collect()
        driver.must("cuCtxSynchronize")
