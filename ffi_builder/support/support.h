// Declarations that all support code shares, that of add-ons too: the names of functions, their
// calling convention, what raises errors, and the layout of tensors and lists in memory. In each
// folder support.c includes this header and then the C files, which are one translation unit. The
// code of an add-on calls no function of the core by its name: wrappers pass it addresses.
//
// The *object* of a tensor is the address 24 bytes before its DLTensor. A Tensor has its header
// there. A DLTensor* has no header, and nothing reads the 24 bytes before it.

#ifndef FFI_BUILDER_SUPPORT_H
#define FFI_BUILDER_SUPPORT_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dlpack/dlpack.h>
#include <tvm/ffi/c_api.h>

// The name of a function that generated code calls. The name ends in a digest of the code that it
// is compiled with, so that several versions of the support code can be in one process.
#ifndef FFI_BUILDER_DIGEST
#define FFI_BUILDER_DIGEST 0
#endif
#define SHARED(name) SHARED_JOINED(name, FFI_BUILDER_DIGEST)
#define SHARED_JOINED(name, digest) SHARED_NAME(name, digest)
#define SHARED_NAME(name, digest) __ffi_builder_shared_##name##_##digest

// A function that is called rarely. It preserves the registers of its caller, so that the caller
// need not save them on paths without the call. gcc has no such convention; it compiles this code
// only for tests.
#ifdef __clang__
#define RARE __attribute__((preserve_most, cold))
#else
#define RARE __attribute__((cold))
#endif

// What raises an error, and returns what the wrapper is to return: the core's function `raise`,
// whose address wrappers pass to the code of add-ons.
typedef int32_t Raiser(const char *kind, int64_t kind_size, const char *message,
                       int64_t message_size, const char *backtrace, int64_t backtrace_size);

static inline bool same_bytes(const void *one, const void *other, int64_t size) {
  const unsigned char *left = one, *right = other;
  for (int64_t index = 0; index < size; ++index)
    if (left[index] != right[index])
      return false;
  return true;
}

// Return the DLTensor of a tensor's object.
static inline const DLTensor *dl_tensor(const TVMFFIObject *tensor) {
  return (const DLTensor *)(tensor + 1);
}

// Return the cell after the header of an Array or List. Its elements are TVMFFIAny.
static inline const TVMFFISeqCell *list_cell(const TVMFFIObject *list) {
  return (const TVMFFISeqCell *)(list + 1);
}

#endif
