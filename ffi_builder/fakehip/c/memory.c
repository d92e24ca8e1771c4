/* Memory of the devices. */
#include "../../fakecuda/c/memory.c"

#include "hip.h"

static CUdeviceptr at(const void* address) { return (CUdeviceptr)(uintptr_t)address; }

static CUresult hip_alloc(void** out, size_t size) {
  CUdeviceptr address = 0;
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = size == 0 ? CUDA_SUCCESS : alloc(&address, size);
  *out = (void*)(uintptr_t)address;
  return result;
}

#undef hipMalloc
hipError_t hipMalloc(void** out, size_t size) {
  HIP(kContext | kUnsafe, hip_alloc(out, size), "size=%zu", size);
}

hipError_t hipFree(void* address) {
  HIP(kContext | kUnsafe, free_memory(at(address)), "address=%p", address);
}

hipError_t hipMemcpyHtoD(hipDeviceptr_t to, const void* from, size_t size);
hipError_t hipMemcpyHtoD(hipDeviceptr_t to, const void* from, size_t size) {
  HIP(kContext, copy_now(at(to), at(from), size, true, false), "to=%p from=%p size=%zu", to, from,
      size);
}

hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, size_t size) {
  HIP(kContext, copy_now(at(to), at(from), size, false, true), "to=%p from=%p size=%zu", to, from,
      size);
}

hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t count) {
  HIP(kContext, set(at(to), value, count), "address=%p value=%u count=%zu", to, value, count);
}

hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, size_t count,
                            hipStream_t stream) {
  HIP(kContext, set_in((CUstream)stream, at(to), value, count),
      "address=%p value=%u count=%zu stream=%p", to, value, count, (void*)stream);
}

hipError_t hipMemGetInfo(size_t* free_bytes, size_t* total) {
  HIP(kContext, info(free_bytes, total), "-");
}
