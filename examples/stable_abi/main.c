/* Calls an exported ffi_builder function from C. There is no Python in this process. */
#include <inttypes.h>
#include <stdio.h>
#include <tvm/ffi/c_api.h>

/* Defined in matmul.o. Every exported function has this type. */
int32_t __tvm_ffi_matmul(void *handle, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);

/* A row-major float32 matrix on the CPU; strides may be left out in a DLTensor. */
static DLTensor matrix(float *data, int64_t *shape) {
  DLTensor tensor = {.data = data, .device = {kDLCPU, 0}, .ndim = 2,
                     .dtype = {kDLFloat, 32, 1}, .shape = shape};
  return tensor;
}

static int matmul(DLTensor *a, DLTensor *b, DLTensor *c) {
  TVMFFIAny args[3] = {{.type_index = kTVMFFIDLTensorPtr, .v_ptr = a},
                       {.type_index = kTVMFFIDLTensorPtr, .v_ptr = b},
                       {.type_index = kTVMFFIDLTensorPtr, .v_ptr = c}};
  TVMFFIAny result = {.type_index = kTVMFFINone};
  return __tvm_ffi_matmul(NULL, args, 3, &result);
}

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
  float a_data[] = {1, 2, 3, 4, 5, 6}, b_data[] = {1, 0, 0, 1, 1, 1}, c_data[4] = {0};
  int64_t a_shape[] = {2, 3}, b_shape[] = {3, 2}, c_shape[] = {2, 2};
  DLTensor a = matrix(a_data, a_shape), b = matrix(b_data, b_shape), c = matrix(c_data, c_shape);

  if (matmul(&a, &b, &c) != 0) {
    print_error();
    return 1;
  }
  for (int64_t i = 0; i < c_shape[0]; ++i)
    printf("%g %g\n", c_data[2 * i], c_data[2 * i + 1]);

  b_shape[0] = 4; /* a mistake: B has 4 rows, but A has 3 columns */
  if (matmul(&a, &b, &c) == 0) return 1;
  print_error();
  return 0;
}
