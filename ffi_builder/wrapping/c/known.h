/* What a prototype may name without a header: typedefs as glibc has them, and structs of DLPack. */
#define FFI_BUILDER_INTEGERS \
  typedef signed char int8_t, int_least8_t, int_fast8_t; \
  typedef short int16_t, int_least16_t; \
  typedef int int32_t, int_least32_t; \
  typedef long int64_t, int_least64_t, int_fast16_t, int_fast32_t, int_fast64_t; \
  typedef unsigned char uint8_t, uint_least8_t, uint_fast8_t; \
  typedef unsigned short uint16_t, uint_least16_t; \
  typedef unsigned uint32_t, uint_least32_t; \
  typedef unsigned long uint64_t, uint_least64_t, uint_fast16_t, uint_fast32_t, uint_fast64_t; \
  typedef unsigned long size_t, uintptr_t; \
  typedef long ssize_t, ptrdiff_t, intptr_t, Py_ssize_t; \
  typedef __INTMAX_TYPE__ intmax_t; \
  typedef __UINTMAX_TYPE__ uintmax_t;

#ifdef __cplusplus
extern "C" { /* the prototype, too */
namespace std { FFI_BUILDER_INTEGERS }
#define restrict __restrict
#define _Bool bool
#else
#if __STDC_VERSION__ <= 201710L
typedef _Bool bool;
#endif
typedef __WCHAR_TYPE__ wchar_t;
#endif
FFI_BUILDER_INTEGERS
typedef struct { void *data; } DLTensor;
typedef struct { unsigned char code, bits; unsigned short lanes; } DLDataType;
typedef struct { int device_type, device_id; } DLDevice;
