"""The cases: each is a function of a GPU that asserts, and leaves no context current."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from ctypes import c_void_p as P
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import attach_ffi_func, runtime, spec
from ffi_builder.providers import CudaLaunchCallProvider
from ffi_builder.providers.cuda import TensorMap
from tests.cuda.asking import CASES as MAPS
from tests.cuda.asking import Request, aligned
from tests.cuda.gpu.device import IMAGES, Gpu, Skipped
from tests.cuda.gpu.triton.case import triton_kernel
from tests.cuda.images.images import image
from tests.fakecuda.memory import tensor_at
from tests.support.allocating import counting
from tests.support.threads import together
from tests.support.wrapping import new_module, set_stream

Case = Callable[[Gpu], None]
CASES: Final[dict[str, Case]] = {}
KEPT: Final[list[runtime.CompiledModule]] = []
"""Modules that stay alive until the process ends."""

N = spec.Var("n", "int32")
A = spec.Var("a", "float32")
X, Y = (spec.Tensor(name, [N], "float32", device_type="cuda") for name in "xy")
STREAM = spec.Stream("stream")


def case(function: Case) -> Case:
    """Add it to the cases."""
    CASES[function.__name__] = function
    return function


def images(gpu: Gpu) -> bytes:
    major, minor = gpu.capability
    if major not in IMAGES:
        raise Skipped(f"tests/cuda/images has no image for sm_{major}{minor}")
    return image(IMAGES[major])


def saxpy(gpu: Gpu, *more: spec.Param, **options: Any) -> runtime.CompiledModule:
    """``f(a, x, y, …)``: y += a * x, by 128 threads in a block."""
    every: dict[str, Any] = {
        "grid": spec.ceildiv(N, 128),
        "block": 128,
        "args": [A, X, Y, N],
        **options,
    }
    module = new_module()
    provider = CudaLaunchCallProvider(images(gpu), "saxpy", **every)
    attach_ffi_func(module, "f", [A, X, Y, *more], provider)
    return runtime.compile(module)


def pair(gpu: Gpu, device: int = 0, size: int = 1000) -> tuple[Any, Any]:
    """Arrays of 0, 1, 2, … and of 1, 1, 1, …."""
    values = np.arange(size, dtype="float32")
    return gpu.array(values, device), gpu.array(np.ones(size, "float32"), device)


def assert_sum(y: Any, times: int = 1) -> None:
    """Check that 2 * x has been added to y so often."""
    size = y.shape[0]
    np.testing.assert_array_equal(y.host, 1 + 2 * times * np.arange(size, dtype="float32"))


@case
def null_stream_and_no_context(gpu: Gpu) -> None:
    x, y = pair(gpu)
    assert gpu.context == 0
    function = saxpy(gpu)["f"]
    function(2.0, x.tensor, y.tensor)
    assert gpu.context == 0
    function(2.0, x.tensor, y.tensor)
    assert_sum(y, 2)


@case
def real_stream_and_no_context(gpu: Gpu) -> None:
    """A CUkernel that is launched by its stream alone: the driver takes that stream's context."""
    x, y = pair(gpu)
    stream = gpu.stream()
    assert gpu.context == 0
    saxpy(gpu, STREAM)["f"](2.0, x.tensor, y.tensor, stream)
    assert gpu.context == 0
    gpu.wait(stream)
    assert_sum(y)


@case
def legacy_and_per_thread_streams(gpu: Gpu) -> None:
    function = saxpy(gpu, STREAM)["f"]
    for handle in (1, 2):
        x, y = pair(gpu)
        function(2.0, x.tensor, y.tensor, P(handle))
        assert gpu.context == 0
        assert_sum(y)


@case
def current_stream_of_the_device(gpu: Gpu) -> None:
    x, y = pair(gpu)
    stream = gpu.stream()
    set_stream("cuda", 0, stream.value or 0)
    saxpy(gpu)["f"](2.0, x.tensor, y.tensor)
    set_stream("cuda", 0, 0)
    gpu.wait(stream)
    assert_sum(y)


@case
def context_of_the_caller(gpu: Gpu) -> None:
    x, y = pair(gpu)
    function = saxpy(gpu)["f"]
    with gpu.current() as context:
        function(2.0, x.tensor, y.tensor)
        assert gpu.context == context
    assert_sum(y)


@case
def two_devices(gpu: Gpu) -> None:
    if gpu.count < 2:
        raise Skipped("there is one device")
    function = saxpy(gpu)["f"]
    for device in (0, 1):
        x, y = pair(gpu, device)
        with gpu.current(1 - device) as context:
            function(2.0, x.tensor, y.tensor)
            assert gpu.context == context
        assert_sum(y)


@case
def much_shared_memory(gpu: Gpu) -> None:
    """As much as the device has, on a stream, where no context is current to set attributes in."""
    most = gpu.attribute(97)
    if most <= 48 << 10:
        raise Skipped(f"the device has {most} bytes of shared memory for a block")
    x, y = pair(gpu)
    stream = gpu.stream()
    saxpy(gpu, STREAM, dynamic_smem_bytes=most)["f"](2.0, x.tensor, y.tensor, stream)
    assert gpu.context == 0
    gpu.wait(stream)
    assert_sum(y)


@case
def clusters(gpu: Gpu) -> None:
    if gpu.attribute(120) == 0:
        raise Skipped("the device has no clusters")
    for blocks in (2, 8, 16):
        x, y = pair(gpu, size=4096)
        saxpy(gpu, cluster=blocks)["f"](2.0, x.tensor, y.tensor)
        assert_sum(y)


@case
def attributes(gpu: Gpu) -> None:
    names = ["cooperative"]
    if gpu.capability >= (9, 0):
        names.append("programmatic_stream_serialization")
    for name in names:
        x, y = pair(gpu)
        saxpy(gpu, attributes=[name])["f"](2.0, x.tensor, y.tensor)
        assert_sum(y)


@case
def tensor_map(gpu: Gpu) -> None:
    """128 bytes by value, which the kernel reads word by word."""
    words = np.arange(100, 116, dtype="uint64")
    out = gpu.array(np.zeros(32, "uint64"))
    number = spec.Var("number", "int32")
    params = [number, spec.DataPointer("map"), spec.DataPointer("out")]
    module = new_module()
    provider = CudaLaunchCallProvider(
        images(gpu),
        "tensor_map",
        grid=1,
        block=32,
        args=[number, TensorMap("map"), "out"],
        stream=0,
    )
    attach_ffi_func(module, "f", params, provider)
    runtime.compile(module)["f"](5, words.ctypes.data, out.address)
    assert out.host.tolist() == [105] * 32


@case
def maps_of_the_wrapper(gpu: Gpu) -> None:
    """Every word of a map is that of one which the driver encodes for the same request."""
    out, x = gpu.array(np.zeros(32, "uint64")), gpu.array(np.zeros((8, 64), "float32"))
    asked = Request("float32", 2, x.address, (64, 8), (256,), (32, 8), steps=(1, 1), swizzle="128B")
    wanted = ctypes.create_string_buffer(256)
    with gpu.current():
        assert asked.made(gpu.cuda_call, wanted) == 0
    number, (rows, columns) = spec.Var("number", "int32"), spec.dims("rows columns", "int64")
    matrix = spec.Tensor("x", [rows, columns], "float32", device_type="cuda")
    module = new_module()
    args = [number, TensorMap("x", box=(8, 32), swizzle="128B"), "out"]
    options: dict[str, Any] = {"grid": 1, "block": 32, "args": args, "stream": 0}
    provider = CudaLaunchCallProvider(images(gpu), "tensor_map", **options)
    attach_ffi_func(module, "f", [number, matrix, spec.DataPointer("out")], provider)
    function = runtime.compile(module)["f"]
    words = np.frombuffer(aligned(wanted).raw, "uint64")
    for index in range(16):
        function(index, x.tensor, out.address)
        assert out.host.tolist() == [words[index]] * 32


@case
def rules_of_tensor_maps(gpu: Gpu) -> None:
    """The driver refuses what the rules refuse. Packed types and wide maps need a Blackwell."""
    if gpu.capability < (9, 0):
        raise Skipped("tensor maps need sm_90")
    wrong: list[str] = []
    with gpu.current():
        for _, accepted, refused in MAPS:
            for request in (*accepted, *refused):
                if gpu.capability < (10, 0) and (request.wide or request.setting.packed):
                    continue
                if (request.made(gpu.cuda_call) == 0) != request.allowed():
                    wrong.append(str(request))
    assert wrong == []


@case
def first_call_in_a_capture(gpu: Gpu) -> None:
    """In every mode of capture; then the graph runs twice."""
    for mode in range(3):
        for shared in (0, 64 << 10):
            x, y = pair(gpu)
            stream = gpu.stream()
            function = saxpy(gpu, STREAM, dynamic_smem_bytes=shared)["f"]
            with gpu.captured(stream, mode) as graph:
                function(2.0, x.tensor, y.tensor, stream)
            np.testing.assert_array_equal(y.host, np.ones(1000))
            for _ in range(2):
                gpu.call("cuGraphLaunch", graph, stream)
            gpu.wait(stream)
            assert_sum(y, 2)
            gpu.call("cuGraphExecDestroy", graph)


@case
def workspace_of_zeros(gpu: Gpu) -> None:
    """Filled on the stream of the launch, with and without a context; and in a graph."""
    arrays: list[Any] = []

    def memory(shape: tuple[int, ...], dtype: str, device: int) -> tuple[int, object]:
        arrays.append(gpu.array(np.full(shape, 7, dtype), device))
        return arrays[-1].address, arrays[-1]

    x, _ = pair(gpu)
    scratch = spec.Workspace("w", [N], "float32", device_type="cuda", zero=True)
    provider = CudaLaunchCallProvider(
        images(gpu), "saxpy", grid=spec.ceildiv(N, 128), block=128, args=[A, X, scratch, N]
    )
    module = new_module()
    attach_ffi_func(module, "f", [A, X, scratch], provider)
    function, stream = runtime.compile(module)["f"], gpu.stream()
    with counting(memory) as allocator:
        function(2.0, x.tensor)
        set_stream("cuda", 0, stream.value or 0)
        function(2.0, x.tensor)
        if not gpu.is_fake:  # whose graphs have no memsets
            with gpu.captured(stream, 2) as graph:  # relaxed: memory is allocated
                function(2.0, x.tensor)
            for _ in range(2):
                gpu.call("cuGraphLaunch", graph, stream)
        set_stream("cuda", 0, 0)
        gpu.wait(stream)
        assert allocator.alive == {}
    assert gpu.context == 0
    for array in arrays:
        np.testing.assert_array_equal(array.host, 2 * np.arange(1000, dtype="float32"))


@case
def preloading(gpu: Gpu) -> None:
    x, y = pair(gpu)
    module = saxpy(gpu, dynamic_smem_bytes=64 << 10)
    module["_cuda_preload_f"](0)
    assert gpu.context == 0
    module["f"](2.0, x.tensor, y.tensor)
    assert_sum(y)


@case
def releasing(gpu: Gpu) -> None:
    x, y = pair(gpu)
    module = saxpy(gpu)
    for _ in range(3):
        module["f"](2.0, x.tensor, y.tensor)
        module["_cuda_release_f"]()
    assert_sum(y, 3)
    module["f"](2.0, x.tensor, y.tensor)
    del module
    gc.collect()
    assert_sum(y, 4)


@case
def threads(gpu: Gpu) -> None:
    """First calls of 16 at once, with a stream each."""
    module = saxpy(gpu, STREAM)
    pairs = [(*pair(gpu), gpu.stream()) for _ in range(16)]

    def work(index: int) -> None:
        x, y, stream = pairs[index]
        module["f"](2.0, x.tensor, y.tensor, stream)
        gpu.wait(stream)

    together(work, len(pairs))
    for _, y, _ in pairs:
        assert_sum(y)


@case
def an_empty_grid(gpu: Gpu) -> None:
    x, y = pair(gpu, size=1)
    rows = spec.Var("rows", "int64")
    saxpy(gpu, rows, grid=rows)["f"](2.0, x.tensor, y.tensor, 0)
    np.testing.assert_array_equal(y.host, [1])


REFUSED: Final = (
    ("block", 2048, 128, "block.x is 2048, at most 1024 on this device"),
    ("dynamic_smem_bytes", 1 << 20, 0, "dynamic_smem_bytes is 1048576, at most "),
    ("cluster", 3, 2, "grid.x is 8, no multiple of cluster.x, 3"),
)
"""An option, a value that is refused, one that is accepted, and the error."""


@case
def what_the_driver_refuses(gpu: Gpu) -> None:
    """The launch is told in words, the context comes back, and the next launch works."""
    size = spec.Var("size", "int64")
    for name, wrong, right, words in REFUSED:
        if name == "cluster" and gpu.attribute(120) == 0:
            continue
        x, y = pair(gpu)
        # Computed, so that the driver is the first to see it.
        function = saxpy(gpu, size, **{name: size})["f"]
        with pytest.raises(RuntimeError, match="failed: CUDA_ERROR_INVALID") as caught:
            function(2.0, x.tensor, y.tensor, wrong)
        assert words in str(caught.value), str(caught.value)
        assert gpu.context == 0
        function(2.0, x.tensor, y.tensor, right)
        assert_sum(y)


@case
def an_image_for_another_gpu(gpu: Gpu) -> None:
    major, _ = gpu.capability
    other = next(name for number, name in IMAGES.items() if number != major)
    module = new_module()
    provider = CudaLaunchCallProvider(image(other), "saxpy", grid=1, block=1, args=[A, X, Y, N])
    attach_ffi_func(module, "f", [A, X, Y], provider)
    x, y = pair(gpu)
    with pytest.raises(RuntimeError, match=r"NO_BINARY_FOR_GPU \(209: .*; the image has sm_"):
        runtime.compile(module)["f"](2.0, x.tensor, y.tensor)
    assert gpu.context == 0


@case
def two_modules(gpu: Gpu) -> None:
    """Each loads its own copy of the image; the other goes on when one is released."""
    x, y = pair(gpu)
    first, second = saxpy(gpu), saxpy(gpu, dynamic_smem_bytes=64 << 10)
    first["f"](2.0, x.tensor, y.tensor)
    second["f"](2.0, x.tensor, y.tensor)
    del first
    gc.collect()
    second["f"](2.0, x.tensor, y.tensor)
    assert_sum(y, 3)


@case
def a_fault_in_a_kernel(gpu: Gpu) -> None:
    """The next call raises the kernel's error; no context stays current, and the process ends."""
    x, y = pair(gpu)
    module = saxpy(gpu)
    nowhere = tensor_at(1 << 20, y.shape, y.dtype)
    with gpu.current():
        module["f"](2.0, x.tensor, nowhere)
        assert gpu.cuda.cuCtxSynchronize() == 700  # CUDA_ERROR_ILLEGAL_ADDRESS
        with pytest.raises(RuntimeError, match=r"CUDA_ERROR_ILLEGAL_ADDRESS \(700"):
            module["f"](2.0, x.tensor, y.tensor)
    with pytest.raises(RuntimeError, match=r"CUDA_ERROR_ILLEGAL_ADDRESS \(700"):
        module["f"](2.0, x.tensor, y.tensor)
    assert gpu.context == 0
    KEPT.append(module)


case(triton_kernel)


@case
def exit_with_all_of_it_alive(gpu: Gpu) -> None:
    """The process ends while a module is loaded: it must end well."""
    x, y = pair(gpu)
    module = saxpy(gpu)
    module["f"](2.0, x.tensor, y.tensor)
    assert_sum(y)
    KEPT.append(module)
