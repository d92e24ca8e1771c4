/* What wrappers and host functions of CuTe DSL call, without CUDA: it writes down each call. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { NOTHING, LOAD, GET_DEVICE, SET_DEVICE };

static char *end;
static int32_t device, failing;

static void note(const char *format, ...) {
  va_list values;
  va_start(values, format);
  end += vsprintf(end, format, values);
  va_end(values);
}

void stub_log(char *buffer) { *(end = buffer) = 0; }
void stub_fail(int32_t what) { failing = what; }
void stub_note(int32_t number) { note("entry %d on device %d\n", number, device); }
int32_t stub_status(int32_t what) { return failing == what ? 101 : 0; }

int32_t cuda_dialect_init_library_once(int64_t *state, int32_t (*init)(void *),
                                       int32_t (*load_to_device)(void *, int32_t),
                                       void (*error)(const char *, const char *)) {
  void *libraries[4];
  if (*state) return 0;
  note("load\n");
  if (failing == LOAD) {
    error("RuntimeError", "cannot load");
    return -1;
  }
  *state = 7 + init(libraries) + ((void *)load_to_device == (void *)init);
  return 0;
}
void cuda_dialect_unload_library_once(int64_t *state) { note("unload %d\n", (int)*state); }
const char *cuda_dialect_get_error_name(int32_t code) {
  return code == 101 ? "cudaErrorInvalidDevice" : "cudaErrorLaunchFailure";
}
int32_t _cudaGetDevice(int32_t *result) {
  *result = device;
  return stub_status(GET_DEVICE);
}
int32_t _cudaSetDevice(int32_t number) {
  if (failing == SET_DEVICE) return 101;
  note("device %d\n", device = number);
  return 0;
}

/* The rest is for the host functions. */
struct config {
  unsigned grid[3], block[3];
  size_t shared;
  void *stream;
};
int32_t _cudaLaunchKernelEx(const struct config *config, void *kernel, void **arguments) {
  note("launch %u of %u on stream %zu, device %d\n", config->grid[0], config->block[0],
       (size_t)config->stream, device);
  return 0;
}
int32_t _cudaLibraryLoadData(void **library) { return *library = 0, 0; }
int32_t _cudaLibraryGetKernel(void **kernel) { return *kernel = 0, 0; }
int32_t _cudaDeviceGetAttribute(int32_t *value) { return *value = 1 << 20, 0; }
int32_t _cuKernelGetAttribute(int32_t *value) { return *value = 0; }
int32_t _cudaKernelSetAttributeForDevice(void) { return 0; }
int32_t _cudaFuncSetAttribute(void) { return 0; }
