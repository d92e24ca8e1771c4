"""Variants by compute capability: a cubin for each architecture."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from ffi_builder import BuildError, SpecError, attach_ffi_func, runtime, spec
from ffi_builder.providers import (
    CallProvider,
    CudaLaunchCallProvider,
    NopCallProvider,
    Variant,
    VariantsCallProvider,
)
from ffi_builder.providers.cuda import capability
from tests.cuda.launching import STREAM, X, array
from tests.fakecuda import DeviceAttribute, FakeDriver, KernelImage, Result, make_cubin
from tests.support.threads import together
from tests.support.wrapping import attached, new_module


def launch(sm: int, **options: Any) -> CudaLaunchCallProvider:
    """A kernel ``k80`` that runs on 8.0 to 8.9 alone, and so on."""
    image = make_cubin([KernelImage(f"k{sm}", (8,))], sm=sm)
    return CudaLaunchCallProvider(image, f"k{sm}", grid=1, block=1, args=[X], **options)


def by_architecture(*more: Variant, **options: Any) -> VariantsCallProvider:
    own = capability(**options)
    return VariantsCallProvider(
        [
            Variant(launch(90, **options), when=(own >= (9, 0)) & (own < (10, 0))),
            Variant(launch(80, **options), when=(own >= (8, 0)) & (own < (9, 0))),
            *more,
        ]
    )


def compiled(
    provider: CallProvider, params: list[spec.Param] | None = None
) -> runtime.CompiledModule:
    return runtime.compile(attached([X] if params is None else params, provider))


def set_capability(driver: FakeDriver, device: int, major: int, minor: int) -> None:
    driver.set_attribute(DeviceAttribute.COMPUTE_CAPABILITY_MAJOR, major, device)
    driver.set_attribute(DeviceAttribute.COMPUTE_CAPABILITY_MINOR, minor, device)


def test_each_device_gets_the_kernel_of_its_architecture(driver: FakeDriver):
    set_capability(driver, 1, 8, 6)
    function = compiled(by_architecture())["f"]
    for device in (0, 1, 1, 0):
        function(array(driver, device))
    assert [launch.device for launch in driver.launches()] == [0, 1, 1, 0]
    assert driver.count("cuLibraryLoadData") == 2


def test_a_device_is_asked_once(driver: FakeDriver):
    function = compiled(by_architecture())["f"]
    tensors = [array(driver, device) for device in (0, 1)]
    for _ in range(3):
        for tensor in tensors:
            function(tensor)
    asked = [
        (call.arguments["attribute"], call.arguments["device"])
        for call in driver.calls("cuDeviceGetAttribute")
    ]
    assert asked == [(75, 0), (76, 0), (75, 1), (76, 1)]
    assert len(driver.launches()) == 6


def test_the_last_one_takes_the_rest(driver: FakeDriver):
    set_capability(driver, 0, 12, 0)
    with pytest.raises(ValueError, match="No variant fits") as raised:
        compiled(by_architecture())["f"](array(driver))
    assert str(raised.value) == (
        "No variant fits: expected k90 (capability >= (9, 0) and capability < (10, 0)), "
        "k80 (capability >= (8, 0) and capability < (9, 0)) but got capability = (12, 0) "
        "when calling: `f(x: Tensor([n], float32))`"
    )
    compiled(by_architecture(Variant(NopCallProvider())))["f"](array(driver))
    assert driver.launches() == []


def test_without_a_tensor_it_is_the_streams_device(driver: FakeDriver):
    set_capability(driver, 1, 8, 0)
    pointer = spec.DataPointer("p")
    image = {sm: make_cubin([KernelImage(f"k{sm}", (8,))], sm=sm) for sm in (80, 90)}
    one, two = (
        CudaLaunchCallProvider(image[sm], f"k{sm}", grid=1, block=1, args=[pointer])
        for sm in (80, 90)
    )
    provider = VariantsCallProvider([Variant(one, when=capability() < (9, 0)), Variant(two)])
    function = compiled(provider, [pointer, STREAM])["f"]
    for device in (1, 0, 1):
        function(0, ctypes.c_void_p(driver.new_stream(device)))
    assert [launch.device for launch in driver.launches()] == [1, 0, 1]
    with driver.current(1):
        function(0, None)
    assert driver.launches()[-1].device == 1
    assert driver.count("cuDeviceGetAttribute") == 4


def test_an_optional_tensor_that_is_absent(driver: FakeDriver):
    set_capability(driver, 1, 8, 0)
    provider = VariantsCallProvider(
        [Variant(launch(80), when=capability() == (8, 0)), Variant(launch(90))]
    )
    function = compiled(provider, [spec.Optional(X), STREAM])["f"]
    function(None, ctypes.c_void_p(driver.new_stream(1)))
    function(array(driver, 0), ctypes.c_void_p(driver.new_stream(0)))
    assert [launch.device for launch in driver.launches()] == [1, 0]


def test_it_is_read_once_a_call():
    text = str(attached([X], by_architecture()))
    wrapper = text.partition("llvm.func @__tvm_ffi_f(")[2].partition("llvm.return")[0]
    assert wrapper.count("@__ffi_builder_cuda_capabilities") == 1


def test_a_driver_that_fails_is_asked_again(driver: FakeDriver):
    function = compiled(by_architecture())["f"]
    driver.fail("cuDeviceGetAttribute", Result.INVALID_DEVICE, 2)
    with pytest.raises(RuntimeError, match="cuDeviceGetAttribute failed: CUDA_ERROR_INVALID_DEV"):
        function(array(driver))
    function(array(driver))
    assert len(driver.launches()) == 1


def test_a_driver_that_cannot_be_initialised(driver: FakeDriver):
    function = compiled(by_architecture())["f"]
    driver.fail("cuInit", Result.OUT_OF_MEMORY)
    with pytest.raises(RuntimeError, match="cuInit failed: CUDA_ERROR_OUT_OF_MEMORY"):
        function(array(driver))
    function(array(driver))
    assert len(driver.launches()) == 1


def test_first_calls_of_many_threads(driver: FakeDriver):
    set_capability(driver, 1, 8, 0)
    function = compiled(by_architecture())["f"]
    tensors = [array(driver, device) for device in (0, 1)]
    driver.delay("cuDeviceGetAttribute", 300)
    together(lambda number: function(tensors[number % 2]), 8)
    assert sorted(launch.device for launch in driver.launches()) == [0] * 4 + [1] * 4
    before = driver.count("cuDeviceGetAttribute")
    function(tensors[0])
    assert driver.count("cuDeviceGetAttribute") == before


def test_wrappers_of_a_module_share_what_they_know(driver: FakeDriver):
    module = new_module()
    for name in ("a", "b"):
        attach_ffi_func(module, name, [X], by_architecture())
    found = runtime.compile(module)
    for name in ("a", "b"):
        found[name](array(driver))
    assert driver.count("cuDeviceGetAttribute") == 2


def test_each_variant_can_be_preloaded_and_released(driver: FakeDriver):
    set_capability(driver, 1, 8, 0)
    found = compiled(by_architecture())
    found["_cuda_preload_f"](0)
    found["_cuda_preload2_f"](1)
    driver.clear_log()
    for device in (0, 1):
        found["f"](array(driver, device))
    assert driver.count("cuLibraryLoadData") == 2
    assert driver.calls("cuLibraryLoadData") == []
    for name in ("_cuda_release_f", "_cuda_release2_f"):
        found[name]()
    assert driver.live("library") == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (9, "but got 9"),
        ((9,), r"but got \(9,\)"),
        ((9, 0, 0), r"but got \(9, 0, 0\)"),
        ("9.0", "but got '9.0'"),
        ((9, -1), r"but got \(9, -1\)"),
    ],
)
def test_what_is_no_capability(given: object, words: str):
    with pytest.raises(SpecError, match=f"capability: expected a pair .* {words}"):
        _ = capability() == given


def test_several_streams_and_no_tensor():
    streams: list[spec.Param] = [spec.Stream("s"), spec.Stream("t")]
    provider = VariantsCallProvider(
        [Variant(NopCallProvider(), when=capability() == (8, 0)), Variant(NopCallProvider())]
    )
    with pytest.raises(BuildError, match="has the streams s, t; choose one with stream="):
        attached(streams, provider)
    chosen = VariantsCallProvider(
        [
            Variant(NopCallProvider(), when=capability(stream="t") == (8, 0)),
            Variant(NopCallProvider()),
        ]
    )
    attached(streams, chosen)
