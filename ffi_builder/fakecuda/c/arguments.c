/* Copying a kernel's parameters out of the caller's memory. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

enum { kTensorMap = 128, kTensorMapAlignment = 64, kMostAligned = 8 };

/* What a parameter's type must be aligned to, as far as its size and place tell: a CUtensorMap is
 * 128 bytes at a multiple of 64, and 16 bytes may be a pointer and an int, aligned to 8. */
static uint32_t alignment_of(uint32_t at, uint32_t size) {
  if (size == kTensorMap && at % kTensorMapAlignment == 0) return kTensorMapAlignment;
  uint32_t alignment = kMostAligned;
  while (at % alignment != 0 || size % alignment != 0) alignment /= 2;
  return alignment;
}

static CUresult from_pointers(void** params, const KernelInfo* info, FakeParameter* parameters) {
  if (!readable(params, info->count * sizeof(*params))) {
    violation("parameter-memory", "the %u parameter pointers of '%s' at %p cannot be read",
              info->count, info->name, (void*)params);
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (unsigned i = 0; i < info->count; ++i) {
    uint32_t size = parameters[i].size;
    if (!readable(params[i], size)) {
      violation("parameter-memory", "parameter %u of '%s', %u bytes at %p, cannot be read", i,
                info->name, size, params[i]);
      return CUDA_ERROR_INVALID_VALUE;
    }
    uint32_t alignment = alignment_of(info->base + parameters[i].offset, size);
    parameters[i].address = (uint64_t)(uintptr_t)params[i];
    if (parameters[i].address % alignment != 0) {
      violation("parameter-alignment", "parameter %u of '%s' at %p must be aligned to %u bytes", i,
                info->name, params[i], alignment);
    }
    memcpy((void*)(uintptr_t)parameters[i].bytes, params[i], size);
  }
  return CUDA_SUCCESS;
}

static CUresult from_buffer(void** extra, const KernelInfo* info, FakeParameter* parameters) {
  const char* buffer = NULL;
  const size_t* size = NULL;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[1];
    else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE) size = extra[1];
    else return CUDA_ERROR_INVALID_VALUE;
  }
  for (unsigned i = 0; i < info->count; ++i) {
    size_t end = (size_t)parameters[i].offset + parameters[i].size;
    if (buffer == NULL || size == NULL || end > *size) return CUDA_ERROR_INVALID_VALUE;
    memcpy((void*)(uintptr_t)parameters[i].bytes, buffer + parameters[i].offset,
           parameters[i].size);
  }
  return CUDA_SUCCESS;
}

CUresult arguments_read(void** params, void** extra, const KernelInfo* info, Launch* launch) {
  FakeParameter* parameters = must(calloc(info->count + 1, sizeof(*parameters)));
  launch->public.parameters = parameters;
  launch->public.count = info->count;
  for (unsigned i = 0; i < info->count; ++i) {
    parameters[i].offset = info->parameters[i].offset;
    parameters[i].size = info->parameters[i].size;
    parameters[i].bytes = must(malloc(parameters[i].size));
  }
  if (params != NULL && extra != NULL) return CUDA_ERROR_INVALID_VALUE;
  if (extra != NULL) return from_buffer(extra, info, parameters);
  if (info->count == 0) return CUDA_SUCCESS;
  return params == NULL ? CUDA_ERROR_INVALID_VALUE : from_pointers(params, info, parameters);
}
