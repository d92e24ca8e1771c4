"""Finds NVIDIA's tools, and has kernels that the tests share."""

from __future__ import annotations

from typing import Final

import pytest

from ffi_builder import CompileError
from ffi_builder.cuda.tools import toolkit
from ffi_builder.cuda.tools.compilers import nvjitlink, version

TARGET: Final = "`make test-cuda` installs it"


def has_nvrtc() -> bool:
    try:
        version()
    except CompileError:
        return False
    return True


needs_nvrtc = pytest.mark.skipif(not has_nvrtc(), reason=f"needs NVRTC: {TARGET}")
needs_nvjitlink = pytest.mark.skipif(nvjitlink() is None, reason=f"needs nvJitLink: {TARGET}")
needs_ptxas = pytest.mark.skipif(
    toolkit.find_program("ptxas") is None, reason="needs ptxas of a CUDA toolkit"
)
ASSEMBLERS: Final = (
    pytest.param("nvjitlink", marks=needs_nvjitlink),
    pytest.param("ptxas", marks=needs_ptxas),
)

SAXPY: Final = """
extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
"""
SCALE: Final = """
gpu.module @kernels {
  gpu.func @scale(%x: !llvm.ptr, %n: i32, %factor: f32) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %thread = gpu.global_id x
    %i = arith.index_cast %thread : index to i32
    %inside = arith.cmpi slt, %i, %n : i32
    scf.if %inside {
      %at = llvm.getelementptr %x[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %old = llvm.load %at : !llvm.ptr -> f32
      %new = arith.mulf %old, %factor : f32
      llvm.store %new, %at : f32, !llvm.ptr
    }
    gpu.return
  }
}
"""
LLVM_IR: Final = """
define ptx_kernel void @k(ptr addrspace(1) %x, float %a, [3 x i64] %s, ptr byval({i32, [128 x i8]}) align 64 %b) #0 {
  store float %a, ptr addrspace(1) %x
  ret void
}
attributes #0 = { "nvvm.reqntid"="128" "nvvm.cluster_dim"="2,1,1" }
"""
