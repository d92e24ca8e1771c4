# pyright: basic, reportMissingImports=false, reportInvalidTypeForm=false
"""A kernel of TileLang's, compiled without a GPU.

TileLang needs a tvm-ffi without a JIT, so it has an environment of its own (docs/systems.md).
`python tilelang_kernel.py` there saves what test_tilelang.py needs: scale.ptx, and scale.json with
the signature and how the kernel is launched. It needs NVRTC, of the extra `cuda`.
"""

import json
import re
import sys
from pathlib import Path

import nvidia
import tilelang
import tilelang.language as T
from tilelang import tvm
from tilelang.contrib import nvrtc

from ffi_builder import cuda

m = T.dynamic("m")


@T.prim_func
def scale(x: T.Tensor((m, 128), "float32"), y: T.Tensor((m, 128), "float32"), by: T.float32):
    with T.Kernel(T.ceildiv(m, 4), threads=128) as block:
        for row, i in T.Parallel(4, 128):
            y[block * 4 + row, i] = x[block * 4 + row, i] * by


def compile_kernel():
    """Return the PTX, and how it is launched."""
    with tvm.target.Target({"kind": "cuda", "arch": "sm_90"}) as target:
        artifact = tilelang.lower(scale, target=target)
    sources = Path(str(tilelang.__file__)).parent
    wheels = Path(nvidia.__path__[0])
    folders = [sources / "src", sources / "3rdparty/cutlass/include"]
    folders += [*wheels.glob("*/include"), *wheels.glob("*/include/cccl")]
    options = ["--std=c++17", *(f"-I{folder}" for folder in folders)]
    made = bytes(nvrtc.compile_cuda(artifact.kernel_source, "ptx", 90, options))
    # The kernel needs nothing that is newer, and older drivers take it.
    ptx = re.sub(r"(?m)^\.version .*", ".version 8.0", made.rstrip(b"\0").decode())
    [(symbol, kernel)] = artifact.device_mod.functions.items()
    extent = {name: str(size) for name, size in kernel.attrs["thread_extent"].items()}
    return ptx, {
        "signature": str(cuda.tilelang_signature(scale)),
        "function": symbol.name_hint,
        "args": [param.name for param in kernel.params],
        "grid": extent["blockIdx.x"],
        "block": int(extent["threadIdx.x"]),
    }


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent
    ptx, launch = compile_kernel()
    (folder / "scale.ptx").write_text(ptx)
    (folder / "scale.json").write_text(json.dumps(launch, indent=2) + "\n")
