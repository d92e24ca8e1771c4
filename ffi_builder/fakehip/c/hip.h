/* What the files of the fake HIP library share, beside what they share with the fake CUDA driver.
 *
 * The objects, their handles, memory, streams, graphs and the log are those of the fake CUDA driver:
 * most files here include its file of the same name, and define HIP's functions with its own. A
 * device has one context, its primary one, which is current wherever the device is.
 *
 * With HIP's header the functions are those that it declares; without, what follows has as much of
 * it as is needed. */
#ifndef HIP_H
#define HIP_H

#include "fake.h"

#ifdef FAKE_HIP_HEADER
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#else
typedef int hipError_t, hipDevice_t, hipDeviceAttribute_t, hipFunction_attribute, hipJitOption;
typedef int hipStreamCaptureMode, hipStreamCaptureStatus;
typedef struct ihipStream_t* hipStream_t;
typedef struct ihipModule_t* hipModule_t;
typedef struct ihipModuleSymbol_t* hipFunction_t;
typedef struct ihipEvent_t* hipEvent_t;
typedef struct ihipGraph* hipGraph_t;
typedef struct hipGraphExec* hipGraphExec_t;
typedef void* hipDeviceptr_t;
enum {
  hipSuccess = 0,
  hipErrorInvalidValue = 1,
  hipErrorOutOfMemory = 2,
  hipErrorNotInitialized = 3,
  hipErrorDeinitialized = 4,
  hipErrorInvalidConfiguration = 9,
  hipErrorInvalidDeviceFunction = 98,
  hipErrorNoDevice = 100,
  hipErrorInvalidDevice = 101,
  hipErrorInvalidImage = 200,
  hipErrorInvalidContext = 201,
  hipErrorNoBinaryForGpu = 209,
  hipErrorInvalidKernelFile = 218,
  hipErrorFileNotFound = 301,
  hipErrorSharedObjectInitFailed = 303,
  hipErrorInvalidHandle = 400,
  hipErrorIllegalState = 401,
  hipErrorNotFound = 500,
  hipErrorNotReady = 600,
  hipErrorIllegalAddress = 700,
  hipErrorLaunchOutOfResources = 701,
  hipErrorContextIsDestroyed = 709,
  hipErrorLaunchFailure = 719,
  hipErrorCooperativeLaunchTooLarge = 720,
  hipErrorNotSupported = 801,
  hipErrorStreamCaptureUnsupported = 900,
  hipErrorStreamCaptureInvalidated = 901,
  hipErrorStreamCaptureImplicit = 906,
  hipErrorStreamCaptureWrongThread = 908,
  hipErrorUnknown = 999,
  hipDeviceAttributeComputeCapabilityMajor = 23,
  hipDeviceAttributeMaxBlockDimX = 26,
  hipDeviceAttributeMaxBlockDimY = 27,
  hipDeviceAttributeMaxBlockDimZ = 28,
  hipDeviceAttributeMaxGridDimX = 29,
  hipDeviceAttributeMaxGridDimY = 30,
  hipDeviceAttributeMaxGridDimZ = 31,
  hipDeviceAttributeMaxThreadsPerBlock = 56,
  hipDeviceAttributeMaxThreadsPerMultiProcessor = 57,
  hipDeviceAttributeComputeCapabilityMinor = 61,
  hipDeviceAttributeMultiprocessorCount = 63,
  hipDeviceAttributeMaxSharedMemoryPerBlock = 74,
  hipDeviceAttributeSharedMemPerBlockOptin = 75,
  hipDeviceAttributeWarpSize = 87,
};
typedef struct hipDeviceProp_t hipDeviceProp_t;
#define hipGetDeviceProperties hipGetDevicePropertiesR0600
#endif

/* Each function makes HIP ready, and a device current for the thread, as HIP does by itself. */
#define HIP(needs, body, ...)                                             \
  do {                                                                    \
    CUresult ready = hip_ready();                                         \
    Call call;                                                            \
    CUresult result = call_begin(&call, __func__, (needs), __VA_ARGS__);  \
    if (ready != CUDA_SUCCESS) result = ready;                            \
    if (result == CUDA_SUCCESS) result = (body);                          \
    return (hipError_t)call_end(&call, result);                           \
  } while (0)

enum { kTargetName = 64, kMostThreads = 1024, kWave64 = 64, kWave32 = 32 };

/* context.c */
CUresult hip_ready(void);
CUresult hip_on_device(const Context* context, const char* what); /* or a violation */

/* device.c */
CUresult hip_init(void);
const char* hip_target(int device); /* gfx942, or gfx90a:sramecc+:xnack- */
int hip_lds(int device);
int hip_wave(int device);

#endif
