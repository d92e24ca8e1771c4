# pyright: basic, reportMissingImports=false
"""A kernel of Triton's, compiled without a GPU.

`python triton_kernel.py` saves what test_triton.py needs where Triton is not installed:
axpy.ptx, and axpy.json with what Triton says about launching it.
"""

import json
import os
import sys
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

BLOCK = 1024
SAVED = ("name", "num_warps", "shared", "global_scratch_size", "profile_scratch_size")


@triton.jit
def axpy(x, y, n, a, BLOCK: tl.constexpr):  # type: ignore
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    sums = tl.load(y + at, mask=inside) + a * tl.load(x + at, mask=inside)
    tl.store(y + at, sums, mask=inside)


def compile_kernel():
    types = {"x": "*fp32", "y": "*fp32", "n": "i32", "a": "fp32", "BLOCK": "constexpr"}
    promises = {(0,): [["tt.divisibility", 16]], (1,): [["tt.divisibility", 16]]}
    source = ASTSource(axpy, types, {(4,): BLOCK}, promises)
    options = {"num_warps": 4, "enable_fp_fusion": True, "ptx_version": 80}
    return triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)


if __name__ == "__main__":
    os.environ["TRITON_DISABLE_LINE_INFO"] = "1"  # with it, the PTX has the path of this file
    folder = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent
    compiled = compile_kernel()
    metadata = {name: getattr(compiled.metadata, name) for name in SAVED}
    (folder / "axpy.ptx").write_text(compiled.asm["ptx"])
    (folder / "axpy.json").write_text(json.dumps(metadata, indent=2) + "\n")
