"""Variants by the target of the device: a code object for each."""

from __future__ import annotations

from typing import Any

import pytest

from ffi_builder import SpecError, runtime, spec
from ffi_builder.fakecuda.constants import Result
from ffi_builder.fakehip.driver import FakeHipDriver
from ffi_builder.providers import Variant, VariantsCallProvider, when
from tests.fakehip.code_objects import POINTER, CodeKernel, code_object
from tests.rocm.launch.launching import X, provider, tensor
from tests.support.wrapping import attached

NAMES = ("gfx90a", "gfx942", "gfx1100")


def by_target(*names: str) -> Any:
    signature = spec.Signature("f", [X])
    variants = [
        Variant(
            provider(kernel, image=code_object(kernel, target=name), args=[X]),
            when=when.parse(f"target == {name}", signature),
        )
        for name in names
        for kernel in (CodeKernel(f"k_{name}", [(8, POINTER)]),)
    ]
    return runtime.compile(attached([X], VariantsCallProvider(variants)))["f"]


def test_each_device_gets_the_kernel_of_its_target(hip: FakeHipDriver):
    hip.set_devices(3)
    for device, name in enumerate(("gfx1100", "gfx90a:sramecc+:xnack-", "gfx942")):
        hip.set_target(name, device)
    f, arrays = by_target(*NAMES), [tensor(hip, device=device) for device in range(3)]
    for _ in range(2):
        for array in arrays:
            f(array)
    kernels = [launch.kernel for launch in hip.launches()]
    assert kernels == ["k_gfx1100", "k_gfx90a", "k_gfx942"] * 2
    assert hip.count("hipGetDevicePropertiesR0600") == 3


def test_none_fits(hip: FakeHipDriver):
    with pytest.raises(ValueError, match="No variant fits") as raised:
        by_target("gfx90a", "gfx1100")(tensor(hip))
    assert str(raised.value).startswith(
        "No variant fits: expected k_gfx90a (target == gfx90a), k_gfx1100 (target == gfx1100) but "
        "got target = gfx, version 9.4.2 when calling"
    )


def test_hip_that_fails_is_asked_again(hip: FakeHipDriver):
    f, array = by_target("gfx942"), tensor(hip)
    hip.fail("hipGetDevicePropertiesR0600", Result.INVALID_DEVICE)
    words = "hipGetDevicePropertiesR0600 failed: hipErrorInvalidDev"
    with pytest.raises(RuntimeError, match=words):
        f(array)
    f(array)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("target >= gfx90a", "target has no order: expected == or != but got '>='"),
        ("target == sm_90", "target: expected a name such as gfx942 but got 'sm_90'"),
    ],
)
def test_what_is_no_condition(text: str, words: str):
    with pytest.raises(SpecError, match=words):
        when.parse(text, spec.Signature("f", [X]))
