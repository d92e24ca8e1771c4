"""What the fake HIP library refuses, and what it writes down as a broken rule."""

from __future__ import annotations

import ctypes
import shutil
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ffi_builder import Launch, spec, testing, wrap
from ffi_builder.fakecuda.constants import Result
from ffi_builder.fakehip import build
from ffi_builder.fakehip.driver import FakeHipDriver, HipResult
from tests.fakehip.code_objects import POINTER, CodeKernel, bundle, code_object

P = ctypes.c_void_p
EMPTY, ADD = CodeKernel("empty"), CodeKernel("add", [(8, POINTER), 4])
FIXED = CodeKernel("fixed", block=(64, 1, 1))


def function(hip: FakeHipDriver, kernel: CodeKernel = EMPTY) -> int:
    """A function on the current device."""
    image = code_object(kernel)
    module = hip.get("hipModuleLoadData", image)
    return hip.get("hipModuleGetFunction", P(module), kernel.name.encode())


def launch(
    hip: FakeHipDriver,
    handle: int,
    grid: tuple[int, int, int] = (1, 1, 1),
    block: tuple[int, int, int] = (1, 1, 1),
    shared: int = 0,
    stream: int = 0,
    params: Any = None,
    extra: Any = None,
) -> int:
    sizes = map(ctypes.c_uint, (*grid, *block, shared))
    return hip.call("hipModuleLaunchKernel", P(handle), *sizes, P(stream), params, extra)


def rules(hip: FakeHipDriver) -> list[str]:
    found = [violation.rule for violation in hip.violations()]
    hip.clear_log()
    return found


INVALID = HipResult.INVALID_CONFIGURATION
SIZES: list[tuple[dict[str, Any], int]] = [
    ({"grid": (2**31 - 1, 1, 1)}, Result.SUCCESS),
    ({"grid": (0, 1, 1)}, Result.INVALID_VALUE),
    ({"block": (1, 0, 1)}, INVALID),
    ({"grid": (2**24, 1, 1), "block": (256, 1, 1)}, INVALID),
    ({"grid": (1, 2**24 - 1, 1), "block": (1, 256, 1)}, Result.SUCCESS),
    ({"block": (257, 1, 1)}, Result.LAUNCH_FAILED),
    ({"block": (2**16, 2**16, 2)}, Result.LAUNCH_FAILED),
    ({"shared": 64 << 10}, Result.SUCCESS),
    ({"shared": (64 << 10) + 1}, Result.INVALID_VALUE),
]


@pytest.mark.parametrize(("sizes", "result"), SIZES)
def test_sizes(hip: FakeHipDriver, sizes: dict[str, Any], result: int):
    assert launch(hip, function(hip), **sizes) == result


def test_a_block_that_was_compiled_in(hip: FakeHipDriver):
    fixed = function(hip, FIXED)
    assert launch(hip, fixed, block=(64, 1, 1)) == Result.SUCCESS
    assert rules(hip) == []
    assert launch(hip, fixed, block=(32, 1, 1)) == Result.SUCCESS
    assert rules(hip) == ["required-block"]


def on_another_device(hip: FakeHipDriver, call: Callable[[], int]) -> None:
    """HIP would end the process."""
    hip.set_device(1)
    assert call() == Result.INVALID_HANDLE
    assert rules(hip) == ["module-device"]


def test_a_module_is_of_its_device(hip: FakeHipDriver):
    image, out, value = code_object(EMPTY), P(), ctypes.c_int()
    module = P(hip.get("hipModuleLoadData", image))
    handle = hip.get("hipModuleGetFunction", module, b"empty")
    for call in (
        lambda: launch(hip, handle),
        lambda: hip.call("hipModuleGetFunction", ctypes.byref(out), module, b"empty"),
        lambda: hip.call("hipFuncGetAttribute", ctypes.byref(value), 0, P(handle)),
        lambda: hip.call("hipModuleUnload", module),
    ):
        on_another_device(hip, call)
    hip.set_device(0)
    assert launch(hip, handle) == Result.SUCCESS
    assert launch(hip, handle, stream=hip.new_stream(1)) == Result.INVALID_HANDLE
    assert hip.call("hipModuleUnload", module) == Result.SUCCESS
    assert launch(hip, handle) == Result.INVALID_HANDLE
    assert rules(hip) == ["kernel-unloaded"]


def test_parameters_by_pointers_and_in_a_buffer(hip: FakeHipDriver):
    add = function(hip, ADD)
    x, n = ctypes.c_uint64(0x1000), ctypes.c_int32(7)
    pointers = (P * 2)(ctypes.addressof(x), ctypes.addressof(n))
    assert launch(hip, add, params=pointers) == Result.SUCCESS
    buffer, size = (ctypes.c_char * 12)(*bytes(x) + bytes(n)), ctypes.c_size_t(12)
    extra = (P * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(size), 3)
    assert launch(hip, add, extra=extra) == Result.SUCCESS
    assert [each.arguments for each in hip.launches()] == [(bytes(x), bytes(n))] * 2
    assert [each.offset for each in hip.launches()[0].parameters] == [0, 8]
    assert launch(hip, add) == Result.INVALID_VALUE
    cudas_end = (P * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(size), 0)
    assert launch(hip, add, extra=cudas_end) == Result.INVALID_VALUE


def test_images(hip: FakeHipDriver):
    def loading(image: bytes) -> int:
        return hip.call("hipModuleLoadData", ctypes.byref(P()), image)

    image = code_object(EMPTY)
    other = code_object(EMPTY, target="gfx1100")
    assert loading(image) == Result.SUCCESS
    assert loading(other) == Result.NO_BINARY_FOR_GPU
    assert loading(bundle(("gfx1100", other), ("gfx942", image))) == Result.SUCCESS
    assert loading(bundle(("gfx1100", other))) == Result.NO_BINARY_FOR_GPU
    for wrong in (b".version 8.0".ljust(64), image[:100].ljust(200), b"CCOB".ljust(64)):
        assert loading(wrong) == Result.INVALID_IMAGE
    assert hip.call("hipModuleLoadData", ctypes.byref(P()), P(16)) == Result.INVALID_VALUE
    assert rules(hip) == ["image-memory"]


@pytest.mark.parametrize("version", [2, 3])
def test_compressed_bundles(hip: FakeHipDriver, version: int):
    plain = bundle(("gfx942", code_object(EMPTY)))
    content, layout = zlib.compress(plain), {2: "<4sHHIIQ", 3: "<4sHHQQQ"}[version]
    size = struct.calcsize(layout) + len(content)
    made = struct.pack(layout, b"CCOB", version, 0, size, len(plain), 0) + content
    module = hip.get("hipModuleLoadData", made)
    hip.get("hipModuleGetFunction", P(module), b"empty")
    damaged = made[:-20] + bytes(20)
    assert hip.call("hipModuleLoadData", ctypes.byref(P()), damaged) == Result.INVALID_IMAGE
    [error] = hip.errors
    assert isinstance(error, zlib.error)
    hip.errors.clear()


def test_no_kernel_of_that_name(hip: FakeHipDriver):
    module = hip.get("hipModuleLoadData", code_object(EMPTY))
    out = ctypes.byref(P())
    assert hip.call("hipModuleGetFunction", out, P(module), b"other") == Result.NOT_FOUND


TARGETS = [("gfx942", 64, 64, 9, 4), ("gfx950", 64, 160, 9, 5), ("gfx1100", 32, 64, 11, 0)]


@pytest.mark.parametrize(("target", "wave", "lds", "major", "minor"), TARGETS)
def test_devices(hip: FakeHipDriver, target: str, wave: int, lds: int, major: int, minor: int):
    hip.set_target(target, 1)
    value, properties = ctypes.c_int(), (ctypes.c_char * 1472)()
    for attribute, expected in ((87, wave), (74, lds << 10), (23, major), (61, minor), (56, 1024)):
        hip.must("hipDeviceGetAttribute", ctypes.byref(value), attribute, 1)
        assert value.value == expected
    hip.must("hipGetDevicePropertiesR0600", properties, 1)
    assert properties.raw[1160 : 1160 + len(target) + 1] == target.encode() + b"\0"


def test_errors_have_names(hip: FakeHipDriver):
    text = ctypes.c_char_p()
    for code, name in ((0, b"hipSuccess"), (9, b"hipErrorInvalidConfiguration")):
        hip.must("hipDrvGetErrorName", code, ctypes.byref(text))
        assert text.value == name


def test_memory_and_what_fills_it(hip: FakeHipDriver):
    address = hip.get("hipMalloc", ctypes.c_size_t(8))
    stream = P(hip.new_stream())
    hip.must("hipMemsetD8Async", P(address), 7, ctypes.c_size_t(8), stream)
    hip.must("hipStreamSynchronize", stream)
    assert hip.memory(address, 8, "uint8").tolist() == [7] * 8
    hip.must("hipFree", P(address))


def test_without_a_device(hip: FakeHipDriver):
    hip.set_devices(0)
    assert hip.call("hipInit", 0) == Result.NO_DEVICE


def test_declarations_of_our_own_do(tmp_path: Path):
    """Where HIP's header is not installed."""
    if (reason := build.missing()) is not None:
        pytest.skip(str(reason))
    include = build.build.headers()
    flags = ("-std=gnu11", "-Wall", "-Wextra", "-Werror", f"-I{include}", "-fsyntax-only")
    sources = sorted((Path(build.__file__).parent / "c").glob("*.c"))
    options = (*flags, f"-I{build.build.SOURCES}", *map(str, sources))
    build.build._run(*options)  # pyright: ignore[reportPrivateUsage]


# The class.


def test_a_kernel_in_python():
    with testing.FakeHip("gfx942", "gfx1100") as gpu:
        x = gpu.array(np.arange(4, dtype="float32"), device=1)
        assert x.__dlpack_device__() == (10, 1)
        assert x.numpy().tolist() == [0, 1, 2, 3]
        assert gpu.stream(1) > 2


SCALE = spec.Signature.parse(
    "scale(x: Tensor([n], float32, intent=inout)) where n: int32", device="rocm"
)


def scale(gpu: testing.FakeHip, factor: int) -> Any:
    @gpu.kernel("scale", ["float32*", "int32"])
    def emulated(_: Any, x: Any, n: int) -> None:  # pyright: ignore[reportUnusedFunction]
        x[:n] *= factor

    image = code_object(CodeKernel("scale", [(8, POINTER), 4]))
    how = Launch(grid="ceildiv(n, 256)", block=256)
    return wrap(image, SCALE, launch=how, args=["x", "n"])["scale"]


def double(x: Any) -> Any:
    return 2 * x


def test_arguments_that_are_made():
    with pytest.raises(ValueError, match=r"x.* is on rocm, .* or in a testing\.FakeHip\(\)"):
        testing.make_args(SCALE)
    with testing.FakeHip() as gpu:
        [x] = testing.make_args(SCALE)
        assert repr(x) == "<FakeArray float32[2] on rocm:0>"
        testing.check_kernel(scale(gpu, 2), SCALE, double)
        testing.check_intents(scale(gpu, 2), SCALE)
        with pytest.raises(testing.KernelError):
            testing.check_kernel(scale(gpu, 3), SCALE, double)


def test_both_vendors_at_once():
    with testing.FakeHip() as amd, testing.FakeCuda() as nvidia:
        one, other = amd.array(np.ones(2)), nvidia.array(np.ones(3))
        assert (one.__dlpack_device__(), other.__dlpack_device__()) == ((10, 0), (2, 0))
        amd.stream()
        assert not nvidia.calls
        with pytest.raises(RuntimeError, match="FakeHip: this process is in the block of another"):
            testing.FakeHip().__enter__()


def test_what_is_no_target():
    for wrong in ("sm_90", "gfx9", "gfx90a:xnack", 942):
        with pytest.raises(ValueError, match="FakeHip: expected a target such as 'gfx942'"):
            testing.FakeHip(wrong)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="FakeHip: 9 devices, and there are 8 at most"):
        testing.FakeHip(*["gfx942"] * 9)
    with pytest.raises(ValueError, match=r"expected a version of HIP from '6\.0' on"):
        testing.FakeHip(version="5.2")
    with pytest.raises(TypeError, match="expected a version of HIP"):
        testing.FakeHip(version=7)  # pyright: ignore[reportArgumentType]


def test_outside_of_the_block():
    with pytest.raises(RuntimeError, match=r"works in its block only: `with FakeHip\(\) as gpu:`"):
        testing.FakeHip().array([1.0])


def launch_elsewhere(gpu: testing.FakeHip) -> None:
    with gpu:
        hip = gpu._inside.driver  # pyright: ignore[reportPrivateUsage]
        assert isinstance(hip, FakeHipDriver)
        handle = function(hip)
        hip.set_device(1)
        launch(hip, handle)
        hip.set_device(0)


def test_a_broken_rule_ends_the_block():
    words = "FakeHip: rules of HIP were broken:\n  module-device: a kernel is launched of device 0 while"
    with pytest.raises(AssertionError, match=words):
        launch_elsewhere(testing.FakeHip("gfx942", "gfx942"))


def nothing(name: str) -> None:
    del name


def test_a_missing_compiler(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shutil, "which", nothing)
    error = build.missing()
    assert str(error).startswith(
        "FakeHip is built from the sources of FakeCuda. FakeCuda: needs a C"
    )
