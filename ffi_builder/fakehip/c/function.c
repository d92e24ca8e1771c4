/* The functions of modules. */
#include "../../fakecuda/c/function.c"

#include "hip.h"

static CUresult hip_function(hipFunction_t* out, hipModule_t handle, const char* name) {
  const Module* module = object_find(handle, kKindModule);
  if (module == NULL) return CUDA_ERROR_INVALID_HANDLE;
  CUresult result = hip_on_device(module->context, "a function is taken");
  return result == CUDA_SUCCESS ? module_function((CUfunction*)out, (CUmodule)handle, name) : result;
}

hipError_t hipModuleGetFunction(hipFunction_t* out, hipModule_t module, const char* name) {
  HIP(kContext, hip_function(out, module, name), "module=%p name='%s'", (void*)module,
      name == NULL ? "" : name);
}

/* The most threads are those for which the kernel was compiled, and shared memory is LDS. */
static CUresult hip_get(int* value, int attribute, hipFunction_t handle) {
  const Function* function = object_find(handle, kKindFunction);
  const KernelInfo* info;
  if (value == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (function == NULL) return CUDA_ERROR_INVALID_HANDLE;
  CUresult result = hip_on_device(function->context, "a function is asked");
  if (result == CUDA_SUCCESS) result = kernel_info(function->kernel, function->context->device, &info);
  if (result != CUDA_SUCCESS) return result;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = (int)info->max_threads; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)info->shared; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)info->local; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = (int)info->registers; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = hip_lds(function->context->device) - (int)info->shared;
      break;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attribute, hipFunction_t function) {
  HIP(kContext, hip_get(value, (int)attribute, function), "function=%p attribute=%d",
      (void*)function, (int)attribute);
}
