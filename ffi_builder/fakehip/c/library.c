/* Modules, each of the device that was current when it was loaded. */
#include "../../fakecuda/c/library.c"

#include "hip.h"

hipError_t hipModuleLoadData(hipModule_t* out, const void* code) {
  HIP(kContext | kUnsafe, module_load((CUmodule*)out, code), "code=%p", code);
}

hipError_t hipModuleLoadDataEx(hipModule_t* out, const void* code, unsigned int count,
                               hipJitOption* options, void** values) {
  bool right = count == 0 || (options != NULL && values != NULL);
  HIP(kContext | kUnsafe, right ? module_load((CUmodule*)out, code) : CUDA_ERROR_INVALID_VALUE,
      "code=%p options=%u", code, count);
}

static CUresult hip_unload(hipModule_t handle) {
  const Module* module = object_find(handle, kKindModule);
  if (module == NULL) return CUDA_ERROR_INVALID_HANDLE;
  CUresult result = hip_on_device(module->context, "a module is unloaded");
  return result == CUDA_SUCCESS ? module_unload((CUmodule)handle) : result;
}

hipError_t hipModuleUnload(hipModule_t module) {
  HIP(kContext | kUnsafe, hip_unload(module), "module=%p", (void*)module);
}
