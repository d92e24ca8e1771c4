"""The numbers of the TVM-FFI C ABI: type indices, sizes and offsets, dtype and device codes.

They come from ``tvm/ffi/c_api.h`` and ``dlpack/dlpack.h`` of apache-tvm-ffi 0.1.15. ``tests/abi``
compares each of them with a C program compiled from the installed headers. Sizes and offsets are in
bytes, on a 64-bit little-endian machine.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class TypeIndex(IntEnum):
    """``TVMFFITypeIndex``: the type of a ``TVMFFIAny`` or an object."""

    NONE = 0
    INT = 1
    BOOL = 2
    FLOAT = 3
    OPAQUE_PTR = 4
    DATA_TYPE = 5
    DEVICE = 6
    DL_TENSOR_PTR = 7
    RAW_STR = 8
    BYTE_ARRAY_PTR = 9
    OBJECT_RVALUE_REF = 10
    SMALL_STR = 11
    SMALL_BYTES = 12
    UNCHANGED = 13
    OBJECT = 64
    STR = 65
    BYTES = 66
    ERROR = 67
    FUNCTION = 68
    SHAPE = 69
    TENSOR = 70
    ARRAY = 71
    MAP = 72
    MODULE = 73
    OPAQUE_PY_OBJECT = 74
    LIST = 75
    DICT = 76
    VISIT_INTERRUPT = 77
    BIG_INT = 78


FIRST_OBJECT: Final = 64
"""The least type index of objects, whose payload is a ``TVMFFIObject*``."""
FIRST_DYNAMIC: Final = 128
"""The least type index that is assigned at run time."""

TYPE_KEYS: Final[dict[int, str]] = {
    **{
        each.value: f"ffi.{each.name.title().replace('_', '')}"
        for each in TypeIndex
        if each >= TypeIndex.OBJECT
    },
    TypeIndex.STR: "ffi.String",
}
"""Type keys of the object types with a static index. Each derives directly from ``ffi.Object``."""

STATIC_TYPES: Final[dict[str, int]] = {key: index for index, key in TYPE_KEYS.items()}
"""Type indices of the static objects, by their type keys."""

# TVMFFIAny: one argument or result.
ANY_SIZE: Final = 16
ANY_TYPE_INDEX: Final = 0
ANY_PAYLOAD: Final = 8

# TVMFFIObject: the header of every object. Its cell (of a Shape, an Array, ...) follows.
OBJECT_SIZE: Final = 24
OBJECT_TYPE_INDEX: Final = 8

# Shape, Str, Bytes, Array and List cells, as offsets from the object.
CELL_DATA: Final = OBJECT_SIZE
CELL_SIZE: Final = OBJECT_SIZE + 8

# Small strings and bytes: the TVMFFIAny holds their length, and the bytes as its payload.
ANY_SMALL_LENGTH: Final = 4
SMALL_CAPACITY: Final = 7

# TVMFFITypeInfo: the fields that wrappers read.
TYPE_INFO_DEPTH: Final = 4
TYPE_INFO_KEY: Final = 8
"""A ``TVMFFIByteArray``."""
TYPE_INFO_ANCESTORS: Final = 24
"""One ``TVMFFITypeInfo*`` for each depth, from the root."""

# BigInt: a word count, then the words (int64, least significant first), as offsets from the object.
BIG_INT_COUNT: Final = OBJECT_SIZE
BIG_INT_WORDS: Final = OBJECT_SIZE + 8

# DLTensor. A Tensor object is an object header, then this.
DLTENSOR_SIZE: Final = 48
DLTENSOR_DATA: Final = 0
DLTENSOR_DEVICE_TYPE: Final = 8
DLTENSOR_DEVICE_ID: Final = 12
DLTENSOR_NDIM: Final = 16
DLTENSOR_DTYPE: Final = 20
DLTENSOR_DTYPE_CODE: Final = 20
DLTENSOR_DTYPE_BITS: Final = 21
DLTENSOR_DTYPE_LANES: Final = 22
DLTENSOR_SHAPE: Final = 24
DLTENSOR_STRIDES: Final = 32
DLTENSOR_BYTE_OFFSET: Final = 40

# TVMFFIByteArray: a pointer, then a size.
BYTE_ARRAY_SIZE: Final = 16
BYTE_ARRAY_DATA: Final = 0
BYTE_ARRAY_LENGTH: Final = 8

DTYPE_CODES: Final[dict[str, int]] = {
    "int": 0,
    "uint": 1,
    "float": 2,
    "handle": 3,
    "bfloat": 4,
    "complex": 5,
    "bool": 6,
    "float8_e3m4": 7,
    "float8_e4m3": 8,
    "float8_e4m3b11fnuz": 9,
    "float8_e4m3fn": 10,
    "float8_e4m3fnuz": 11,
    "float8_e5m2": 12,
    "float8_e5m2fnuz": 13,
    "float8_e8m0fnu": 14,
    "float6_e2m3fn": 15,
    "float6_e3m2fn": 16,
    "float4_e2m1fn": 17,
}
"""``DLDataTypeCode`` by name. From float8 on, the name implies the width."""

FIXED_BITS: Final[dict[str, int]] = {
    name: {"float8": 8, "float6": 6, "float4": 4}[name.split("_")[0]]
    for name in DTYPE_CODES
    if "_" in name
}
"""Bits of the dtype codes whose name implies the width."""

DEVICE_TYPES: Final[dict[str, int]] = {
    "cpu": 1,
    "cuda": 2,
    "cuda_host": 3,
    "opencl": 4,
    "vulkan": 7,
    "metal": 8,
    "vpi": 9,
    "rocm": 10,
    "rocm_host": 11,
    "ext_dev": 12,
    "cuda_managed": 13,
    "oneapi": 14,
    "webgpu": 15,
    "hexagon": 16,
    "maia": 17,
    "trn": 18,
}
"""``DLDeviceType`` by name."""

UNIFIED_DEVICES: Final = (
    *("cpu", "cuda", "cuda_host", "cuda_managed", "rocm", "rocm_host", "oneapi"),
)
"""Device types that share one address space, so that equal addresses are the same memory.

CUDA, HIP and SYCL call this unified addressing. On the other types ``data`` may be a handle, or an
address that has another meaning on another device.
"""

PREFIX: Final = "__tvm_ffi_"
"""The prefix of exported symbols, which ``tvm_ffi.Module`` adds to the names of functions."""

LIBRARY_CONTEXT: Final = f"{PREFIX}_library_ctx"
"""The variable in which tvm-ffi stores the module of a library when it loads it."""

RESERVED_NAMES: Final[dict[str, str]] = {
    "_metadata_": "what describes a function to tvm-ffi's tools",
    "_doc_": "what gives tvm-ffi's tools the documentation of a function",
    "_library_": "what tvm-ffi itself reads and writes in a library that it loads",
}
"""Prefixes of names that ``tvm/ffi/extra/module.h`` reserves, and their use."""
