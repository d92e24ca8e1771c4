/* Calls each function of functions.inc, and has callgrind write how many instructions that took. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

#include "kernels.h"

#define CALLS 1000

#define FUNCTION(symbol, name, case) \
  int32_t symbol(void *handle, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);
#include "functions.inc"
#undef FUNCTION

/* Two instructions: what a call of it takes more is the loop. */
__attribute__((noinline)) int32_t nothing(void *handle, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  return 0;
}

/* Arguments, as objects that are never freed. */
typedef struct {
  TVMFFIObject header;
  DLTensor tensor;
} tensor_object;
typedef struct {
  TVMFFIObject header;
  TVMFFISeqCell cell;
} sequence_object;

static TVMFFIAny of_object(TVMFFIObject *object, int32_t kind) {
  object->type_index = kind;
  TVMFFIAny any = {.type_index = kind};
  any.v_obj = object;
  return any;
}

static TVMFFIAny of_int(int64_t value) {
  TVMFFIAny any = {.type_index = kTVMFFIInt};
  any.v_int64 = value;
  return any;
}

static TVMFFIAny of_pointer(void *value) {
  TVMFFIAny any = {.type_index = kTVMFFIOpaquePtr};
  any.v_ptr = value;
  return any;
}

/* Row-major, with strides, as arrays come from Python. */
static TVMFFIAny tensor(int ndim, const int64_t *shape) {
  static char data[4096];
  tensor_object *object = calloc(1, sizeof *object);
  int64_t *numbers = calloc(2 * ndim, sizeof *numbers), stride = 1;
  for (int i = ndim - 1; i >= 0; --i) {
    numbers[i] = shape[i];
    numbers[ndim + i] = stride;
    stride *= shape[i];
  }
  object->tensor = (DLTensor){.data = data, .device = {kDLCPU, 0}, .ndim = ndim, .dtype = {kDLFloat, 32, 1}};
  object->tensor.shape = numbers;
  object->tensor.strides = numbers + ndim;
  return of_object(&object->header, kTVMFFITensor);
}
#define TENSOR(...) tensor(sizeof((int64_t[]){__VA_ARGS__}) / 8, (int64_t[]){__VA_ARGS__})

static TVMFFIAny pair(TVMFFIAny first, TVMFFIAny second) {
  sequence_object *object = calloc(1, sizeof *object);
  TVMFFIAny *items = calloc(2, sizeof *items);
  items[0] = first;
  items[1] = second;
  object->cell.data = items;
  object->cell.size = object->cell.capacity = 2;
  return of_object(&object->header, kTVMFFIArray);
}

static TVMFFIAny shape_of(int64_t size, const int64_t *entries) {
  struct {
    TVMFFIObject header;
    TVMFFIShapeCell cell;
  } *object = calloc(1, sizeof *object);
  int64_t *copy = calloc(size, sizeof *copy);
  memcpy(copy, entries, size * sizeof *copy);
  object->cell.data = copy;
  object->cell.size = size;
  return of_object(&object->header, kTVMFFIShape);
}

static int arguments(const char *signature, TVMFFIAny args[8]) {
  if (!strcmp(signature, "scalar")) return args[0] = of_int(7), 1;
  if (!strcmp(signature, "mm"))
    return args[0] = TENSOR(3, 4), args[1] = TENSOR(4, 5), args[2] = TENSOR(3, 5), 3;
  if (!strcmp(signature, "nested")) return args[0] = pair(TENSOR(6), pair(of_int(7), TENSOR(6))), 1;
  if (!strcmp(signature, "ptrs")) {
    static char memory[64];
    args[0] = shape_of(3, (int64_t[]){3, 5, 4});
    args[1] = args[2] = of_pointer(memory);
    return 3;
  }
  for (int i = 0; i < 8; ++i) args[i] = TENSOR(2, 3, 4, 5);
  return 8;
}

/* Out of line: all calls are made by the same loop. */
__attribute__((noinline)) static int run(TVMFFISafeCallType function, const char *name, const char *signature) {
  TVMFFIAny args[8], result;
  int count = arguments(signature, args);
  if (function(NULL, args, count, &result)) return puts(name), 1;
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
  for (int i = 0; i < CALLS; ++i) function(NULL, args, count, &result);
  CALLGRIND_DUMP_STATS_AT(name);
  CALLGRIND_STOP_INSTRUMENTATION;
  return 0;
}

int main(void) {
#define FUNCTION(symbol, name, signature) \
  if (run(symbol, name, signature)) return 1;
  FUNCTION(nothing, "loop", "scalar")
#include "functions.inc"
  return 0;
}
