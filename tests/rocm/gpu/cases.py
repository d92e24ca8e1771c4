"""What is tried on an AMD GPU: a function each, which raises if something is wrong."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import c_void_p as P
from typing import Any, Final

import numpy as np

from ffi_builder import Launch, cuda, spec, wrap
from tests.rocm.gpu.device import Gpu, Skipped

SAXPY: Final = "saxpy(a: float32, x: Tensor([n], float32), y: Tensor([n], float32)) where n: int32"
ON_STREAM: Final = SAXPY.replace(") where", ", stream: Stream) where")
HOW: Final = Launch(grid="ceildiv(n, 256)", block=256)
COUNT: Final = 1000


def saxpy(gpu: Gpu, signature: str = SAXPY, launch: Launch = HOW) -> Any:
    return wrap(gpu.image, signature, launch=launch, args=["a", "x", "y", "n"])


def arrays(gpu: Gpu, device: int = 0) -> tuple[Any, Any]:
    x = np.arange(COUNT, dtype="float32")
    return gpu.array(x, device), gpu.array(np.ones(COUNT, "float32"), device)


def check(gpu: Gpu, y: Any, factor: int = 2) -> None:
    assert gpu.numpy(y).tolist() == [1 + factor * index for index in range(COUNT)]


def one_launch(gpu: Gpu) -> None:
    x, y = arrays(gpu)
    saxpy(gpu)["saxpy"](2.0, x, y)
    check(gpu, y)


def each_width(gpu: Gpu) -> None:
    out, values = gpu.array(np.zeros(6)), (-3, -300, -70000, -(2**40), 0.5, 0.1)
    types = ("int8", "int16", "int32", "int64", "float32", "float64")
    named = ", ".join(f"{name}: {dtype}" for name, dtype in zip("abcdef", types, strict=True))
    f = wrap(gpu.image, f"widths({named}, out: Tensor([6], float64))", launch=Launch(1, 1))
    f["widths"](*values, out)
    assert gpu.numpy(out, "float64").tolist() == list(values)


def each_device(gpu: Gpu) -> None:
    f = saxpy(gpu)["saxpy"]
    same = [d for d in range(gpu.devices) if gpu.target(d) == gpu.target()]
    for device in [*same, *same]:
        x, y = arrays(gpu, device)
        f(2.0, x, y)
        check(gpu, y)
        assert gpu.device == 0
    if len(same) == 1:
        raise Skipped("there is one device alone, which was right")


def streams(gpu: Gpu) -> None:
    f = saxpy(gpu, ON_STREAM)["saxpy"]
    for stream in (gpu.stream(), 0, 1, 2):
        x, y = arrays(gpu)
        f(2.0, x, y, stream)
        check(gpu, y)


def a_graph(gpu: Gpu) -> None:
    """Captured as the first launch, so that the image is loaded meanwhile."""
    f, stream, (x, y) = saxpy(gpu, ON_STREAM)["saxpy"], gpu.stream(), arrays(gpu)
    gpu.call("hipStreamBeginCapture", P(stream), 0)
    f(1.0, x, y, stream)
    graph, ready = P(), P()
    gpu.call("hipStreamEndCapture", P(stream), ctypes.byref(graph))
    flags = ctypes.c_ulonglong(0)
    gpu.call("hipGraphInstantiateWithFlags", ctypes.byref(ready), graph, flags)
    for _ in range(2):
        gpu.call("hipGraphLaunch", ready, P(stream))
    gpu.call("hipStreamSynchronize", P(stream))
    check(gpu, y)


def preload_and_release(gpu: Gpu) -> None:
    module, (x, y) = saxpy(gpu), arrays(gpu)
    module["_cuda_preload_saxpy"](0)
    module["saxpy"](1.0, x, y)
    gpu.call("hipDeviceSynchronize")
    module["_cuda_release_saxpy"]()
    module["saxpy"](1.0, x, y)
    check(gpu, y)


def refused(call: Callable[[], object], *words: str) -> None:
    text = "nothing was raised"
    try:
        call()
    except RuntimeError as error:
        text = str(error)
    assert all(word in text for word in words), text


def too_many_threads(gpu: Gpu) -> None:
    """The kernel was compiled for 256. Later launches work."""
    f = saxpy(gpu, SAXPY.replace(") where", ", b: int32) where"), Launch(1, "b"))
    x, y = arrays(gpu)
    refused(lambda: f["saxpy"](1.0, x, y, 512), "(719", "the block has 512 threads, at most 256")
    one_launch(gpu)


def too_much_lds(gpu: Gpu) -> None:
    signature = SAXPY.replace(") where", ", b: int32) where")
    f = saxpy(gpu, signature, Launch(1, 256, dynamic_smem_bytes=spec.Var("b", "int32")))["saxpy"]
    x, y = arrays(gpu)
    refused(lambda: f(1.0, x, y, 1 << 20), "dynamic_smem_bytes is 1048576, at most")
    one_launch(gpu)


def cooperative(gpu: Gpu) -> None:
    x, y = arrays(gpu)
    saxpy(gpu, launch=Launch("ceildiv(n, 256)", 256, attributes=["cooperative"]))["saxpy"](
        2.0, x, y
    )
    check(gpu, y)


def waiting(gpu: Gpu) -> None:
    cuda.launch_blocking(True)
    one_launch(gpu)
    cuda.launch_blocking(False)


def pytorch(gpu: Gpu) -> None:
    """Its tensors on "cuda", its current stream, and a result from its allocator."""
    try:
        import torch as _torch  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise Skipped("needs a ROCm build of PyTorch") from None
    torch: Any = _torch
    if not getattr(torch.version, "hip", None) or not torch.cuda.is_available():
        raise Skipped("PyTorch is not built for ROCm")
    f = saxpy(gpu)["saxpy"]
    x = torch.arange(COUNT, dtype=torch.float32, device="cuda")
    y = torch.ones(COUNT, device="cuda")
    with torch.cuda.stream(torch.cuda.Stream()):
        f(2.0, x, y)
        torch.cuda.synchronize()
    assert torch.equal(y, 1 + 2 * x)
    text = SAXPY.replace(", y: Tensor([n], float32))", ") -> y: Tensor([n], float32)")
    made = wrap(gpu.image, text, launch=HOW, args=["a", "x", "y", "n"])["saxpy"](2.0, x)
    assert made.device.type == "cuda"


CASES: Final[dict[str, Callable[[Gpu], None]]] = {
    each.__name__: each
    for each in (
        one_launch,
        each_width,
        each_device,
        streams,
        a_graph,
        preload_and_release,
        too_many_threads,
        too_much_lds,
        cooperative,
        waiting,
        pytorch,
    )
}
