// The kernels of the images in tests/kernel_image/images; make.py compiles them.
struct Config {
  int mode;
  float scale;
  long long count;
  char tag;
};

// As CUtensorMap is.
struct __align__(64) TensorMap {
  unsigned long long opaque[16];
};

extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void tensor_map(int n, const __grid_constant__ TensorMap map, unsigned long long *out) {
  out[threadIdx.x] = map.opaque[n];
}

#ifdef ALL
extern "C" __global__ void nothing() {}

extern "C" __global__ void by_value(Config c, float *y) { y[0] = c.mode * c.scale + c.count + c.tag; }

extern "C" __global__ void many(char a, short b, int c, long long d, float e, double f, bool g, void *h,
                                unsigned char i, long long *out) {
  *out = a + b + c + d + (long long)e + (long long)f + g + (long long)h + i;
}

extern "C" __global__ void __launch_bounds__(256, 2) bounded(float *x) {
  __shared__ float s[256];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[255 - threadIdx.x];
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) clustered(float *x) { *x = 1; }

extern "C" __global__ void __launch_bounds__(128, 1, 4) ranked(float *x) { *x = 1; }

namespace ns {
template <class T>
__global__ void fill(T *x, T value) {
  *x = value;
}
template __global__ void fill<float>(float *, float);
}  // namespace ns
#endif

#ifdef LARGE
struct Large {
  int values[4097];
};

extern "C" __global__ void large(int i, const __grid_constant__ Large large, short *out) { *out = large.values[i]; }
#endif
