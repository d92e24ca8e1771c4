/* Streams, each of the device that was current when it was made. */
#include "../../fakecuda/c/stream.c"

#include "hip.h"

hipError_t hipStreamCreate(hipStream_t* out) {
  HIP(kContext | kUnsafe, create((CUstream*)out, 0, 0), "-");
}

hipError_t hipStreamCreateWithFlags(hipStream_t* out, unsigned int flags) {
  HIP(kContext | kUnsafe, create((CUstream*)out, flags, 0), "flags=%u", flags);
}

hipError_t hipStreamCreateWithPriority(hipStream_t* out, unsigned int flags, int priority) {
  HIP(kContext | kUnsafe, create((CUstream*)out, flags, priority), "flags=%u priority=%d", flags,
      priority);
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  HIP(kInit, destroy((CUstream)stream), "stream=%p", (void*)stream);
}

hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* out) {
  HIP(kInit, get_device((CUstream)stream, out), "stream=%p", (void*)stream);
}

hipError_t hipStreamGetFlags(hipStream_t stream, unsigned int* out) {
  HIP(kInit, get_flags((CUstream)stream, out), "stream=%p", (void*)stream);
}

hipError_t hipStreamSynchronize(hipStream_t stream) {
  HIP(kInit, wait((CUstream)stream), "stream=%p", (void*)stream);
}

hipError_t hipStreamQuery(hipStream_t stream) {
  HIP(kInit, wait((CUstream)stream), "stream=%p", (void*)stream);
}
