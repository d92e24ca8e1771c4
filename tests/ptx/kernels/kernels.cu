// Compiled by make_nvrtc.py to kernels.ptx.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/std/cassert>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;

__constant__ float table[4] = {1, 2, 3, 4};
__device__ int counter = 5;

struct Pair {
  float a;
  double b;
};

extern "C" __global__ void sum(const float *x, float *o, int n) {
  extern __shared__ float part[];
  int t = threadIdx.x;
  float s = 0;
  for (int i = t; i < n; i += blockDim.x) s += x[i];
  part[t] = s;
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k /= 2) {
    if (t < k) part[t] += part[t + k];
    __syncthreads();
  }
  if (t == 0) atomicAdd(o, part[0]);
}

extern "C" __global__ void without_a_barrier(const float *x, float *o) {
  __shared__ float part[64];
  part[threadIdx.x] = x[threadIdx.x];
  o[threadIdx.x] = part[63 - threadIdx.x];
}

extern "C" __global__ void maths(const float *x, Pair pair, double *o) {
  float v = x[threadIdx.x];
  o[threadIdx.x] = expf(v) + sinf(v * 1e6f) + powf(fabsf(v), 1.5f) + erff(v) +
                   log((double)v * v) / pair.b + pair.a;
}

extern "C" __global__ void globals(float *o) { *o = table[2] + atomicAdd(&counter, 1); }

extern "C" __global__ void asserts(int n) { assert(n > 3); }

extern "C" __global__ void meet(int *o) {
  atomicAdd(o, 1);
  cg::this_grid().sync();
  o[1 + blockIdx.x] = *o;
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) exchange(int *o) {
  __shared__ int mine;
  cg::cluster_group cluster = cg::this_cluster();
  mine = blockIdx.x * 10 + 1;
  cluster.sync();
  o[blockIdx.x] = *cluster.map_shared_rank(&mine, cluster.block_rank() ^ 1);
  cluster.sync();
}

extern "C" __global__ void reverse(const float *x, float *o) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ float part[64];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(&part[threadIdx.x], &x[threadIdx.x], sizeof(float), barrier);
  barrier.arrive_and_wait();
  o[threadIdx.x] = part[63 - threadIdx.x];
}

__device__ __noinline__ float times(float x, int n) {
  float s = 0;
  for (int i = 0; i < n; ++i) s += x;
  return s;
}

extern "C" __global__ void calls(float *o, int n) {
  o[threadIdx.x] = times(o[threadIdx.x], threadIdx.x + n);
}
