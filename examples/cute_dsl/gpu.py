"""A GPU kernel of CuTe DSL with ffi_builder's wrapper: `python gpu.py [folder]`.

Any machine can compile and export it. Without a GPU and a recent driver, a call raises a
RuntimeError with the name of CUDA's error.
"""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import cutlass
import numpy as np
from cutlass import cute
from cutlass.cute import runtime as fakes
from export import exported
from hook import ffi_builder_wrappers
from on_gpu import HAS_GPU, OnGpu

THREADS = 128


@cute.kernel
def scale_kernel(x: cute.Tensor, y: cute.Tensor, factor: cutlass.Float32):
    i = cute.arch.block_idx()[0] * THREADS + cute.arch.thread_idx()[0]
    if i < x.shape[0]:
        y[i] = x[i] * factor


@cute.jit
def scale(x: cute.Tensor, y: cute.Tensor, factor: cutlass.Float32, stream):
    blocks = (x.shape[0] + THREADS - 1) // THREADS
    scale_kernel(x, y, factor).launch(grid=(blocks, 1, 1), block=(THREADS, 1, 1), stream=stream)


def compile_scale() -> Any:
    if not HAS_GPU:  # otherwise, the default is its architecture
        os.environ.setdefault("CUTE_DSL_ARCH", "sm_90a")
    vector = fakes.make_fake_compact_tensor(cutlass.Float32, (cute.sym_int(),), assumed_align=16)
    # The wrapper asks tvm-ffi for the current stream, so the stream is not an argument.
    stream = fakes.make_fake_stream(use_tvm_ffi_env_stream=True)
    arguments = (vector, vector, cutlass.Float32(1), stream)
    with ffi_builder_wrappers():
        return cute.compile(scale, *arguments, options="--enable-tvm-ffi")


def call(name: str, function: Any) -> None:
    x = np.arange(1000, dtype="float32")
    result = OnGpu(0 * x)
    try:
        function(OnGpu(x), result, 3)
        difference = np.abs(result.numpy() - 3 * x).max()
        print(f"{name}: largest difference from NumPy: {difference:.1e}")
    except RuntimeError as error:
        print(f"{name}: RuntimeError: {error}")
    try:
        function(OnGpu(x), OnGpu(x[1:]), 3)
    except ValueError as error:
        print(f"{name}: ValueError: {error}")


def main(folder: Path) -> None:
    compiled = compile_scale()
    call("compiled", compiled)
    call("exported", exported(compiled, folder, "scale_gpu"))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()))
