// A launch by tvm-ffi's cubin_launcher.h, as its documentation shows it: types are checked, shapes and devices are not.
#include <cuda.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/extra/cuda/cubin_launcher.h>
#include <tvm/ffi/function.h>

#include <memory>
#include <optional>

namespace {

std::unique_ptr<tvm::ffi::CubinModule> module;
std::optional<tvm::ffi::CubinKernel> kernel;

void load(tvm::ffi::Bytes image) {
  module = std::make_unique<tvm::ffi::CubinModule>(image);
  kernel.emplace(module->GetKernel("saxpy"));
}

void saxpy(double factor, tvm::ffi::TensorView x, tvm::ffi::TensorView y) {
  float a = static_cast<float>(factor);
  void *from = x.data_ptr(), *to = y.data_ptr();
  int n = static_cast<int>(x.size(0));
  void *parameters[] = {&a, &from, &to, &n};
  DLDevice device = x.device();
  auto stream = static_cast<tvm::ffi::cuda_api::StreamHandle>(TVMFFIEnvGetStream(device.device_type, device.device_id));
  tvm::ffi::dim3 grid((n + 127) / 128), block(128);
  TVM_FFI_CHECK_CUBIN_LAUNCHER_CUDA_ERROR(kernel->Launch(parameters, grid, block, stream));
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(load, load);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(saxpy, saxpy);
