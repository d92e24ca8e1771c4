# pyright: basic, reportMissingImports=false
"""Wrap a Triton kernel for an AMD GPU: a function that checks its arguments and launches by HIP.

    python examples/triton_rocm.py [gfx942] [add.so]

It needs `pip install triton`, and no GPU: Triton has its own assembler and linker. Nothing of this
ran on an AMD GPU.
"""

import sys
import tempfile
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from ffi_builder import Launch, rocm, spec, wrap

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


if __name__ == "__main__":
    compiled = compile_kernel(next((each for each in sys.argv if each.startswith("gfx")), "gfx942"))
    print(rocm.kernels(compiled.asm["hsaco"]))
    function = wrapped(compiled)
    (given, _), *_ = function.report.functions
    print(given)
    with tempfile.TemporaryDirectory() as folder:
        output = sys.argv[-1] if sys.argv[-1].endswith(".so") else Path(folder, "add.so")
        function.export_library(output)
        print(f"wrote {Path(output).name}, which needs neither Triton nor ROCm to be linked")
