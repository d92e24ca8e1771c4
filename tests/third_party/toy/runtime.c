/* The toy's runtime, which a maker of devices would ship: it launches kernels, here on the CPU. */
#include <stdint.h>
#include <string.h>

int toyLaunch(const char *image, const char *name, int64_t grid, void **params, int32_t count) {
  if (memcmp(image, "TOY", 4) || grid < 0) return 1;
  if (!strcmp(name, "saxpy") && count == 3) {
    float a = *(float *)params[0], *x = *(float **)params[1], *y = *(float **)params[2];
    for (int64_t i = 0; i < grid; i++) y[i] += a * x[i];
    return 0;
  }
  if (!strcmp(name, "count") && count == 3) { /* adds to scratch memory, and copies it */
    int32_t *scratch = *(int32_t **)params[0], *out = *(int32_t **)params[1];
    for (int64_t i = 0; i < grid; i++) out[i] = scratch[i] += *(int32_t *)params[2];
    return 0;
  }
  return 2;
}

int toyFill(void *data, int64_t size, int32_t device) {
  memset(data, 0, size);
  return device != 0;
}
