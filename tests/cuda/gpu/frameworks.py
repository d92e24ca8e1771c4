"""Cases with the arrays, streams and graphs of PyTorch, JAX and CuPy; each needs a real GPU."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import runtime
from tests.cuda.gpu.cases import STREAM, saxpy
from tests.cuda.gpu.device import Gpu, Skipped
from tests.cuda.gpu.emulation import softmax
from tests.cuda.gpu.triton.case import compiled as compiled_softmax
from tests.docs.docstrings import groups, run

Case = Callable[[Gpu], None]
CASES: Final[dict[str, Case]] = {}
PACKAGE: Final = Path(runtime.__file__).parents[1]
SIZE: Final = 1000
LONG: Final = 500_000_000
"""Clock cycles that a stream is kept busy for, a quarter of a second."""


def case(function: Case) -> Case:
    """Add it to the cases."""
    CASES[function.__name__] = function
    return function


def framework(name: str, gpu: Gpu) -> Any:
    """Import a framework.

    Raises:
        Skipped: It is not installed, or the driver is the fake one.
    """
    if gpu.is_fake:
        raise Skipped(f"{name} needs a real GPU")
    try:
        return import_module(name)
    except ImportError as error:
        raise Skipped(str(error)) from error


def torch_on(gpu: Gpu) -> Any:
    """Import PyTorch.

    Raises:
        Skipped: It is not installed, or is a build without CUDA.
    """
    torch = framework("torch", gpu)
    if not torch.cuda.is_available():
        raise Skipped("this PyTorch has no CUDA")
    return torch


def rows_softmax(gpu: Gpu) -> runtime.CompiledModule:
    """``softmax(x, y)`` of rows, with a signature that says which tensor is written."""
    if gpu.capability != (9, 0):
        raise Skipped("the kernel is compiled for sm_90a")
    return compiled_softmax(intents=True)


@case
def torch_current_stream(gpu: Gpu) -> None:
    """A call goes to PyTorch's current stream, behind what is there, and does not wait."""
    torch = torch_on(gpu)
    function = saxpy(gpu)["f"]
    x, y = torch.arange(SIZE, device="cuda").float(), torch.ones(SIZE, device="cuda")
    function(2.0, x, y)
    torch.cuda.synchronize()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.cuda._sleep(LONG)
        function(2.0, x, y)
        assert not side.query(), "the call waited for its stream"
        torch.testing.assert_close(y, 1 + 4 * x)


@case
def torch_stream_as_an_argument(gpu: Gpu) -> None:
    torch = torch_on(gpu)
    function = saxpy(gpu, STREAM)["f"]
    x, y = torch.arange(SIZE, device="cuda").float(), torch.ones(SIZE, device="cuda")
    side = torch.cuda.Stream()
    # The first call loads the kernel, for which the driver may wait for what runs.
    function(2.0, x, y, side.cuda_stream)
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(LONG)
    function(2.0, x, y, side.cuda_stream)
    assert not side.query(), "the call went to another stream, or waited for its own"
    side.synchronize()
    torch.testing.assert_close(y, 1 + 4 * x)


@case
def torch_read_in_c(gpu: Gpu) -> None:
    """No call takes the general path, which costs four times as much."""
    torch = torch_on(gpu)
    function: Any = saxpy(gpu)["f"]
    x, y = torch.arange(SIZE, device="cuda").float(), torch.ones(SIZE, device="cuda")
    for _ in range(3):
        function(2.0, x, y)
    assert function._general_calls == 0, torch._C._dispatch_keys(x)
    torch.testing.assert_close(y, 1 + 6 * x)
    x.data, y = torch.ones(SIZE, device="cuda"), y[None, :][0]
    with torch.autocast("cuda"):
        function(2.0, x, y)
    torch.testing.assert_close(y, 1 + 6 * torch.arange(SIZE, device="cuda").float() + 2)


@case
def torch_graph(gpu: Gpu) -> None:
    """The first call is in the capture; the graph runs twice."""
    torch = torch_on(gpu)
    function = saxpy(gpu, dynamic_smem_bytes=64 << 10)["f"]
    x, y = torch.arange(SIZE, device="cuda").float(), torch.ones(SIZE, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        function(2.0, x, y)
    torch.testing.assert_close(y, torch.ones_like(y))
    for _ in range(2):
        graph.replay()
    torch.testing.assert_close(y, 1 + 4 * x)


@case
def torch_tensors_that_do_not_fit(gpu: Gpu) -> None:
    """Each is told by the argument's name, and the next call works."""
    torch = torch_on(gpu)
    function = saxpy(gpu)["f"]
    x, y = torch.ones(SIZE, device="cuda"), torch.ones(SIZE, device="cuda")
    for wrong in (x.cpu(), x.double(), x[:-1], x.cpu().pin_memory()):
        with pytest.raises((TypeError, ValueError), match="y"):
            function(2.0, x, wrong)
    function(2.0, x, y)
    torch.testing.assert_close(y, torch.full_like(y, 3.0))


@case
def torch_operator(gpu: Gpu) -> None:
    """In eager mode, and in a compiled program, with and without CUDA graphs."""
    torch = torch_on(gpu)
    operator = import_module("ffi_builder.frameworks.torch").operator
    made = operator(rows_softmax(gpu)["softmax"], namespace="gpu_case", name="softmax_")
    x = torch.randn(64, 512, device="cuda")

    def program(x: Any) -> Any:
        y = torch.empty_like(x)
        made(x, y)
        return 2 * y

    expected = 2 * torch.softmax(x, 1)
    torch.testing.assert_close(program(x), expected)
    for mode in ("default", "reduce-overhead"):
        compiled = torch.compile(program, fullgraph=True, mode=mode)
        for _ in range(3):
            torch.testing.assert_close(compiled(x), expected)


@case
def torch_memory(gpu: Gpu) -> None:
    """Calls keep no memory of PyTorch's."""
    torch = torch_on(gpu)
    function = rows_softmax(gpu)["softmax"]
    x = torch.randn(64, 512, device="cuda")
    function(x, torch.empty_like(x))
    before = torch.cuda.memory_allocated()
    for _ in range(100):
        function(x, torch.empty_like(x))
    assert torch.cuda.memory_allocated() == before


@case
def jax_function(gpu: Gpu) -> None:
    """On XLA's stream, in a jitted program."""
    jax = framework("jax", gpu)
    if jax.default_backend() != "gpu":
        raise Skipped("this JAX has no GPU")
    try:
        make = import_module("ffi_builder.frameworks.jax").function
    except ImportError as error:
        raise Skipped(str(error)) from error
    function = make(rows_softmax(gpu)["softmax"])
    values = np.random.default_rng(0).standard_normal((64, 512), "float32")

    def twice(x: Any) -> Any:
        return 2 * function(x)

    program = jax.jit(twice)
    for _ in range(3):
        np.testing.assert_allclose(program(values), 2 * softmax(values), rtol=1e-4)


@case
def cupy_arrays(gpu: Gpu) -> None:
    """CuPy's stream is an argument, as docs/arrays.md says."""
    cupy = framework("cupy", gpu)
    function = saxpy(gpu, STREAM)["f"]
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        x, y = cupy.arange(SIZE, dtype="float32"), cupy.ones(SIZE, "float32")
        function(2.0, x, y, stream.ptr)
        found = y.get()
    np.testing.assert_array_equal(found, 1 + 2 * np.arange(SIZE, dtype="float32"))


@case
def examples_of_docstrings(gpu: Gpu) -> None:
    """The launches that docstrings show do what is written there."""
    torch_on(gpu)
    for path in (PACKAGE / "cuda/launch/provider.py", PACKAGE / "cuda/launch/options.py"):
        assert "".join(run(group) for group in groups(path).values()) == ""
