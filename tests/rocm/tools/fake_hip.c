// What the code of FlyDSL calls of HIP. It launches `add_kernel_0(x, size, y, size, out, size)`.
#include <stdint.h>
#include <stdlib.h>

static _Thread_local int device;
int64_t launched[8];
static int64_t loads;

int hipGetDevice(int *id) { *id = device; return 0; }
int hipSetDevice(int id) { device = id; return id > 1 ? 101 : 0; }
int hipGetLastError(void) { return 0; }
const char *hipGetErrorName(int error) { return "hipError"; }
int hipDeviceSynchronize(void) { return 0; }
int hipModuleLoadData(void **module, const void *image) {
  *module = (void *)(intptr_t)(device + 1);
  ++loads;
  return 0;
}
int hipModuleUnload(void *module) { return 0; }
int hipModuleGetFunction(void **function, void *module, const char *name) {
  *function = module;
  return 0;
}
int hipModuleLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned threads,
                          unsigned ty, unsigned tz, unsigned lds, void *stream, void **args,
                          void **extra) {
  if ((intptr_t)function != device + 1)
    abort();
  float *a = *(float **)args[0], *b = *(float **)args[2], *out = *(float **)args[4];
  int32_t size = *(int32_t *)args[1];
  for (int32_t i = 0; i < size; ++i)
    out[i] = a[i] + b[i];
  int64_t facts[8] = {device, x, y, z, threads, lds, (intptr_t)stream, loads};
  for (int i = 0; i < 8; ++i)
    launched[i] = facts[i];
  return 0;
}
