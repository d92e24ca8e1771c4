/* Stream capture. */
#include "../../fakecuda/c/capture.c"

#include "hip.h"

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  HIP(kInit, begin((CUstream)stream, (CUstreamCaptureMode)mode), "stream=%p mode=%d", (void*)stream,
      (int)mode);
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* out) {
  HIP(kInit, end((CUstream)stream, (CUgraph*)out), "stream=%p", (void*)stream);
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  HIP(kInit, state((CUstream)stream, (CUstreamCaptureStatus*)status, NULL), "stream=%p",
      (void*)stream);
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  HIP(kInit, exchange((CUstreamCaptureMode*)mode), "mode=%d", mode == NULL ? -1 : (int)*mode);
}
