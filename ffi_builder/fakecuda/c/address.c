/* cuGetProcAddress, and names that a driver has kept from before CUDA 4.0. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "fake.h"

/* Functions whose name without a suffix is another one: from which version on it has which. */
static const struct {
  const char* name;
  const char* suffix;
  int since;
} kVersions[] = {
    {"cuCtxCreate", "_v4", 12050},         {"cuCtxCreate", "_v2", 3020},
    {"cuCtxDestroy", "_v2", 4000},         {"cuCtxPopCurrent", "_v2", 4000},
    {"cuCtxPushCurrent", "_v2", 4000},     {"cuDevicePrimaryCtxRelease", "_v2", 11000},
    {"cuDeviceTotalMem", "_v2", 3020},     {"cuGetProcAddress", "_v2", 12000},
    {"cuMemAlloc", "_v2", 3020},           {"cuMemFree", "_v2", 3020},
    {"cuMemGetInfo", "_v2", 3020},         {"cuMemcpyDtoD", "_v2", 3020},
    {"cuMemcpyDtoH", "_v2", 3020},         {"cuMemcpyDtoHAsync", "_v2", 3020},
    {"cuMemcpyHtoD", "_v2", 3020},         {"cuMemcpyHtoDAsync", "_v2", 3020},
    {"cuMemsetD8", "_v2", 3020},           {"cuStreamBeginCapture", "_v2", 10010},
    {"cuStreamDestroy", "_v2", 4000},      {"cuStreamGetCaptureInfo", "_v3", 12030},
    {"cuEventDestroy", "_v2", 4000},
    {"cuGraphInstantiate", "WithFlags", 11040},
};

/* When functions came that older drivers lack. */
static const struct {
  const char* name;
  int since;
} kSince[] = {
    {"cuKernelGetAttribute", 12000}, {"cuKernelGetFunction", 12000},
    {"cuKernelSetAttribute", 12000}, {"cuLaunchKernelEx", 11060},
    {"cuLibraryGetGlobal", 12000},   {"cuLibraryGetKernel", 12000},
    {"cuLibraryLoadData", 12000},
    {"cuLibraryUnload", 12000},      {"cuTensorMapEncodeIm2col", 12000},
    {"cuTensorMapEncodeTiled", 12000}, {"cuTensorMapEncodeIm2colWide", 12080},
};

/* What this library exports; a variant of it that lacks a symbol does not find it either. */
static void* exported(const char* name) {
  Dl_info info;
  if (dladdr((void*)exported, &info) == 0) return NULL;
  void* self = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (self == NULL) return NULL;
  void* found = dlsym(self, name);
  dlclose(self);
  return found;
}

static CUresult look_up(const char* name, void** out, int version, cuuint64_t flags,
                        CUdriverProcAddressQueryResult* status) {
  if (name == NULL || out == NULL || version > driver.version || flags > 2) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  char full[128];
  const char* suffix = "";
  bool late = false;
  for (size_t i = sizeof(kVersions) / sizeof(kVersions[0]); i-- > 0;) {
    if (strcmp(kVersions[i].name, name) != 0) continue;
    if (version >= kVersions[i].since) suffix = kVersions[i].suffix;
  }
  for (size_t i = 0; i < sizeof(kSince) / sizeof(kSince[0]); ++i) {
    late = late || (strcmp(kSince[i].name, name) == 0 && version < kSince[i].since);
  }
  *out = NULL;
  if (!late && flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) {
    snprintf(full, sizeof(full), "%s%s_ptsz", name, suffix);
    *out = exported(full);
  }
  if (!late && *out == NULL) {
    snprintf(full, sizeof(full), "%s%s", name, suffix);
    if (strncmp(full, "cu", 2) == 0) *out = exported(full);
  }
  if (status != NULL) {
    *status = *out != NULL ? CU_GET_PROC_ADDRESS_SUCCESS
              : late       ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                           : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char* name, void** out, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* status) {
  API(kNothing, look_up(name, out, version, flags, status), "name='%s' version=%d flags=%llu",
      name == NULL ? "" : name, version, (unsigned long long)flags);
}

/* Without the suffix it returns CUDA_ERROR_NOT_FOUND instead of a status. */
static CUresult look_up_v1(const char* name, void** out, int version, cuuint64_t flags) {
  CUresult result = look_up(name, out, version, flags, NULL);
  return result == CUDA_SUCCESS && *out == NULL ? CUDA_ERROR_NOT_FOUND : result;
}

#undef cuGetProcAddress
CUresult cuGetProcAddress(const char* name, void** out, int version, cuuint64_t flags);
CUresult cuGetProcAddress(const char* name, void** out, int version, cuuint64_t flags) {
  API(kNothing, look_up_v1(name, out, version, flags), "name='%s' version=%d flags=%llu",
      name == NULL ? "" : name, version, (unsigned long long)flags);
}

/* dlsym finds these in every driver, and they are other functions than the header's, which has
 * macros for the names: they take the contexts of CUDA 3.1, and refuse those of today. */
static CUresult outdated(const char* name) {
  violation("outdated-name", "%s is from before CUDA 4.0: the header means %s_v2", name, name);
  return CUDA_ERROR_INVALID_CONTEXT;
}

#undef cuCtxCreate
#undef cuCtxDestroy
#undef cuCtxPopCurrent
#undef cuCtxPushCurrent
#undef cuMemAlloc
#undef cuMemFree
#undef cuMemcpyDtoH
#undef cuMemcpyHtoD
#undef cuStreamDestroy
#define OUTDATED(name) \
  CUresult name(void); \
  CUresult name(void) { API(kInit, outdated(__func__), "-"); }
OUTDATED(cuCtxCreate)
OUTDATED(cuCtxDestroy)
OUTDATED(cuCtxPopCurrent)
OUTDATED(cuCtxPushCurrent)
OUTDATED(cuMemAlloc)
OUTDATED(cuMemFree)
OUTDATED(cuMemcpyDtoH)
OUTDATED(cuMemcpyHtoD)
OUTDATED(cuStreamDestroy)

/* NVRTC asks for tables of functions that are not documented, and does without. */
static CUresult no_table(const void** out) {
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  *out = NULL;
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetExportTable(const void** out, const CUuuid* id) {
  API(kNothing, no_table(out), "id=%p", (const void*)id);
}
