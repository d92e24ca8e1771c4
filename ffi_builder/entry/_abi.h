/* Layouts that the extension reads and writes: TVM-FFI's, DLPack's, and CPython's older names.
 *
 * tests/entry compares them with the installed headers.
 */
#ifndef FFI_BUILDER_ENTRY_ABI_H
#define FFI_BUILDER_ENTRY_ABI_H

#include <stddef.h>
#include <stdint.h>

#if PY_VERSION_HEX < 0x030C0000
#include <structmember.h>
#define Py_READONLY READONLY
#define Py_T_PYSSIZET T_PYSSIZET
#define Py_T_OBJECT_EX T_OBJECT_EX
#define Py_T_BOOL T_BOOL
#define Py_T_UINT T_UINT
#endif

/* Type indices of a TVMFFIAny. */
enum {
    ANY_NONE = 0,
    ANY_INT = 1,
    ANY_BOOL = 2,
    ANY_FLOAT = 3,
    ANY_OPAQUE_PTR = 4,
    ANY_DLTENSOR = 7,
    ANY_RAW_STR = 8,        /* v_ptr is a str that ends in NUL */
    ANY_BYTE_ARRAY_PTR = 9, /* v_ptr is a ByteArray */
    ANY_SMALL_STR = 11,
    ANY_SMALL_BYTES = 12,
    ANY_OBJECT = 64, /* and above: v_ptr is a counted object */
    ANY_STR = 65,
    ANY_BYTES = 66,
    ANY_TENSOR = 70,
    ANY_ARRAY = 71,
    ANY_BIG_INT = 78,
};

enum { MOST_SMALL = 7 }; /* bytes of a str or bytes in place */

/* TVMFFIAny */
typedef struct {
    int32_t type_index;
    uint32_t small_str_len; /* 0 for everything but a small string */
    union {
        int64_t v_int64;
        double v_float64;
        void *v_ptr;
        char v_bytes[8];
    };
} Any;

typedef struct {
    const char *data;
    size_t size;
} ByteArray;

/* TVMFFIObject. Nothing counts those that are made here, which last for one call. */
typedef struct {
    uint64_t counts;
    int32_t type_index;
    uint32_t padding;
    void (*deleter)(void *, int);
} Object;

/* A str or bytes. */
typedef struct {
    Object header;
    ByteArray bytes;
} Text;

/* An ffi.Array. */
typedef struct {
    Object header;
    Any *data;
    int64_t size, capacity;
    void (*data_deleter)(void *);
    Any items[];
} Array;

typedef int (*SafeCall)(void *handle, const Any *args, int32_t count, Any *result);

/* TVMFFIFunctionCell, which follows TVMFFIObject in a function object, and has its code. */
enum { FUNCTION_SAFE_CALL = 24 };

/* What follows TVMFFIObject in a BigInt: the number of words, then these, the least first. */
enum { BIG_INT_COUNT = 24, BIG_INT_WORDS = 32 };

enum { DEVICE_CPU = 1, DEVICE_CUDA = 2 };

typedef struct {
    uint8_t code;
    uint8_t bits; /* 0: DLPack has no such type */
    uint16_t lanes;
} DataType;

typedef struct {
    void *data;
    int32_t device_type;
    int32_t device_id;
    int32_t ndim;
    DataType dtype;
    int64_t *shape;
    int64_t *strides; /* in elements */
    uint64_t byte_offset;
} Tensor;

/* An ffi.Tensor, with its shape and strides. */
typedef struct {
    Object header;
    Tensor tensor;
    int64_t dims[];
} TensorObject;

/* DLPackExchangeAPI */
typedef struct {
    uint32_t major;
    uint32_t minor;
    void *older;
    void *allocate;
    void *to_managed;
    void *from_managed;
    int (*borrow)(void *object, Tensor *out);
    int (*current_stream)(int32_t device_type, int32_t device_id, void **out);
} ExchangeApi;

_Static_assert(sizeof(void *) == 8, "only 64-bit machines");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "only little-endian machines");
_Static_assert(sizeof(Any) == 16, "TVMFFIAny");
_Static_assert(sizeof(Tensor) == 48, "DLTensor");
_Static_assert(offsetof(Text, bytes) == 24, "TVMFFIByteArray");
_Static_assert(offsetof(Array, data) == 24 && offsetof(Array, size) == 32, "TVMFFISeqCell");
_Static_assert(offsetof(TensorObject, tensor) == sizeof(Object), "ffi.Tensor");
_Static_assert(sizeof(ExchangeApi) == 56, "DLPackExchangeAPI");

#endif
