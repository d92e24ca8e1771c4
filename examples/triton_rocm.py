# pyright: basic, reportMissingImports=false
"""Wrap a Triton kernel for an AMD GPU, and launch it on a HIP library without a device.

    python examples/triton_rocm.py [gfx942] [add.so]

It needs `pip install triton '.[jit,cuda-testing]'` and a C compiler, and no GPU: Triton has its own
assembler and linker. Nothing of this ran on an AMD GPU.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from ffi_builder import Launch, rocm, spec, testing, wrap

BLOCK = 256


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):  # type: ignore
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n)
    tl.store(out + at, total, mask=at < n)


def compile_kernel(arch):
    types = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    promises = {(index,): [["tt.divisibility", 16], ["tt.pointer_range", 32]] for index in range(3)}
    source = ASTSource(add, types, {"BLOCK": BLOCK}, promises)
    wave = 64 if arch.startswith("gfx9") else 32
    target = GPUTarget("hip", arch, wave)
    return triton.compile(source, target=target, options={"enable_fp_fusion": True})


def wrapped(compiled):
    n = spec.Var("n", "int32")
    tensors = [spec.Tensor(name, [n], "float32", device_type="rocm") for name in ("x", "y", "out")]
    signature = spec.Signature("add", tensors)
    launch = Launch(grid=spec.ceildiv(n, BLOCK))
    return wrap(compiled, signature, launch=launch, args=[*tensors, n])


def call(function, arch):
    with testing.FakeHip(arch) as gpu:

        @gpu.kernel("add", ["float32*", "float32*", "float32*", "int32", "handle", "handle"])
        def emulated(launch, x, y, out, n, *scratch):
            out[:n] = x[:n] + y[:n]

        x, y = gpu.array(np.arange(1000, dtype="float32")), gpu.array(np.ones(1000, "float32"))
        out = gpu.array(np.zeros(1000, "float32"))
        function(x, y, out)
        assert (out.numpy() == x.numpy() + 1).all()
        try:
            function(x, y[:999], out)
        except ValueError as error:
            print(error)
    [launch] = gpu.launches
    print(f"launched {launch.kernel}: grid {launch.grid}, block {launch.block}")


if __name__ == "__main__":
    arch = next((each for each in sys.argv if each.startswith("gfx")), "gfx942")
    compiled = compile_kernel(arch)
    print(rocm.kernels(compiled.asm["hsaco"]))
    function = wrapped(compiled)
    call(function["add"], arch)
    with tempfile.TemporaryDirectory() as folder:
        output = sys.argv[-1] if sys.argv[-1].endswith(".so") else Path(folder, "add.so")
        function.export_library(output)
        print(f"wrote {Path(output).name}, which needs neither Triton nor ROCm to be linked")
