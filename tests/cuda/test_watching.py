"""Launches that are watched: hooks around them, and wrappers that wait for what they launched."""

from __future__ import annotations

import ctypes
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tvm_ffi

from ffi_builder import Launch, cuda, spec, wrap
from ffi_builder.cuda.launch import watching
from ffi_builder.providers.cuda import Pointee, Scalar, Struct
from tests.cuda.launching import SAXPY_PARAMS, STREAM, N, X, array, compiled
from tests.cuda.launching import wrap as wrapped
from tests.fakecuda import CaptureMode, DeviceArray, FakeDriver, IllegalAddressError, KernelImage
from tests.fakecuda.kernels import EMPTY, SAXPY

NAME = "ffi_builder.launch_hook.v1"
VARIABLE = "FFI_BUILDER_LAUNCH_BLOCKING"


@pytest.fixture(autouse=True)
def unwatched() -> Iterator[None]:
    """Nothing is watched before a test and after it."""
    yield
    cuda.launch_hook(None)
    cuda.launch_blocking(False)
    watch = watching._watch()  # pyright: ignore[reportPrivateUsage]
    watch.decided = watch.said = 0


def phases_into(calls: list[str], words: str = "") -> Any:
    """A hook that notes each phase."""

    def hook(phase: str, *_: object) -> None:
        calls.append(words + phase)

    return hook


def register(hook: Any) -> None:
    """Register a hook as a program does that has no ffi_builder."""
    tvm_ffi.register_global_func(NAME, hook, override=True)


@pytest.fixture
def seen() -> list[tuple[Any, ...]]:
    """What a hook was called with."""
    calls: list[tuple[Any, ...]] = []

    @cuda.launch_hook
    def hook(*arguments: Any) -> None:  # pyright: ignore[reportUnusedFunction]
        calls.append(arguments)

    return calls


@pytest.mark.parametrize("stream", [0, 2, "real"])
def test_a_hook_is_called_around_each_launch(
    driver: FakeDriver, seen: list[tuple[Any, ...]], stream: int | str
):
    handle = driver.new_stream() if isinstance(stream, str) else stream
    name = "k" * 1000  # errors shorten it, and hooks get the whole one
    kernel = KernelImage(name, ())
    options: dict[str, Any] = {"grid": (N, 2), "block": (32, 1, 4), "dynamic_smem_bytes": 100}
    f = wrapped(kernel, [N, STREAM], args=[], **options)
    f(3, handle)
    rest = (name, (3, 2, 1), (32, 1, 4), 100, handle, 0)
    assert seen == [("before", *rest), ("after", *rest)]
    f(0, handle)  # an empty grid launches nothing
    assert len(seen) == 2
    cuda.launch_hook(None)
    f(3, handle)
    assert len(seen) == 2
    assert len(driver.launches()) == 2


def test_a_hook_is_told_the_device(driver: FakeDriver, seen: list[tuple[Any, ...]]):
    tensor = array(driver, 1)
    wrapped(KernelImage("k", (8,)), [X])(tensor)
    assert [call[-1] for call in seen] == [1, 1]


def test_a_kernel_is_launched_between_the_two_calls(driver: FakeDriver):
    order: list[str] = []
    driver.kernel(EMPTY.name, lambda _: order.append("kernel"))
    cuda.launch_hook(phases_into(order))
    wrapped(EMPTY, [])()
    assert order == ["before", "kernel", "after"]


def test_a_hook_that_was_registered_in_tvm_ffi_is_found_at_the_first_launch(driver: FakeDriver):
    module = compiled(EMPTY, [])
    calls: list[str] = []
    register(phases_into(calls))
    module["f"]()
    assert calls == ["before", "after"]
    register(phases_into(calls, "new "))
    module["f"]()
    assert calls[2:] == ["new before", "new after"]
    tvm_ffi.registry.remove_global_func(NAME)
    module["f"]()
    assert len(calls) == 4


@pytest.mark.parametrize(("phase", "launches"), [("before", 0), ("after", 1)])
def test_what_a_hook_raises_fails_the_call(driver: FakeDriver, phase: str, launches: int):
    def hook(now: str, *_: object) -> None:
        if now == phase:
            raise KeyError(f"no launch, {now}")

    f = wrapped(EMPTY, [])
    cuda.launch_hook(hook)
    with pytest.raises(KeyError, match=f"no launch, {phase}"):
        f()
    assert len(driver.launches()) == launches


def test_a_launch_that_fails_is_told_to_the_hook_and_raised(driver: FakeDriver):
    phases: list[str] = []

    def hook(phase: str, *_: object) -> None:
        phases.append(phase)
        if phase == "after":
            raise KeyError("this would hide the error of the launch")

    cuda.launch_hook(hook)
    with pytest.raises(RuntimeError, match=r"CUDA_ERROR_INVALID_VALUE.*block\.x is 2048"):
        wrapped(EMPTY, [N], block=N, args=[])(2048)
    assert phases == ["before", "after"]


def test_a_launch_is_repeated_on_the_streams_device(
    driver: FakeDriver, seen: list[tuple[Any, ...]]
):
    stream, tensor = driver.new_stream(1), array(driver)
    wrapped(KernelImage("k", (8,)), [X, STREAM], dynamic_smem_bytes=60000)(tensor, stream)
    assert [(each.device, each.shared) for each in driver.launches()] == [(1, 60000)]
    assert [call[0] for call in seen] == ["before", "after"]


def test_ranges_of_nvtx(driver: FakeDriver, monkeypatch: pytest.MonkeyPatch):
    """The package `nvtx` is not in the tests' environment; this has its two functions."""
    ranges: list[str] = []
    package: Any = types.ModuleType("nvtx")

    def push_range(name: str, domain: str) -> None:
        ranges.append(f"{domain}: {name}")

    def pop_range(domain: str) -> None:
        ranges.append(f"{domain}: end")

    package.push_range, package.pop_range = push_range, pop_range
    monkeypatch.setitem(sys.modules, "nvtx", package)
    assert cuda.launch_hook("nvtx") is None
    wrapped(EMPTY, [])()
    assert ranges == [f"ffi_builder: {EMPTY.name}", "ffi_builder: end"]


def test_refused_hooks(monkeypatch: pytest.MonkeyPatch):
    wrong: Any = "NVTX"
    with pytest.raises(TypeError, match="expected a function, 'nvtx' or None but got 'NVTX'"):
        cuda.launch_hook(wrong)
    monkeypatch.setitem(sys.modules, "nvtx", None)
    with pytest.raises(ModuleNotFoundError, match="pip install nvtx"):
        cuda.launch_hook("nvtx")
    wrong = 1
    with pytest.raises(TypeError, match="expected True or False but got 1"):
        cuda.launch_blocking(wrong)


# ---- waiting


def fault(_: object) -> None:
    raise IllegalAddressError("here")


def faulty(driver: FakeDriver) -> None:
    """Let saxpy fail as a kernel on a GPU does: the launch succeeds, and what follows fails."""
    driver.kernel(SAXPY.name, fault)


def saxpy(driver: FakeDriver, stream: int, **options: Any) -> tuple[Any, list[Any]]:
    arrays = [DeviceArray(driver, (300,), "float32", 0).tensor() for _ in "xy"]
    f = wrapped(SAXPY, SAXPY_PARAMS, grid=(3, 1), block=128, **options)
    return f, [2.5, *arrays, 300, stream]


@pytest.mark.parametrize("stream", [0, 2, "real"])
def test_a_fault_names_the_kernel_and_its_arguments(driver: FakeDriver, stream: int | str):
    handle = driver.new_stream() if isinstance(stream, str) else stream
    f, arguments = saxpy(driver, handle)
    f(*arguments)
    assert driver.count("cuStreamSynchronize") == 0
    cuda.launch_blocking(True)
    f(*arguments)
    assert driver.count("cuStreamSynchronize") == 2
    faulty(driver)
    with pytest.raises(RuntimeError) as caught:
        f(*arguments)
    text, x, y = str(caught.value), *(each.data_ptr() for each in arguments[1:3])
    assert text.startswith(
        f"cuStreamSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS (700: an illegal memory access was "
        f"encountered) for kernel 'saxpy': grid=(3, 1, 1), block=(128, 1, 1), dynamic_smem_bytes=0, "
        f"device 0, stream {handle:#x}; the kernel got a (float32)=2.5, x={x:#x}, y={y:#x}, "
        f"count (int32)=300 when calling: `f("
    )


def test_a_fault_of_other_work_is_not_this_kernels(driver: FakeDriver):
    f, arguments = saxpy(driver, driver.new_stream())
    f(*arguments)
    faulty(driver)
    f(*arguments)
    cuda.launch_blocking(True)
    with pytest.raises(RuntimeError, match=r"before kernel 'saxpy' was launched.*other work"):
        f(*arguments)


def test_each_kind_of_argument_is_shown(driver: FakeDriver):
    kernel = KernelImage("k", (1, 2, 8, 8, 2, 8, 16, 40))
    params = [spec.Var(dtype[0], dtype) for dtype in ("bool", "int16", "uint64", "float64")]
    pointer = spec.DataPointer("p")
    args = ["b", "i", "u", "f", Scalar(1.0, "float16"), None, Struct("i", "f"), Pointee("p", 40, 8)]
    f = wrapped(kernel, [*params, pointer], args=args)
    driver.kernel("k", fault)
    cuda.launch_blocking(True)
    host = bytes(range(40))
    memory = ctypes.create_string_buffer(host, 40)
    with pytest.raises(RuntimeError) as caught:
        f(True, -7, 2**64 - 1, 0.1, ctypes.c_void_p(ctypes.addressof(memory)))
    shown = str(caught.value).partition("; the kernel got ")[2].partition(" when calling")[0]
    assert shown.startswith(f"b (bool)=1, i (int16)=-7, u (uint64)={2**64 - 1}, f (float64)=0.1, ")
    assert "1.0 as float16=0x003c, NULL=0x0, {i, f}=0xf9ff" in shown
    assert shown.endswith(f"=0x{host[:32].hex()}… (40 bytes)")


def test_the_variable_is_read_when_a_kernel_is_first_launched(
    driver: FakeDriver, monkeypatch: pytest.MonkeyPatch
):
    module = compiled(EMPTY, [])
    monkeypatch.setenv(VARIABLE, "1")
    module["f"]()
    assert driver.count("cuStreamSynchronize") == 2
    cuda.launch_blocking(False)  # a call is stronger
    compiled(KernelImage("other", ()), [])["f"]()
    assert driver.count("cuStreamSynchronize") == 2
    monkeypatch.setenv(VARIABLE, "yes")
    with pytest.raises(ValueError, match=f"{VARIABLE}: expected 1, to wait.* but got 'yes'"):
        compiled(KernelImage("third", ()), [])["f"]()


def test_a_captured_launch_is_not_waited_for(driver: FakeDriver, capfd: pytest.CaptureFixture[str]):
    stream = driver.new_stream()
    f = wrapped(EMPTY, [STREAM])
    cuda.launch_blocking(True)
    driver.begin_capture(stream, CaptureMode.GLOBAL)
    f(stream)
    f(stream)
    graph = driver.end_capture(stream)
    assert graph
    assert driver.count("cuStreamSynchronize") == 0
    words = f"does not wait after launches while their stream is captured ({VARIABLE})"
    assert capfd.readouterr().err.count(words) == 1
    f(stream)
    assert driver.count("cuStreamSynchronize") == 2


def test_an_exported_library_is_watched(driver: FakeDriver, tmp_path: Path):
    """Its code is its own, and knows nothing of Python."""
    path = tmp_path / "f.so"
    ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 x) { ret; }"
    signature, launch = "k(x: Tensor([n], float32))", Launch(grid=1, block=1)
    wrap(ptx, signature, device="cuda", launch=launch).export_library(path)
    module = vars(tvm_ffi)["load_module"](str(path))
    calls: list[Any] = []

    def hook(*given: Any) -> None:
        calls.append(given[:3])

    register(hook)
    module["k"](DeviceArray(driver, (3,), "float32", 0).tensor())
    assert calls == [("before", "k", (1, 1, 1)), ("after", "k", (1, 1, 1))]
