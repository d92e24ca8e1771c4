// What all support code shares: the names of functions, how they are called, and how a tensor, a
// list and other objects lie in memory. support.c includes the C files behind it, as one
// translation unit.
//
// An *object* of a tensor is the address 24 bytes before its DLTensor, where a Tensor has its
// header. Of a DLTensor* nothing reads these 24 bytes.

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

// The name of a function that generated code calls. It ends in a digest of the support code, so
// that versions of it live together in a process.
#ifndef FFI_BUILDER_DIGEST
#define FFI_BUILDER_DIGEST 0
#endif
#define SHARED(name) SHARED_JOINED(name, FFI_BUILDER_DIGEST)
#define SHARED_JOINED(name, digest) SHARED_NAME(name, digest)
#define SHARED_NAME(name, digest) __ffi_builder_shared_##name##_##digest

// A function that is called rarely. It keeps its caller's registers, so that a call that is not
// made costs the caller nothing. gcc, which compiles this code for tests alone, has no such
// convention.
#ifdef __clang__
#define RARE __attribute__((preserve_most, cold))
#else
#define RARE __attribute__((cold))
#endif

// The DLTensor of an object of a tensor.
static inline const DLTensor *dl_tensor(const TVMFFIObject *tensor) {
  return (const DLTensor *)(tensor + 1);
}

// What lies behind the header of an Array or List: their elements, each a TVMFFIAny.
static inline const TVMFFISeqCell *list_cell(const TVMFFIObject *list) {
  return (const TVMFFISeqCell *)(list + 1);
}

#endif
