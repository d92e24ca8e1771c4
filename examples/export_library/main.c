/* Calls the exported library from C, with the declaration in the generated header. */
#include <stdio.h>

#include "kernels.h"

/* Print the error that the last call raised in this thread, and clear it. */
static void print_error(void) {
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorMoveFromRaised(&error);
  const TVMFFIErrorCell *cell =
      (const TVMFFIErrorCell *)((const char *)error + sizeof(TVMFFIObject));
  printf("%.*s: %.*s\n", (int)cell->kind.size, cell->kind.data, (int)cell->message.size,
         cell->message.data);
  TVMFFIObjectDecRef(error);
}

int main(void) {
  float data[] = {1, 2, 3};
  int64_t shape[] = {3};
  DLTensor x = {.data = data, .device = {kDLCPU, 0}, .ndim = 1,
                .dtype = {kDLFloat, 32, 1}, .shape = shape};
  TVMFFIAny args[] = {{.type_index = kTVMFFIDLTensorPtr, .v_ptr = &x},
                      {.type_index = kTVMFFIFloat, .v_float64 = 10}};
  TVMFFIAny result = {.type_index = kTVMFFINone};
  if (__tvm_ffi_scale(NULL, args, 2, &result) != 0) {
    print_error();
    return 1;
  }
  printf("%g %g %g\n", data[0], data[1], data[2]);

  x.ndim = 2; /* a mistake */
  if (__tvm_ffi_scale(NULL, args, 2, &result) == 0) return 1;
  print_error();
  return 0;
}
