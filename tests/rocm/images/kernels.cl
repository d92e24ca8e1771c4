// Kernels in OpenCL C, without AMD's device library: parameters of every kind.
struct pair {
  char tag;
  double value;
};

static unsigned at(void) { return __builtin_amdgcn_workitem_id_x() + 64 * __builtin_amdgcn_workgroup_id_x(); }

__kernel void saxpy(float a, __global const float *x, __global float *y, int n) {
  if (at() < n)
    y[at()] += a * x[at()];
}

__attribute__((reqd_work_group_size(64, 2, 1))) __kernel void tile(__global float *y, struct pair p, char c) {
  __local float shared[256];
  shared[at() & 255] = y[at()] * p.value;
  __builtin_amdgcn_s_barrier();
  y[at()] = shared[255 - (at() & 255)] + c;
}

__kernel void dynamic(__global float *y, __local float *given) { y[at()] = given[at() & 31]; }

__kernel void nothing(void) {}
