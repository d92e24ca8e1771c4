// What the typed functions have in common: the checks that the parameters' types do not make, in the usual macros.
#include <tvm/ffi/container/shape.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/container/tuple.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/function.h>

#include <initializer_list>

extern "C" {
#include "kernels.h"
}

using namespace tvm::ffi;

template <typename T>
static inline void *address(const T &x) {
  return static_cast<char *>(x.data_ptr()) + x.byte_offset();
}

// A float32 tensor on the CPU of this shape, on the device of `first`, and row-major if it must be.
template <typename T>
static inline void check(const char *name, const T &x, std::initializer_list<int64_t> shape, const T &first, bool row_major) {
  TVM_FFI_CHECK(x.ndim() == static_cast<int32_t>(shape.size()), ValueError) << name << ": wrong number of dimensions";
  DLDataType dtype = x.dtype();
  TVM_FFI_CHECK(dtype.code == kDLFloat && dtype.bits == 32 && dtype.lanes == 1, TypeError) << name << ": not float32";
  TVM_FFI_CHECK(x.device().device_type == kDLCPU, ValueError) << name << ": not on the CPU";
  TVM_FFI_CHECK(x.device().device_id == first.device().device_id, ValueError) << name << ": on another device";
  int axis = 0;
  for (int64_t dim : shape) {
    TVM_FFI_CHECK(x.size(axis) == dim && dim >= 0, ValueError) << name << ": wrong shape";
    ++axis;
  }
  TVM_FFI_CHECK(!row_major || x.IsContiguous(), ValueError) << name << ": not contiguous";
}
