// A handler of XLA's own FFI, by hand, with the checks that a wrapper of ffi_builder has.
#include <cstdint>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

extern "C" void add(const float *a, const float *b, float *out, int64_t n);

static ffi::Error Add(ffi::Buffer<ffi::F32> a, ffi::Buffer<ffi::F32> b,
                      ffi::ResultBuffer<ffi::F32> out) {
  if (a.dimensions().size() != 1 || b.dimensions().size() != 1 || out->dimensions().size() != 1)
    return ffi::Error::InvalidArgument("expected one dimension");
  int64_t n = a.dimensions()[0];
  if (b.dimensions()[0] != n || out->dimensions()[0] != n)
    return ffi::Error::InvalidArgument("expected equal sizes");
  add(a.typed_data(), b.typed_data(), out->typed_data(), n);
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    handler, Add,
    ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());
