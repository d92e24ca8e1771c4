// Kernels in HIP, without its headers: hidden arguments follow these, and names are mangled.
#define __global__ __attribute__((global))

struct pair {
  char tag;
  double value;
};

extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(1, 256)))
saxpy(float a, const float *x, float *y, int n) {
  int i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
  if (i < n)
    y[i] += a * x[i];
}

extern "C" __global__ void by_value(pair p, double *out) { *out = p.value + p.tag; }

extern "C" __global__ void narrow(bool a, char b, short c, long d, double *out) { *out = a + b + c + d; }

namespace ns {
template <class T> __global__ void fill(T *x, T value) { x[__builtin_amdgcn_workitem_id_x()] = value; }
template __global__ void fill<float>(float *, float);
} // namespace ns
