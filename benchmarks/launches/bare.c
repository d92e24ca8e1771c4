/* The least that a launch is in C: the configuration and the parameters are written, then the driver is called. */
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* As cuda.h has it. */
typedef struct {
  unsigned grid[3], block[3], shared;
  void *stream, *attributes;
  unsigned attribute_count;
} config;
_Static_assert(sizeof(config) == 56 && offsetof(config, stream) == 32, "CUlaunchConfig");

typedef int launch(const config *, void *kernel, void **parameters, void **extra);

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Not inlined: what is launched comes from a caller, as the arguments of a function do. */
static __attribute__((noinline)) int saxpy(launch *launch, void *kernel, void *stream, float a, void *x, void *y, int n) {
  config config = {.grid = {((unsigned)n + 127) / 128, 1, 1}, .block = {128, 1, 1}, .stream = stream};
  return launch(&config, kernel, (void *[]){&a, &x, &y, &n}, NULL);
}

/* Seconds for `calls` launches; negative if one fails. */
double time_launches(launch *launch, void *kernel, void *stream, void *x, void *y, int n, int64_t calls) {
  double start = seconds();
  for (int64_t i = 0; i < calls; ++i) {
    if (saxpy(launch, kernel, stream, 2, x, y, n) != 0) return -1;
  }
  return seconds() - start;
}
