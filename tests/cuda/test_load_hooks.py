"""Hooks that see each library once it is loaded, and the globals of libraries."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import Launch, attach_ffi_func, cuda, runtime, wrap
from tests.cuda.launching import STREAM, X, array, compiled, provider
from tests.cuda.launching import wrap as wrapped
from tests.fakecuda import CaptureMode, FakeDriver, KernelImage, make_cubin, make_ptx
from tests.fakecuda.kernels import EMPTY
from tests.support.threads import together
from tests.support.wrapping import new_module

NAME = "ffi_builder.load_hook.v1"
OTHER = KernelImage("other")
POINTER = KernelImage("k", (8,))
GLOBALS = b".visible .global .align 4 .f32 factor;\n.const .align 8 .b64 table[4];\n\0"
"""Variables of PTX."""


@pytest.fixture(autouse=True)
def unwatched() -> Iterator[None]:
    """No hook is left behind."""
    yield
    cuda.load_hook(None)


@pytest.fixture
def seen(driver: FakeDriver) -> list[tuple[Any, ...]]:
    """What a hook was called with, and how many kernels had been launched."""
    calls: list[tuple[Any, ...]] = []

    @cuda.load_hook
    def hook(*arguments: Any) -> None:  # pyright: ignore[reportUnusedFunction]
        calls.append((*arguments, len(driver.launches())))

    return calls


def append_to(calls: list[Any]) -> Callable[..., None]:
    """A hook that notes what it is called with."""

    def hook(*arguments: object) -> None:
        calls.append(arguments)

    return hook


def with_globals(kernel: KernelImage = EMPTY) -> bytes:
    return make_ptx([kernel]).rstrip(b"\0") + GLOBALS


def test_each_library_is_seen_once(driver: FakeDriver, seen: list[tuple[Any, ...]]):
    module, image = new_module(), make_cubin([EMPTY, OTHER])
    attach_ffi_func(module, "f", [], provider(EMPTY, image=image))
    attach_ffi_func(module, "g", [], provider(OTHER, image=image))
    loaded = runtime.compile(module)
    for _ in range(2):
        loaded["f"]()
        loaded["g"]()
    assert seen == [("empty", seen[0][1], 0, 0)]
    with driver.current():
        assert driver.get("cuLibraryGetKernel", ctypes.c_void_p(seen[0][1]), b"other")
    wrapped(EMPTY, [])()
    assert seen[1][0::2] == ("empty", 0)
    assert seen[1][1] != seen[0][1]
    loaded["_cuda_release_f"]()
    loaded["g"]()
    assert seen[2][0] == "other"


def test_each_device_is_seen(driver: FakeDriver, seen: list[tuple[Any, ...]]):
    f = wrapped(POINTER, [X, STREAM])
    for tensors, streams in ((0, 0), (1, 1), (0, 0), (0, 1)):
        f(array(driver, tensors), driver.new_stream(streams))
    assert [(device, before) for _, _, device, before in seen] == [(0, 0), (1, 1)]


def test_the_streams_device_counts(driver: FakeDriver, seen: list[tuple[Any, ...]]):
    wrapped(POINTER, [X, STREAM])(array(driver, 0), driver.new_stream(1))
    assert [call[2] for call in seen] == [1]


@pytest.mark.parametrize("stream", [0, "real"])
def test_a_context_is_current(driver: FakeDriver, stream: int | str):
    devices: list[int] = []

    @cuda.load_hook
    def hook(*_: object) -> None:  # pyright: ignore[reportUnusedFunction]
        devices.append(driver.get("cuCtxGetDevice"))

    handle = driver.new_stream(1) if isinstance(stream, str) else stream
    wrapped(POINTER, [X, STREAM])(array(driver, 1), handle)
    assert devices == [1]
    assert driver.stack_depth == 0


def test_a_hook_that_comes_late_sees_what_is_loaded(driver: FakeDriver):
    f = wrapped(EMPTY, [])
    f()
    calls: list[Any] = []
    cuda.load_hook(append_to(calls))
    f()
    f()
    assert len(calls) == 1


def test_preloading_calls_it(driver: FakeDriver, seen: list[tuple[Any, ...]]):
    module = compiled(EMPTY, [])
    module["_cuda_preload_f"](1)
    module["_cuda_preload_f"](0)
    module["f"]()
    assert [call[2:] for call in seen] == [(1, 0), (0, 0)]
    assert driver.stack_depth == 0


@pytest.mark.parametrize("function", ["f", "_cuda_preload_f"])
def test_what_a_hook_raises_fails_the_call(driver: FakeDriver, function: str):
    failing = [True]

    def hook(*_: object) -> None:
        if failing:
            raise KeyError("not today")

    cuda.load_hook(hook)
    module = compiled(EMPTY, [])
    for _ in range(2):
        with pytest.raises(KeyError, match="not today"):
            module[function]()
    assert driver.launches() == []
    assert driver.stack_depth == 0
    failing.clear()
    module["f"]()
    assert len(driver.launches()) == 1


def test_a_hook_may_launch_kernels(driver: FakeDriver):
    """Of the same library, which does not call it again, and of others, which do."""
    module, other = compiled(EMPTY, []), compiled(OTHER, [])
    order: list[str] = []

    @cuda.load_hook
    def hook(kernel: str, *_: object) -> None:  # pyright: ignore[reportUnusedFunction]
        order.append(kernel)
        if kernel == "empty":
            module["f"]()
            other["f"]()

    module["f"]()
    assert order == ["empty", "other"]
    assert [each.kernel for each in driver.launches()] == ["empty", "other", "empty"]


def test_threads_wait_for_the_hook(driver: FakeDriver, seen: list[tuple[Any, ...]]):
    module = compiled(EMPTY, [])
    together(lambda _: module["f"](), 8)
    assert [call[-1] for call in seen] == [0]
    assert len(driver.launches()) == 8


def test_an_exported_library_calls_it(driver: FakeDriver, tmp_path: Path):
    """A hook of tvm-ffi alone, as in a program without Python."""
    path, calls = tmp_path / "f.so", list[Any]()
    hook = append_to(calls)
    options: Any = {"device": "cuda", "launch": Launch(grid=1, block=1)}
    wrap(make_ptx([EMPTY]), "empty()", **options).export_library(path)
    module = vars(tvm_ffi)["load_module"](str(path))
    tvm_ffi.register_global_func(NAME, hook, override=True)
    module["empty"]()
    module["empty"]()
    assert [call[0::2] for call in calls] == [("empty", 0)]
    tvm_ffi.registry.remove_global_func(NAME)
    module["_cuda_release_empty"]()
    module["empty"]()
    assert len(calls) == 1


@pytest.mark.parametrize("mode", CaptureMode)
def test_values_of_globals_in_a_capture(driver: FakeDriver, mode: CaptureMode):
    numbers = np.arange(4, dtype="uint64")
    found: list[tuple[int, int]] = []

    @cuda.load_hook
    def hook(_: str, library: int, device: int) -> None:  # pyright: ignore[reportUnusedFunction]
        found.append(cuda.device_global(library, "factor", np.float32(2.5)))
        found.append(cuda.device_global(library, "table", numbers))
        found.append(cuda.device_global(library, "table"))

    module, stream = compiled(EMPTY, [STREAM], image=with_globals()), driver.new_stream()
    driver.begin_capture(stream, mode)
    module["f"](stream)
    assert driver.end_capture(stream)
    (factor, size), table, again = found
    assert (size, table[1]) == (4, 32)
    assert table == again
    assert driver.memory(factor, 1, "float32").tolist() == [2.5]
    assert driver.memory(table[0], 4, "uint64").tolist() == numbers.tolist()


REFUSED: dict[str, tuple[Callable[[int], Any], type[Exception], str]] = {
    "name": (lambda library: cuda.device_global(library, "Factor"), ValueError, "no global or constant 'Factor'.*mangles"),
    "size": (lambda library: cuda.device_global(library, "factor", np.float64(2)), ValueError, "'factor' has 4 bytes, but the value has 8"),
    "value": (lambda library: cuda.device_global(library, "factor", 2.0), TypeError, r"expected bytes, or an array or number of NumPy such as np.float32\(2\).*but got 2.0"),
    "handle": (lambda library: cuda.device_global(library + 1, "factor"), RuntimeError, r"cuLibraryGetGlobal failed: CUDA_ERROR_INVALID_HANDLE \(400\)"),
    "library": (lambda _: cuda.device_global("factor", "factor"), TypeError, "expected the address of a CUlibrary but got 'factor'"),  # pyright: ignore[reportArgumentType]
    "no name": (lambda library: cuda.device_global(library, 3), TypeError, "expected the name of a global but got 3"),  # pyright: ignore[reportArgumentType]
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused_globals(driver: FakeDriver, case: str):
    """The error is that of the call, whose launch does not happen."""
    ask, error, words = REFUSED[case]

    def hook(_: str, library: int, __: int) -> None:
        ask(library)

    cuda.load_hook(hook)
    with pytest.raises(error, match=words):
        wrapped(EMPTY, [], image=with_globals())()
    assert driver.launches() == []


def test_without_a_context(driver: FakeDriver):
    found: list[Any] = []
    cuda.load_hook(append_to(found))
    module = compiled(EMPTY, [], image=with_globals())
    module["f"]()
    with pytest.raises(RuntimeError, match=r"INVALID_CONTEXT \(201\); no context is current"):
        cuda.device_global(found[0][1], "factor")


def test_a_hook_that_is_none():
    wrong: Any = "nvtx"
    with pytest.raises(TypeError, match="expected a function or None but got 'nvtx'"):
        cuda.load_hook(wrong)
