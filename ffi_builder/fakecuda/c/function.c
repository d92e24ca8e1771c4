/* CUkernels and CUfunctions: what they are, and the attributes that can be set.
 *
 * Whoever asks about a kernel on a device may have it loaded there, which allocates memory: so that
 * is unsafe while a stream captures. */
#include <string.h>

#include "fake.h"

void settings_clear(Settings* settings) {
  *settings = (Settings){.max_dynamic = -1, .carveout = -1};
}

CUresult settings_set(Settings* settings, const KernelInfo* info, int device, int attribute,
                      int value) {
  int most = device_attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      if (value < 0 || value > most - (int)info->shared) return CUDA_ERROR_INVALID_VALUE;
      settings->max_dynamic = value;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      if (value != 0 && value != 1) return CUDA_ERROR_INVALID_VALUE;
      settings->non_portable = value;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
      settings->carveout = value;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      if (info->cluster[0] != 0) return CUDA_ERROR_NOT_PERMITTED;
      if (value < 0) return CUDA_ERROR_INVALID_VALUE;
      settings->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = (unsigned)value;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return value < 0 || value > 2 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    default: /* read only, or none */
      return CUDA_ERROR_INVALID_VALUE;
  }
}

static int most_threads(const KernelInfo* info, int device) {
  int most = device_attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  return info->max_threads != 0 && (int)info->max_threads < most ? (int)info->max_threads : most;
}

static int most_dynamic(const Settings* settings, const KernelInfo* info, int device) {
  if (settings->max_dynamic >= 0) return settings->max_dynamic;
  int left = device_attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK) -
             (int)info->shared;
  return left < 0 ? 0 : left;
}

CUresult settings_get(const Settings* settings, const Library* library, const KernelInfo* info,
                      int device, int attribute, int* value) {
  unsigned axis = (unsigned)attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = most_threads(info, device);
      break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = (int)info->shared;
      break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = (int)info->registers;
      break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = library->images[0].sm;
      break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = most_dynamic(settings, info, device);
      break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = settings->carveout;
      break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      *value = settings->non_portable;
      break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      *value = info->cluster[0] != 0 || settings->cluster[0] != 0;
      break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      *value = (int)(info->cluster[0] != 0 ? info->cluster[axis] : settings->cluster[axis]);
      break;
    default:
      if (attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
      *value = 0;
  }
  return CUDA_SUCCESS;
}

/* The kernel of a handle, and what its image says for a device. */
static CUresult kernel_on(CUkernel handle, CUdevice device, Kernel** kernel,
                          const KernelInfo** info) {
  *kernel = object_find(handle, kKindKernel);
  if (*kernel == NULL) return CUDA_ERROR_INVALID_HANDLE;
  if (device < 0 || device >= driver.device_count) return CUDA_ERROR_INVALID_DEVICE;
  return kernel_info(*kernel, device, info);
}

static CUresult kernel_set(CUkernel handle, int attribute, int value, CUdevice device) {
  Kernel* kernel;
  const KernelInfo* info;
  CUresult result = kernel_on(handle, device, &kernel, &info);
  if (result != CUDA_SUCCESS) return result;
  return settings_set(&kernel->settings[device], info, device, attribute, value);
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice device) {
  API(kInit | kUnsafe, kernel_set(kernel, (int)attribute, value, device),
      "kernel=%p attribute=%d value=%d device=%d", (void*)kernel, (int)attribute, value, device);
}

static CUresult kernel_get(int* value, CUkernel handle, int attribute, CUdevice device) {
  Kernel* kernel;
  const KernelInfo* info;
  if (value == NULL) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = kernel_on(handle, device, &kernel, &info);
  if (result != CUDA_SUCCESS) return result;
  return settings_get(&kernel->settings[device], kernel->library, info, device, attribute, value);
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice device) {
  API(kInit | kUnsafe, kernel_get(value, kernel, (int)attribute, device), "kernel=%p attribute=%d device=%d",
      (void*)kernel, (int)attribute, device);
}

static CUresult kernel_parameter(CUkernel handle, size_t index, size_t* offset, size_t* size) {
  Kernel* kernel;
  const KernelInfo* info;
  CUresult result = kernel_on(handle, 0, &kernel, &info);
  if (result != CUDA_SUCCESS) return result;
  if (offset == NULL || index >= info->count) return CUDA_ERROR_INVALID_VALUE;
  *offset = info->parameters[index].offset;
  if (size != NULL) *size = info->parameters[index].size;
  return CUDA_SUCCESS;
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* size) {
  API(kInit, kernel_parameter(kernel, index, offset, size), "kernel=%p index=%zu", (void*)kernel,
      index);
}

static CUresult kernel_library(CUlibrary* out, CUkernel handle) {
  Kernel* kernel = object_find(handle, kKindKernel);
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (kernel == NULL) return CUDA_ERROR_INVALID_HANDLE;
  *out = HANDLE(CUlibrary, kernel->library);
  return CUDA_SUCCESS;
}

CUresult cuKernelGetLibrary(CUlibrary* out, CUkernel kernel) {
  API(kInit, kernel_library(out, kernel), "kernel=%p", (void*)kernel);
}

static Function* function_of(Kernel* kernel, Context* context) {
  Object* object;
  for (size_t i = 0; (object = object_at(i)) != NULL; ++i) {
    Function* function = (Function*)object;
    if (object->kind != kKindFunction || !object->alive) continue;
    if (function->kernel == kernel && function->context == context) return function;
  }
  Function* function = object_new(kKindFunction, sizeof(*function));
  function->context = context;
  function->kernel = kernel;
  settings_clear(&function->settings);
  return function;
}

static CUresult kernel_function(CUfunction* out, CUkernel handle) {
  Context* context;
  Kernel* kernel;
  const KernelInfo* info;
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = context_current(&context);
  if (result == CUDA_SUCCESS) result = kernel_on(handle, context->device, &kernel, &info);
  if (result == CUDA_SUCCESS) *out = HANDLE(CUfunction, function_of(kernel, context));
  return result;
}

CUresult cuKernelGetFunction(CUfunction* out, CUkernel kernel) {
  API(kContext | kUnsafe, kernel_function(out, kernel), "kernel=%p", (void*)kernel);
}

static CUresult module_function(CUfunction* out, CUmodule handle, const char* name) {
  if (out == NULL || name == NULL) return CUDA_ERROR_INVALID_VALUE;
  Module* module = object_find(handle, kKindModule);
  if (module == NULL) return CUDA_ERROR_INVALID_HANDLE;
  Kernel* kernel = library_kernel(module->library, name);
  if (kernel == NULL) return CUDA_ERROR_NOT_FOUND;
  *out = HANDLE(CUfunction, function_of(kernel, module->context));
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* out, CUmodule module, const char* name) {
  API(kContext, module_function(out, module, name), "module=%p name='%s'", (void*)module,
      name == NULL ? "" : name);
}

static CUresult function_attribute(CUfunction handle, int attribute, int* get, int set) {
  Function* function = object_find(handle, kKindFunction);
  if (function == NULL) return CUDA_ERROR_INVALID_HANDLE;
  int device = function->context->device;
  const KernelInfo* info;
  CUresult result = kernel_info(function->kernel, device, &info);
  if (result != CUDA_SUCCESS) return result;
  if (get == NULL) return settings_set(&function->settings, info, device, attribute, set);
  return settings_get(&function->settings, function->kernel->library, info, device, attribute, get);
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  API(kContext, function_attribute(function, (int)attribute, NULL, value),
      "function=%p attribute=%d value=%d", (void*)function, (int)attribute, value);
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  API(kContext,
      value == NULL ? CUDA_ERROR_INVALID_VALUE
                    : function_attribute(function, (int)attribute, value, 0),
      "function=%p attribute=%d", (void*)function, (int)attribute);
}

static CUresult kernel_name(const char** out, CUkernel handle) {
  const Kernel* kernel = object_find(handle, kKindKernel);
  if (out == NULL || handle == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (kernel == NULL) return CUDA_ERROR_INVALID_HANDLE;
  *out = kernel->name;
  return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char** out, CUkernel kernel) {
  API(kInit, kernel_name(out, kernel), "kernel=%p", (void*)kernel);
}
