/* The devices and what they can do: by default each is an MI300X. */
#include "../../fakecuda/c/device.c"

#include "hip.h"

enum { kNewest = 70151831 }; /* of HIP 7.1 */

/* As far as callers ask for it: where the members of a hipDeviceProp_tR0600 are. */
enum {
  kPropertiesSize = 1472,
  kPropName = 0,
  kPropMemory = 288,
  kPropShared = 296,
  kPropWave = 308,
  kPropThreads = 320,
  kPropMajor = 360,
  kPropMinor = 364,
  kPropCount = 388,
  kPropTarget = 1160,
};

#ifdef FAKE_HIP_HEADER
#define LIES(member, offset) \
  _Static_assert(offsetof(hipDeviceProp_t, member) == (offset), "the layout of HIP's header")
LIES(name, kPropName);
LIES(totalGlobalMem, kPropMemory);
LIES(sharedMemPerBlock, kPropShared);
LIES(warpSize, kPropWave);
LIES(maxThreadsPerBlock, kPropThreads);
LIES(major, kPropMajor);
LIES(minor, kPropMinor);
LIES(multiProcessorCount, kPropCount);
LIES(gcnArchName, kPropTarget);
_Static_assert(sizeof(hipDeviceProp_t) == kPropertiesSize, "the size in HIP's header");
_Static_assert(sizeof(HIP_LAUNCH_CONFIG) == sizeof(CUlaunchConfig) &&
                   sizeof(hipLaunchAttribute) == sizeof(CUlaunchAttribute) &&
                   offsetof(hipLaunchAttribute, val) == offsetof(CUlaunchAttribute, value) &&
                   (int)hipLaunchAttributeCooperative == (int)CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
               "a launch is described as for CUDA");
_Static_assert((int)hipErrorLaunchFailure == (int)CUDA_ERROR_LAUNCH_FAILED &&
                   (int)hipErrorInvalidHandle == (int)CUDA_ERROR_INVALID_HANDLE &&
                   (int)hipErrorNotFound == (int)CUDA_ERROR_NOT_FOUND &&
                   (int)hipErrorNoBinaryForGpu == (int)CUDA_ERROR_NO_BINARY_FOR_GPU &&
                   (int)hipErrorInvalidImage == (int)CUDA_ERROR_INVALID_IMAGE &&
                   (int)hipErrorStreamCaptureUnsupported ==
                       (int)CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
                   (int)hipErrorStreamCaptureImplicit == (int)CUDA_ERROR_STREAM_CAPTURE_IMPLICIT &&
                   (int)hipErrorCooperativeLaunchTooLarge ==
                       (int)CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
               "results are CUDA's");
_Static_assert((int)hipStreamCaptureModeRelaxed == (int)CU_STREAM_CAPTURE_MODE_RELAXED &&
                   (int)hipStreamCaptureStatusActive == (int)CU_STREAM_CAPTURE_STATUS_ACTIVE &&
                   (int)HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES == (int)CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
               "modes and attributes are CUDA's");
#endif

static char targets[kDevices][kTargetName];

void fake_hip_target(int device, const char* target);
void fake_hip_target(int device, const char* target) {
  lock();
  if (device >= 0 && device < kDevices) snprintf(targets[device], kTargetName, "%s", target);
  unlock();
}

const char* hip_target(int device) { return *targets[device] == '\0' ? "gfx942" : targets[device]; }

static bool is_of(int device, const char* prefix) {
  return strncmp(hip_target(device), prefix, strlen(prefix)) == 0;
}

int hip_lds(int device) {
  return is_of(device, "gfx950") ? 160 << 10 : is_of(device, "gfx125") ? 320 << 10 : 64 << 10;
}

/* gfx9 has waves of 64 threads, and gfx90a and gfx942 are of it; gfx10 and later have 32. */
int hip_wave(int device) { return is_of(device, "gfx9") ? kWave64 : kWave32; }

static int version_part(int device, int which) {
  size_t digits = strcspn(hip_target(device) + 3, ":");
  const char* name = hip_target(device) + 3;
  int major = 0;
  for (size_t i = 0; i + 2 < digits; ++i) major = 10 * major + name[i] - '0';
  return which == 0 ? major : name[digits - 2] - '0';
}

static int count_of(int device) { return is_of(device, "gfx9") ? 304 : 96; }

CUresult hip_init(void) { return driver.initialized ? CUDA_SUCCESS : init(0); }

hipError_t hipInit(unsigned int flags) {
  HIP(kNothing, flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE, "flags=%u", flags);
}

static CUresult hip_version(int* version) {
  if (version == NULL) return CUDA_ERROR_INVALID_VALUE;
  *version = driver.version == CUDA_VERSION ? kNewest : driver.version;
  return CUDA_SUCCESS;
}

hipError_t hipDriverGetVersion(int* version) { HIP(kNothing, hip_version(version), "-"); }
hipError_t hipRuntimeGetVersion(int* version) { HIP(kNothing, hip_version(version), "-"); }

static CUresult count_devices(int* count) {
  if (count == NULL) return CUDA_ERROR_INVALID_VALUE;
  *count = driver.device_count;
  return driver.device_count == 0 ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}

hipError_t hipGetDeviceCount(int* count) { HIP(kNothing, count_devices(count), "-"); }

hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  HIP(kInit, device_get(device, ordinal), "ordinal=%d", ordinal);
}

hipError_t hipDeviceGetName(char* name, int size, hipDevice_t device) {
  HIP(kInit, device_name(name, size, device), "size=%d device=%d", size, device);
}

static CUresult hip_attribute(int* value, int attribute, int device) {
  CUresult result = checked(device, value);
  if (result != CUDA_SUCCESS) return result;
  switch (attribute) {
    case hipDeviceAttributeComputeCapabilityMajor: *value = version_part(device, 0); break;
    case hipDeviceAttributeComputeCapabilityMinor: *value = version_part(device, 1); break;
    case hipDeviceAttributeMaxThreadsPerBlock:
    case hipDeviceAttributeMaxBlockDimX:
    case hipDeviceAttributeMaxBlockDimY:
    case hipDeviceAttributeMaxBlockDimZ: *value = kMostThreads; break;
    case hipDeviceAttributeMaxGridDimX: *value = 2147483647; break;
    case hipDeviceAttributeMaxGridDimY:
    case hipDeviceAttributeMaxGridDimZ: *value = 65536; break;
    case hipDeviceAttributeMaxThreadsPerMultiProcessor: *value = 2048; break;
    case hipDeviceAttributeMultiprocessorCount: *value = count_of(device); break;
    case hipDeviceAttributeMaxSharedMemoryPerBlock:
    case hipDeviceAttributeSharedMemPerBlockOptin: *value = hip_lds(device); break;
    case hipDeviceAttributeWarpSize: *value = hip_wave(device); break;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  HIP(kInit, hip_attribute(value, (int)attribute, device), "attribute=%d device=%d", (int)attribute,
      device);
}

static CUresult properties(char* out, int device) {
  CUresult result = checked(device, out);
  if (result != CUDA_SUCCESS) return result;
  const size_t memory = kMemory, shared = (size_t)hip_lds(device);
  const struct {
    int offset, value;
  } numbers[] = {{kPropWave, hip_wave(device)},           {kPropThreads, kMostThreads},
                 {kPropMajor, version_part(device, 0)},   {kPropMinor, version_part(device, 1)},
                 {kPropCount, count_of(device)}};
  memset(out, 0, kPropertiesSize);
  snprintf(out + kPropName, 256, "Fake %d", device);
  snprintf(out + kPropTarget, 256, "%s", hip_target(device));
  memcpy(out + kPropMemory, &memory, sizeof(memory));
  memcpy(out + kPropShared, &shared, sizeof(shared));
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); ++i) {
    memcpy(out + numbers[i].offset, &numbers[i].value, sizeof(int));
  }
  return CUDA_SUCCESS;
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t* out, int device);
hipError_t hipGetDeviceProperties(hipDeviceProp_t* out, int device) {
  HIP(kInit, properties((char*)out, device), "device=%d", device);
}
