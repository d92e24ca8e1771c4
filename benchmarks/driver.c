/* The loops that call a function through a pointer, as C code would. */
#include <time.h>

#include <tvm/ffi/c_api.h>

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds for `calls` calls that succeed; negative if one fails. */
double time_calls(TVMFFISafeCallType function, const TVMFFIAny *args, int32_t num_args, int64_t calls) {
  double start = seconds();
  for (int64_t i = 0; i < calls; ++i) {
    TVMFFIAny result;
    if (function(NULL, args, num_args, &result) != 0) return -1;
  }
  return seconds() - start;
}

/* Seconds for `calls` calls that fail, with taking and freeing the error; negative if one succeeds. */
double time_errors(TVMFFISafeCallType function, const TVMFFIAny *args, int32_t num_args, int64_t calls) {
  double start = seconds();
  for (int64_t i = 0; i < calls; ++i) {
    TVMFFIAny result;
    TVMFFIObjectHandle error = NULL;
    if (function(NULL, args, num_args, &result) == 0) return -1;
    TVMFFIErrorMoveFromRaised(&error);
    TVMFFIObjectDecRef(error);
  }
  return seconds() - start;
}
