// Declarations that all support code shares: the names of functions, their calling convention, and
// the layout of tensors and lists in memory. support.c includes this header and then the C files,
// which are one translation unit.
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

// The name of a function that generated code calls. The name ends in a digest of the support code,
// so that several versions of the support code can be in one process.
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

// Return the DLTensor of a tensor's object.
static inline const DLTensor *dl_tensor(const TVMFFIObject *tensor) {
  return (const DLTensor *)(tensor + 1);
}

// Return the cell after the header of an Array or List. Its elements are TVMFFIAny.
static inline const TVMFFISeqCell *list_cell(const TVMFFIObject *list) {
  return (const TVMFFISeqCell *)(list + 1);
}

#endif
