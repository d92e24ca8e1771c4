/* cuInit, the devices and what they can do: by default each is an H200. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

static const size_t kMemory = (size_t)141 << 30;

static const struct {
  CUdevice_attribute attribute;
  int value;
} kH200[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 48 << 10},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 227 << 10},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 228 << 10},
    {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, kReservedShared},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 64 << 10},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
    {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1},
    {CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, 134213632},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 1},
};

void device_defaults(Device* device) {
  memset(device->attributes, 0, sizeof(device->attributes));
  for (size_t i = 0; i < sizeof(kH200) / sizeof(kH200[0]); ++i) {
    device->attributes[kH200[i].attribute] = kH200[i].value;
  }
  device->retained = 0;
  device->primary = NULL;
}

int device_attribute(int device, CUdevice_attribute attribute) {
  return driver.devices[device].attributes[attribute];
}

void fake_devices(int devices) {
  lock();
  driver.device_count = devices < 0 ? 0 : devices > kDevices ? kDevices : devices;
  unlock();
}

void fake_attribute(int device, int attribute, int value) {
  lock();
  if (device >= 0 && device < kDevices && attribute > 0 && attribute < kAttributes) {
    driver.devices[device].attributes[attribute] = value;
  }
  unlock();
}

void fake_driver_version(int version) {
  lock();
  driver.version = version == 0 ? CUDA_VERSION : version;
  unlock();
}

static void finish(void) {
  lock();
  driver.finished = true;
  unlock();
}

static CUresult init(unsigned flags) {
  static bool registered;
  if (driver.finished) return CUDA_ERROR_DEINITIALIZED;
  if (driver.forked) return CUDA_ERROR_NOT_INITIALIZED;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (driver.device_count == 0) return CUDA_ERROR_NO_DEVICE;
  driver.initialized = true;
  /* Run by exit() before the destructors of shared libraries, whose calls then come too late. */
  if (!registered) registered = atexit(finish) == 0;
  return CUDA_SUCCESS;
}

CUresult cuInit(unsigned int flags) { API(kNothing, init(flags), "flags=%u", flags); }

static CUresult driver_version(int* version) {
  if (version == NULL) return CUDA_ERROR_INVALID_VALUE;
  *version = driver.version;
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) { API(kNothing, driver_version(version), "-"); }

static CUresult device_get(CUdevice* device, int ordinal) {
  if (device == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (ordinal < 0 || ordinal >= driver.device_count) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  API(kInit, device_get(device, ordinal), "ordinal=%d", ordinal);
}

static CUresult device_count(int* count) {
  if (count == NULL) return CUDA_ERROR_INVALID_VALUE;
  *count = driver.device_count;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) { API(kInit, device_count(count), "-"); }

static CUresult checked(CUdevice device, const void* out) {
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  return device < 0 || device >= driver.device_count ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

static CUresult device_name(char* name, int size, CUdevice device) {
  CUresult result = checked(device, name);
  if (result != CUDA_SUCCESS) return result;
  if (size <= 0) return CUDA_ERROR_INVALID_VALUE;
  snprintf(name, (size_t)size, "Fake %d", device);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  API(kInit, device_name(name, size, device), "size=%d device=%d", size, device);
}

static CUresult total_memory(size_t* bytes, CUdevice device) {
  CUresult result = checked(device, bytes);
  if (result == CUDA_SUCCESS) *bytes = kMemory;
  return result;
}

CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  API(kInit, total_memory(bytes, device), "device=%d", device);
}

static CUresult attribute_get(int* value, CUdevice_attribute attribute, CUdevice device) {
  CUresult result = checked(device, value);
  if (result != CUDA_SUCCESS) return result;
  if (attribute <= 0 || (int)attribute >= kAttributes) return CUDA_ERROR_INVALID_VALUE;
  *value = device_attribute(device, attribute);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  API(kInit, attribute_get(value, attribute, device), "attribute=%d device=%d", (int)attribute,
      device);
}
