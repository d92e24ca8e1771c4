// Launches that are watched: hooks are called, or the wrapper waits for the kernel.
//
// What is watched is the same for all launches of a process. The code of all modules and libraries
// shares one CudaWatch. Its address is an attribute of tvm-ffi's type int, since that outlives each
// library. Wrappers read it before each launch.

#include "cuda.h"
#include <unistd.h>

static CudaWatch *cuda_known_watch(void) {
  const TVMFFITypeAttrColumn *column = TVMFFIGetTypeAttrColumn(CUDA_NAME(CUDA_WATCH));
  int64_t index = column == NULL ? -1 : (int64_t)kTVMFFIInt - column->begin_index;
  return index < 0 || index >= column->size || column->data[index].type_index != kTVMFFIInt
             ? NULL
             : (CudaWatch *)(uintptr_t)column->data[index].v_int64;
}

// Returns what the process watches, or NULL if there is no memory. The first caller makes it, and
// it is never freed.
static CudaWatch *cuda_find_watch(void) {
  CudaWatch *known = cuda_known_watch();
  if (known != NULL)
    return known;
  CudaWatch *made = calloc(1, sizeof *made);
  const TVMFFIAny address = {.type_index = kTVMFFIInt, .v_int64 = (int64_t)(uintptr_t)made};
  if (made == NULL || TVMFFITypeRegisterAttr(kTVMFFIInt, CUDA_NAME(CUDA_WATCH), &address) == 0)
    return made;
  cuda_drop_error(); // Python code was faster
  free(made);
  return cuda_known_watch();
}

// Reads the variable of the environment, and looks for hooks. What a call of Python has said about
// blocking stays so.
static int32_t cuda_read_watched(const CudaState *state, const CudaSite *site) {
  if (cuda_look_for(CUDA_NAME(CUDA_LAUNCH_HOOK), &state->watch->hook) != 0 ||
      cuda_look_for(CUDA_NAME(CUDA_LOAD_HOOK), &state->watch->load) != 0)
    return -1;
  const char *given = getenv(CUDA_BLOCKING);
  bool off = given == NULL || *given == '\0' || strcmp(given, "0") == 0;
  if (!off && strcmp(given, "1") != 0) {
    CudaMessage message;
    message.length = 0;
    CUDA_SAY(&message, CUDA_BLOCKING ": expected 1, to wait after each launch, or 0, but got '%s'",
             given);
    return cuda_raise(&message, "ValueError", site);
  }
  if (!__atomic_load_n(&state->watch->decided, __ATOMIC_ACQUIRE))
    __atomic_store_n(&state->watch->blocking, !off, __ATOMIC_RELEASE);
  return 0;
}

// ---- waiting

// Returns whether work on the stream is captured, so that there is nothing to wait for.
static bool cuda_is_captured(const CudaState *state, CUstream stream) {
  int32_t capturing = 0;
  if (state->driver.cuStreamIsCapturing == NULL)
    return false;
  CUresult result = state->driver.cuStreamIsCapturing(stream, &capturing);
  return result == CUDA_SUCCESS ? capturing != 0 : result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
}

static void cuda_say_captured(CudaWatch *watch) {
  static const char text[] = "ffi_builder: the wrapper does not wait after launches while their "
                             "stream is captured (" CUDA_BLOCKING ")\n";
  if (__atomic_fetch_or(&watch->said, 1, __ATOMIC_RELAXED) != 0)
    return;
  ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
  (void)written; // nobody could be told
}

// Waits for all work on the stream; returns a status. Another thread may capture a stream
// meanwhile.
static int32_t cuda_wait(const CudaState *state, CUstream stream) {
  if (state->driver.cuStreamSynchronize == NULL)
    return cuda_status(NUMBER_cuStreamSynchronize, CUDA_ERROR_NOT_FOUND);
  int32_t mode = cuda_relax_capture(state);
  CUresult result = state->driver.cuStreamSynchronize(stream);
  cuda_restore_capture(state, mode);
  return cuda_status(NUMBER_cuStreamSynchronize, result);
}

// ---- arguments in messages

enum { CUDA_MOST_BYTES = 32 };

static void cuda_add_bytes(CudaMessage *message, const unsigned char *bytes, int64_t size) {
  CUDA_SAY(message, "0x");
  for (int64_t i = 0; i < size && i < CUDA_MOST_BYTES; ++i)
    CUDA_SAY(message, "%02x", bytes[i]);
  if (size > CUDA_MOST_BYTES)
    CUDA_SAY(message, "… (%lld bytes)", (long long)size);
}

static int64_t cuda_read_int(const void *at, int64_t size) {
  int64_t wide = 0;
  memcpy(&wide, at, (size_t)size);
  int shift = (int)(64 - 8 * size);
  return (int64_t)((uint64_t)wide << shift) >> shift;
}

static uint64_t cuda_all_ones(int64_t size) { return UINT64_MAX >> (64 - 8 * size); }

// Appends a parameter of a kernel. Its kind is p for a pointer, i for an integer, u for an unsigned
// one, f for a float or double, and b for other bytes.
static void cuda_add_argument(CudaMessage *message, char kind, int64_t size, const void *at) {
  float narrow;
  double wide;
  switch (kind) {
  case 'p':
    CUDA_SAY(message, "0x%llx", (unsigned long long)cuda_read_int(at, size));
    break;
  case 'i':
    CUDA_SAY(message, "%lld", (long long)cuda_read_int(at, size));
    break;
  case 'u':
    CUDA_SAY(message, "%llu", (unsigned long long)cuda_read_int(at, size) & cuda_all_ones(size));
    break;
  case 'f':
    memcpy(&narrow, at, sizeof narrow);
    wide = narrow;
    if (size == sizeof wide)
      memcpy(&wide, at, sizeof wide);
    CUDA_SAY(message, "%g", wide);
    break;
  default:
    cuda_add_bytes(message, at, size);
  }
}

// Appends the parameters of a kernel. Each is described by a kind, a size and a name, such as
// "p8 x"; an empty text is the end.
static void cuda_add_arguments(CudaMessage *message, const char *described, void **params) {
  for (int64_t i = 0; *described != '\0'; ++i) {
    char *name = NULL;
    int64_t size = strtoll(described + 1, &name, 10);
    CUDA_SAY(message, "%s%s=", i == 0 ? "; the kernel got " : ", ", name + 1);
    cuda_add_argument(message, *described, size, params[i]);
    described = name + strlen(name) + 1;
  }
}

// ---- a watched launch

// Sets the error of work that failed while the wrapper waited, before the launch or after it.
static int32_t cuda_raise_waiting(const CudaWatched *launch, CUdevice device, int32_t status,
                                  bool launched, const CudaSite *site) {
  CudaMessage message;
  message.length = 0;
  cuda_add_failure(&message, launch->state, status);
  CUDA_SAY(&message, launched ? " for kernel '%s'" : " before kernel '%s' was launched",
           site->name);
  cuda_add_figures(&message, launch->config, device);
  if (launched)
    cuda_add_arguments(&message, launch->described, launch->params);
  else
    CUDA_SAY(&message, "; what failed is other work, which this wrapper did not launch");
  return cuda_raise(&message, "RuntimeError", site);
}

// Launches and waits, with a context of the stream current; returns a status. Stores whether the
// kernel was launched, so that a failure is its own.
static int32_t cuda_wait_around(const CudaWatched *launch, bool *launched) {
  CUstream stream = launch->config->hStream;
  if (cuda_is_captured(launch->state, stream)) {
    cuda_say_captured(launch->state->watch);
    return cuda_launch_watched(launch);
  }
  int32_t status = cuda_wait(launch->state, stream);
  if (status != 0)
    return status;
  status = cuda_launch_watched(launch);
  *launched = status == 0;
  return status == 0 ? cuda_wait(launch->state, stream) : status;
}

// Launches and waits; returns a status, or -1 for an error that is set.
static int32_t cuda_launch_and_wait(const CudaWatched *launch, CUdevice device,
                                    const CudaSite *site) {
  CudaEntered entered;
  bool launched = false;
  int32_t status = cuda_enter_stream(launch->state, launch->config->hStream, device, &entered);
  if (status == 0) {
    status = cuda_wait_around(launch, &launched);
    cuda_leave(launch->state, entered);
  }
  bool refused = cuda_launches(status >> CUDA_CODE_BITS);
  if (status == 0 || refused || launch->described == NULL)
    return status;
  return cuda_raise_waiting(launch, device, status, launched, site);
}

// Launches a kernel with what is watched; returns a status, or less than 0 for an error that is
// set. `described` is NULL if a failure is to be a status.
int32_t SHARED(cuda_watched)(CudaState *state, CudaKernel *kernel, const CUlaunchConfig *config,
                             void **params, CUdevice device, int32_t needs, const char *described,
                             CUDA_SITE_PARAMETERS) {
  const CudaWatched launch = {state, kernel, config, params, device, needs, described};
  CUdevice found = cuda_device_of(state, config->hStream, device);
  CudaHook hook = {NULL, {0}, {0}, kernel->symbol, config, found};
  int32_t status = cuda_tell_loaded(state, kernel, config->hStream, found);
  if (status == 0)
    status = cuda_open_hook(&hook, state->watch);
  if (status == 0) {
    bool waits = __atomic_load_n(&state->watch->blocking, __ATOMIC_ACQUIRE);
    status = waits ? cuda_launch_and_wait(&launch, found, CUDA_SITE) : cuda_launch_watched(&launch);
    status = cuda_end_hook(&hook, status);
  }
  cuda_close_hook(&hook);
  return status;
}
