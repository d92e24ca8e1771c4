"""Kernels to test with: what an image says of them, their CUDA C, and what they do on the host."""

from __future__ import annotations

from typing import Final

from ffi_builder.fakecuda.driver import FakeDriver, Running
from tests.fakecuda.image import TENSOR_MAP, KernelImage

SAXPY: Final = KernelImage("saxpy", (4, 8, 8, 4), registers=10)
"""``void saxpy(float a, const float *x, float *y, int n)``: y += a * x."""
EMPTY: Final = KernelImage("empty")
MIXED: Final = KernelImage("mixed", (TENSOR_MAP, 1, 2, 8, 8), registers=14)
"""``void mixed(const __grid_constant__ CUtensorMap map, char, short, double, float *)``."""
STATIC: Final = KernelImage("statically", (8,), shared=4000)
"""4000 bytes of static shared memory: with 48 KiB of dynamic it is too much."""
BOUNDED: Final = KernelImage("bounded", (8,), max_threads=256)
CLUSTERED: Final = KernelImage("clustered", (8,), cluster=(2, 1, 1))
HUNGRY: Final = KernelImage("hungry", (8,), registers=255)
LARGE: Final = KernelImage("large", (20000, 4, 8))

ALL: Final = (SAXPY, EMPTY, MIXED, STATIC, BOUNDED, CLUSTERED, HUNGRY, LARGE)

SOURCE: Final = r"""
struct alignas(64) Map { char bytes[128]; };
struct alignas(16) Huge { char bytes[20000]; };
extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
extern "C" __global__ void empty() {}
extern "C" __global__ void mixed(const __grid_constant__ Map map, char c, short s, double d,
                                 float *out) {
  out[threadIdx.x] = map.bytes[threadIdx.x] + c + s + d;
}
extern "C" __global__ void statically(float *out) {
  __shared__ float all[1000];
  all[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = all[blockDim.x - threadIdx.x - 1];
}
extern "C" __global__ void __launch_bounds__(256) bounded(float *out) { out[threadIdx.x] = 1; }
extern "C" __global__ void __cluster_dims__(2, 1, 1) clustered(float *out) { out[0] = 1; }
extern "C" __global__ void hungry(float *out) { out[0] = 1; }
extern "C" __global__ void large(Huge huge, int i, float *out) { out[0] = huge.bytes[i]; }
"""
"""The same kernels in CUDA C; ``hungry`` needs fewer registers here."""


def emulate_saxpy(driver: FakeDriver, name: str = "saxpy") -> None:
    """Let ``saxpy`` compute, with the threads that it was launched with."""

    def saxpy(launch: Running) -> None:
        factor, x, y, n = launch.values(["float32", "handle", "handle", "int32"])
        count = min(n, launch.grid[0] * launch.block[0])
        if count > 0:
            to = launch.memory(y, count, "float32")
            to += launch.memory(x, count, "float32") * factor

    driver.kernel(name, saxpy)
