# pyright: basic, reportMissingImports=false
"""Compile a kernel in CUDA C++ to a function that takes PyTorch's CUDA tensors.

    python examples/cuda_saxpy.py                 compiles with NVRTC, from ffi_builder[cuda]
    python examples/cuda_saxpy.py saxpy.cubin     uses an image that was compiled before

The kernel runs on a GPU if PyTorch has one. Otherwise a fake driver, of ffi_builder[cuda-testing],
runs a Python function in its place.
"""

import importlib.util
import sys
from pathlib import Path

import numpy as np

from ffi_builder import Launch, cuda, spec, testing, wrap

SOURCE = r"""
extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
"""
THREADS = 256

n = spec.Var("n", "int32")
a = spec.Var("a", "float32")
x = spec.Tensor("x", [n], "float32", device_type="cuda")
y = spec.Tensor("y", [n], "float32", device_type="cuda")
SIGNATURE = spec.Signature("saxpy", [a, x, y])


def compiled_for(arch: str):
    """Compile the function for GPUs of this architecture."""
    given = sys.argv[1:]
    image = Path(given[0]).read_bytes() if given else cuda.compile_cuda(SOURCE, arch=arch)
    print(cuda.kernels(image))
    grid = spec.ceildiv(n, THREADS)
    launch = Launch(grid=grid, block=THREADS)
    return wrap(image, SIGNATURE, launch=launch, args=[a, x, y, n])["saxpy"]


def on_gpu(torch):
    major, minor = torch.cuda.get_device_capability()
    saxpy = compiled_for(f"sm_{major}{minor}")
    given, result = torch.arange(1000.0, device="cuda"), torch.ones(1000, device="cuda")
    saxpy(2, given, result)  # on PyTorch's current stream, like the operations that follow
    return result.cpu().numpy(), mistake(saxpy, given.double(), result)


def on_fake_driver():
    with testing.FakeCuda("sm_90") as gpu:  # before the first call, which looks for a driver

        @gpu.kernel("saxpy", ["float32", "float32*", "float32*", "int32"])
        def emulated(launch, a, x, y, n):
            count = min(n, launch.grid[0] * THREADS)
            y[:count] += a * x[:count]

        saxpy = compiled_for("sm_90")
        given = gpu.array(np.arange(1000, dtype="float32"))
        result = gpu.array(np.ones(1000, "float32"))
        saxpy(2, given, result)
        return result.numpy(), mistake(saxpy, gpu.array(np.zeros(1000)), result)


def mistake(saxpy, x, y):
    """Return the error for an array of another dtype."""
    try:
        saxpy(2, x, y)
    except TypeError as error:
        return f"TypeError: {error}"
    return "no error"


def torch_with_gpu():
    if importlib.util.find_spec("torch") is None:
        return None
    import torch

    return torch if torch.cuda.is_available() else None


if __name__ == "__main__":
    torch = torch_with_gpu()
    if torch is None:
        print("There is no GPU here, or no PyTorch that has it: a fake driver runs the kernel")
    result, error = on_fake_driver() if torch is None else on_gpu(torch)
    print("largest difference from NumPy:", np.abs(result - (1 + 2 * np.arange(1000))).max())
    print(error)
