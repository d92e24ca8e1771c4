// What is asked about AMD's kernels and devices, and parts of messages about targets.

#include "cuda.h"

static bool cuda_ask_kernel(const CudaLaunch *launch, int32_t attribute, int32_t *answer) {
  CUfunction function =
      __atomic_load_n(&launch->kernel->functions[launch->device], __ATOMIC_ACQUIRE);
  CudaEntered before;
  *answer = 0;
  if (function == NULL || cuda_enter(launch->state, launch->device, &before) != 0)
    return false;
  CUresult result = launch->state->driver.hipFuncGetAttribute(answer, attribute, function);
  cuda_leave(launch->state, before);
  return result == CUDA_SUCCESS;
}

static void cuda_add_own_limits(CudaMessage *message, const CudaLaunch *launch) {
  (void)message;
  (void)launch; // no more than others have
}

// What hipGetDevicePropertiesR0600 stores. It has the target's name, as gfx90a:sramecc+:xnack-.
typedef union {
  int64_t aligned;
  char bytes[CUDA_PROPERTIES];
} RocmProperties;

// Returns the name of a device's target, in the properties; an empty text if HIP does not say.
static const char *rocm_target(const CudaState *state, CUdevice device, RocmProperties *properties,
                               CUresult *result) {
  memset(properties, 0, sizeof *properties);
  *result = state->driver.hipGetDevicePropertiesR0600 == NULL
                ? CUDA_ERROR_NOT_FOUND
                : state->driver.hipGetDevicePropertiesR0600(properties, device);
  char *name = properties->bytes + CUDA_TARGET_NAME;
  name[*result == CUDA_SUCCESS ? CUDA_TARGET_SIZE - 1 : 0] = '\0';
  return name;
}

// Appends the targets of the image, if it has no code for this device.
static void cuda_add_architectures(CudaMessage *message, const CudaLaunch *launch, CUresult code,
                                   const CudaSite *site) {
  if (code != CUDA_ERROR_NO_BINARY_FOR_GPU && code != CUDA_ERROR_INVALID_IMAGE &&
      code != CUDA_ERROR_INVALID_KERNEL_FILE && code != CUDA_ERROR_INVALID_DEVICE_FUNCTION &&
      code != CUDA_ERROR_SHARED_OBJECT_INIT_FAILED && code != CUDA_ERROR_NOT_FOUND)
    return;
  CUDA_SAY(message, "; the image has %s", site->architectures);
  RocmProperties properties;
  CUresult result;
  const char *name = rocm_target(launch->state, launch->device, &properties, &result);
  if (*name != '\0')
    CUDA_SAY(message, ", and device %d is %s", launch->device, name);
}

static bool rocm_is_digit(char digit) {
  return (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f');
}

static int32_t rocm_hexadecimal(char digit) {
  return digit <= '9' ? digit - '0' : digit - 'a' + 10;
}

// Returns the version of a target: major << 16 | minor << 8 | stepping, which for gfx90a:xnack+ are
// 9, 0 and 10, and for gfx1100 11, 0 and 0; 0 for another text.
static int32_t rocm_number(const char *name) {
  int32_t major = 0, digits = 0;
  while (strncmp(name, "gfx", 3) == 0 && rocm_is_digit(name[3 + digits]))
    ++digits;
  if (digits < 3)
    return 0;
  for (int32_t i = 0; i < digits - 2; ++i)
    major = 10 * major + rocm_hexadecimal(name[3 + i]);
  return major << 16 | rocm_hexadecimal(name[digits + 1]) << 8 | rocm_hexadecimal(name[digits + 2]);
}

static int32_t cuda_ask_capability(const CudaState *state, CUdevice device, int32_t *capability) {
  RocmProperties properties;
  CUresult result;
  *capability = rocm_number(rocm_target(state, device, &properties, &result));
  return cuda_status(NUMBER_hipGetDevicePropertiesR0600, result);
}
