# pyright: basic, reportMissingImports=false
"""Export a Triton kernel as a library that checks its arguments and does not need Triton.

    python examples/triton_aot.py [softmax.so] [--fake]

Compiling it needs `pip install triton`, but no GPU. If there is a GPU, the library is called on it.
With --fake it is called on the fake driver of the tests, which runs a Python function instead.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from ffi_builder import Launch, cuda, runtime, spec, wrap

WIDEST = 1024
TYPES = {"float32": "fp32", "int32": "i32", "int64": "i64"}


@triton.jit
def softmax(x, y, x_pitch, y_pitch, cols, BLOCK: tl.constexpr):  # type: ignore
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * x_pitch + at, mask=at < cols, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * y_pitch + at, powers / tl.sum(powers, axis=0), mask=at < cols)


# The kernel's assumptions, written once: Triton compiles for them, the wrapper checks them.
rows, cols = spec.Var("rows", "int32"), spec.Var("cols", "int32", max=WIDEST)
x_pitch, y_pitch = (spec.Var(f"{name}_pitch", "int64", divisibility=16) for name in "xy")
with spec.DefaultConfig(device_type="cuda"):
    x = spec.Tensor("x", [rows, cols], "float32", strides=[x_pitch, 1], data_alignment=16)
    y = spec.Tensor("y", [rows, cols], "float32", strides=[y_pitch, 1], data_alignment=16)
ARGUMENTS = [x, y, x_pitch, y_pitch, cols]


def compile_kernel(arch):
    types, promises = {"BLOCK": "constexpr"}, {}
    for index, given in enumerate(ARGUMENTS):
        is_tensor = isinstance(given, spec.Tensor)
        types[given.name] = ("*" if is_tensor else "") + TYPES[given.dtype]
        if ((given.data_alignment if is_tensor else given.divisibility) or 1) % 16 == 0:
            promises[(index,)] = [["tt.divisibility", 16]]
    source = ASTSource(softmax, types, {(len(ARGUMENTS),): WIDEST}, promises)
    options = {"num_warps": 4, "enable_fp_fusion": True}
    return triton.compile(source, target=GPUTarget("cuda", arch, 32), options=options)


def export(compiled, output):
    """Export a library that launches as Triton does: `compiled` says how, except for the grid."""
    signature = spec.Signature("softmax", [x, y])
    print(cuda.kernels(compiled.asm["cubin"])[compiled.metadata.name])
    wrapped = wrap(compiled, signature, launch=Launch(grid=rows), args=ARGUMENTS)
    wrapped.export_library(output)


def call(function, gpu, width):
    """Call the library on 4 rows of numbers, and describe the result."""
    values = np.random.default_rng(0).standard_normal((4, width), "float32")
    given, result = gpu.array(values), gpu.array(0 * values)
    try:
        function(given.tensor, result.tensor)
    except (ValueError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
    expected = np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)
    return f"largest difference from NumPy: {abs(result.host - expected).max():.1e}"


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))  # tests are not installed
    from tests.cuda.gpu.found import find_gpu

    gpu = find_gpu(fake="--fake" in sys.argv)
    with tempfile.TemporaryDirectory() as folder:
        output = next((Path(a) for a in sys.argv[1:] if a != "--fake"), Path(folder, "softmax.so"))
        export(compile_kernel(gpu.arch), output)
        print("called on", gpu)
        for width in (2048, 1008):
            print(call(runtime.load(output)["softmax"], gpu, width))
