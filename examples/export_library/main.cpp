// Calls the exported library from C++, with the typed inline function in the generated header.
#include <iostream>

#include "kernels.h"

int main() {
  float data[] = {1, 2, 3};
  int64_t shape[] = {3};
  DLTensor x = {data, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, nullptr, 0};

  ffi_builder::kernels::scale(&x, 10);  // a tvm::ffi::Tensor goes in the same way
  std::cout << data[0] << " " << data[1] << " " << data[2] << "\n";

  x.dtype.bits = 64;  // a mistake
  try {
    ffi_builder::kernels::scale(&x, 10);
  } catch (const tvm::ffi::Error &error) {
    std::cout << error.kind() << ": " << error.message() << "\n";
    return 0;
  }
  return 1;
}
