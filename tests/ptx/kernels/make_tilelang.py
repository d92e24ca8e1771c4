# pyright: basic, reportMissingImports=false, reportInvalidTypeForm=false
"""A matrix product of TileLang's, for two architectures: `python -m tests.ptx.kernels.make_tilelang`.

It needs TileLang and NVRTC, and prints how TileLang launches them.
"""

from pathlib import Path

import tilelang
import tilelang.language as T
from tilelang import tvm
from tilelang.contrib import nvrtc

from ffi_builder import cuda
from ffi_builder.cuda.tools import toolkit
from tests.ptx.kernels.slim import slim

SIZE, TILE = 64, 32


@T.prim_func
def gemm(
    a: T.Tensor((SIZE, SIZE), "float16"),
    b: T.Tensor((SIZE, SIZE), "float16"),
    c: T.Tensor((SIZE, SIZE), "float32"),
):
    with T.Kernel(SIZE // TILE, SIZE // TILE, threads=128) as (x, y):
        a_shared = T.alloc_shared((TILE, TILE), "float16")
        b_shared = T.alloc_shared((TILE, TILE), "float16")
        total = T.alloc_fragment((TILE, TILE), "float32")
        T.clear(total)
        for k in T.Pipelined(SIZE // TILE, num_stages=2):
            T.copy(a[y * TILE, k * TILE], a_shared)
            T.copy(b[k * TILE, x * TILE], b_shared)
            T.gemm(a_shared, b_shared, total)
        T.copy(total, c[y * TILE, x * TILE])


if __name__ == "__main__":
    folder = Path(__file__).parent
    sources = Path(str(tilelang.__file__)).parent
    folders = [sources / "src", sources / "3rdparty/cutlass/include", *toolkit.include_paths()]
    for sm in (80, 90):
        with tvm.target.Target({"kind": "cuda", "arch": f"sm_{sm}"}) as target:
            artifact = tilelang.lower(gemm, target=target)
        options = [*(f"-I{each}" for each in folders), "--std=c++17"]
        ptx = bytes(nvrtc.compile_cuda(artifact.kernel_source, "ptx", sm, options))
        (folder / f"gemm_{sm}.ptx").write_text(slim(ptx.rstrip(b"\0").decode()))
        print(cuda.tilelang_launch(artifact))
