"""Every number of :mod:`ffi_builder.abi` against the headers of the installed apache-tvm-ffi."""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Iterable
from typing import Any

import pytest
import tvm_ffi
from tvm_ffi import libinfo

from ffi_builder import abi
from tests.abi.probe import enumerators, evaluate, header
from tests.support.older_tvm_ffi import since

OBJECT = "sizeof(TVMFFIObject)"

CONSTANTS = {
    "FIRST_OBJECT": "kTVMFFIStaticObjectBegin",
    "FIRST_DYNAMIC": "kTVMFFIDynObjectBegin",
    "ANY_SIZE": "sizeof(TVMFFIAny)",
    "ANY_TYPE_INDEX": "offsetof(TVMFFIAny, type_index)",
    "ANY_PAYLOAD": "offsetof(TVMFFIAny, v_int64)",
    "OBJECT_SIZE": OBJECT,
    "OBJECT_TYPE_INDEX": "offsetof(TVMFFIObject, type_index)",
    "ANY_SMALL_LENGTH": "offsetof(TVMFFIAny, small_str_len)",
    "SMALL_CAPACITY": "sizeof(((TVMFFIAny*)0)->v_bytes) - 1",
    "TYPE_INFO_DEPTH": "offsetof(TVMFFITypeInfo, type_depth)",
    "TYPE_INFO_KEY": "offsetof(TVMFFITypeInfo, type_key)",
    "TYPE_INFO_ANCESTORS": "offsetof(TVMFFITypeInfo, type_ancestors)",
    "CELL_DATA": f"{OBJECT} + offsetof(TVMFFIShapeCell, data)",
    "CELL_SIZE": f"{OBJECT} + offsetof(TVMFFIShapeCell, size)",
    "BIG_INT_COUNT": OBJECT,
    "BIG_INT_WORDS": f"{OBJECT} + sizeof(size_t)",
    "DLTENSOR_SIZE": "sizeof(DLTensor)",
    "DLTENSOR_DATA": "offsetof(DLTensor, data)",
    "DLTENSOR_DEVICE_TYPE": "offsetof(DLTensor, device.device_type)",
    "DLTENSOR_DEVICE_ID": "offsetof(DLTensor, device.device_id)",
    "DLTENSOR_NDIM": "offsetof(DLTensor, ndim)",
    "DLTENSOR_DTYPE": "offsetof(DLTensor, dtype)",
    "DLTENSOR_DTYPE_CODE": "offsetof(DLTensor, dtype.code)",
    "DLTENSOR_DTYPE_BITS": "offsetof(DLTensor, dtype.bits)",
    "DLTENSOR_DTYPE_LANES": "offsetof(DLTensor, dtype.lanes)",
    "DLTENSOR_SHAPE": "offsetof(DLTensor, shape)",
    "DLTENSOR_STRIDES": "offsetof(DLTensor, strides)",
    "DLTENSOR_BYTE_OFFSET": "offsetof(DLTensor, byte_offset)",
    "BYTE_ARRAY_SIZE": "sizeof(TVMFFIByteArray)",
    "BYTE_ARRAY_DATA": "offsetof(TVMFFIByteArray, data)",
    "BYTE_ARRAY_LENGTH": "offsetof(TVMFFIByteArray, size)",
}
"""The C expression that each int of abi.py stands for."""

WORDS = {
    **{
        f"{cell}.{field}": (f"{OBJECT} + offsetof({cell}, {field})", number)
        for cell in ("TVMFFISeqCell", "TVMFFIByteArray")
        for field, number in (("data", abi.CELL_DATA), ("size", abi.CELL_SIZE))
    },
    "sizeof type_index": ("sizeof(((TVMFFIAny*)0)->type_index)", 4),
    "sizeof padding": ("sizeof(((TVMFFIAny*)0)->zero_padding)", 4),
    "sizeof payload": ("sizeof(((TVMFFIAny*)0)->v_int64)", 8),
    "sizeof small_str_len": ("sizeof(((TVMFFIAny*)0)->small_str_len)", 4),
    "small bytes": ("offsetof(TVMFFIAny, v_bytes)", abi.ANY_PAYLOAD),
    "dtype as payload": ("offsetof(TVMFFIAny, v_dtype)", abi.ANY_PAYLOAD),
    "device as payload": ("offsetof(TVMFFIAny, v_device)", abi.ANY_PAYLOAD),
    "sizeof dtype": ("sizeof(DLDataType)", 4),
    "sizeof device": ("sizeof(DLDevice)", 8),
    "id behind the type": ("offsetof(DLDevice, device_id)", 4),
    "sizeof type_depth": ("sizeof(((TVMFFITypeInfo*)0)->type_depth)", 4),
    "sizeof type_key": ("sizeof(((TVMFFITypeInfo*)0)->type_key)", abi.BYTE_ARRAY_SIZE),
    "sizeof ancestor": ("sizeof(*((TVMFFITypeInfo*)0)->type_ancestors)", 8),
    "sizeof device_type": ("sizeof(((DLTensor*)0)->device.device_type)", 4),
    "sizeof device_id": ("sizeof(((DLTensor*)0)->device.device_id)", 4),
    "sizeof ndim": ("sizeof(((DLTensor*)0)->ndim)", 4),
    "sizeof code": ("sizeof(((DLTensor*)0)->dtype.code)", 1),
    "sizeof bits": ("sizeof(((DLTensor*)0)->dtype.bits)", 1),
    "sizeof lanes": ("sizeof(((DLTensor*)0)->dtype.lanes)", 2),
    "sizeof shape": ("sizeof(*((DLTensor*)0)->shape)", 8),
    "sizeof strides": ("sizeof(*((DLTensor*)0)->strides)", 8),
    "sizeof byte_offset": ("sizeof(((DLTensor*)0)->byte_offset)", 8),
    "sizeof pointer": ("sizeof(void*)", 8),
}
"""Layouts without constants: Shapes and Arrays alike, and the width of each read."""

NOT_TYPES = {
    "kTVMFFIAny",
    "kTVMFFIStaticObjectBegin",
    "kTVMFFIStaticObjectEnd",
    "kTVMFFIDynObjectBegin",
}
"""Enumerators of TVMFFITypeIndex that no value has."""

LATER: dict[int, tuple[int, ...]] = {
    abi.TypeIndex.UNCHANGED: (0, 1, 14),
    abi.TypeIndex.VISIT_INTERRUPT: (0, 1, 13),
    abi.TypeIndex.BIG_INT: (0, 1, 14),
}
"""The first version of apache-tvm-ffi with a type, of those that the oldest one lacks."""

TYPES = [name for name in enumerators("tvm/ffi/c_api.h", "kTVMFFINone") if name not in NOT_TYPES]
DEVICES = enumerators("dlpack/dlpack.h", "kDLCPU")
DTYPES = enumerators("dlpack/dlpack.h", "kDLInt")


def plain(name: str) -> str:
    """``kDLCUDAHost`` and ``cuda_host`` as ``cudahost``."""
    name = name.removeprefix("kTVMFFI").removeprefix("kDL").replace("_", "").lower()
    return "handle" if name == "opaquehandle" else name


def read(layout: str, address: int) -> tuple[int, ...]:
    return struct.unpack(layout, ctypes.string_at(address, struct.calcsize(layout)))


def type_info(index: int) -> int:
    """The ``TVMFFITypeInfo*`` of a registered type; of any other the process ends."""
    look_up = ctypes.CDLL(libinfo.find_libtvm_ffi()).TVMFFIGetTypeInfo
    look_up.argtypes, look_up.restype = [ctypes.c_int32], ctypes.c_void_p
    found: int = look_up(index)
    return found


def type_key(info: int) -> str:
    data, length = read("<2Q", info + abi.TYPE_INFO_KEY)
    return ctypes.string_at(data, length).decode()


@pytest.fixture(scope="module")
def probed() -> dict[str, int]:
    """Every C expression of this file with its value; one compilation for all."""
    words = {name.replace(" ", "_"): code for name, (code, _) in WORDS.items()}
    enums = {name: name for name in (*TYPES, *DEVICES, *DTYPES)}
    return evaluate({**CONSTANTS, **words, **enums})


def ints_of_abi() -> list[str]:
    return [name for name, value in vars(abi).items() if type(value) is int]


@pytest.mark.parametrize("name", ints_of_abi())
def test_constant(name: str, probed: dict[str, int]) -> None:
    assert name in CONSTANTS, f"say what abi.{name} stands for in CONSTANTS"
    assert getattr(abi, name) == probed[name]


def test_every_other_name_of_abi_is_covered_here() -> None:
    covered = {"TypeIndex", "TYPE_KEYS", "DTYPE_CODES", "FIXED_BITS", "DEVICE_TYPES", "PREFIX"}
    covered |= {"RESERVED_NAMES", "STATIC_TYPES", "LIBRARY_CONTEXT", "UNIFIED_DEVICES"}
    assert set(abi.UNIFIED_DEVICES) < set(abi.DEVICE_TYPES)
    imported = {"annotations", "IntEnum", "Final"}
    others = {name for name in vars(abi) if not name.startswith("__")} - set(ints_of_abi())
    assert others == covered | imported
    assert set(CONSTANTS) == set(ints_of_abi())


@pytest.mark.parametrize("name", WORDS)
def test_layout(name: str, probed: dict[str, int]) -> None:
    assert WORDS[name][1] == probed[name.replace(" ", "_")]


def values_by_name(names: list[str], probed: dict[str, int]) -> dict[str, int]:
    return {plain(name): probed[name] for name in names}


def types(indices: Iterable[int]) -> list[Any]:
    marks = {index: since(*first) for index, first in LATER.items()}
    return [
        pytest.param(abi.TypeIndex(index), marks=[marks[index]] if index in marks else [])
        for index in indices
    ]


@pytest.mark.parametrize("index", types(abi.TypeIndex), ids=lambda index: index.name)
def test_type_index(index: abi.TypeIndex, probed: dict[str, int]) -> None:
    assert values_by_name(TYPES, probed)[plain(index.name)] == index


def test_every_object_type_has_a_key() -> None:
    static = [index for index in abi.TypeIndex if index >= abi.FIRST_OBJECT]
    assert list(abi.TYPE_KEYS) == static
    assert {abi.STATIC_TYPES[key]: key for key in abi.STATIC_TYPES} == abi.TYPE_KEYS


@pytest.mark.parametrize("index", types(abi.TYPE_KEYS), ids=lambda index: index.name)
def test_type_key_and_ancestors(index: int) -> None:
    info = type_info(index)
    assert type_key(info) == abi.TYPE_KEYS[index]
    (depth,) = read("<i", info + abi.TYPE_INFO_DEPTH)
    (first,) = read("<Q", info + abi.TYPE_INFO_ANCESTORS)
    ancestors = read(f"<{depth}Q", first) if depth else ()
    expected = [] if index == abi.FIRST_OBJECT else ["ffi.Object"]
    assert [type_key(ancestor) for ancestor in ancestors] == expected


@pytest.mark.parametrize("name", abi.DEVICE_TYPES)
def test_device_type(name: str, probed: dict[str, int]) -> None:
    assert values_by_name(DEVICES, probed)[plain(name)] == abi.DEVICE_TYPES[name]


@pytest.mark.parametrize("name", abi.DTYPE_CODES)
def test_dtype_code(name: str, probed: dict[str, int]) -> None:
    assert values_by_name(DTYPES, probed)[plain(name)] == abi.DTYPE_CODES[name]


@pytest.mark.parametrize("name", abi.FIXED_BITS)
def test_bits_that_the_name_tells(name: str) -> None:
    assert tvm_ffi.dtype(name).bits == abi.FIXED_BITS[name]


@pytest.mark.parametrize("name", [*TYPES, *DEVICES, *DTYPES])
def test_abi_has_every_enumerator(name: str) -> None:
    known = (*(index.name for index in abi.TypeIndex), *abi.DEVICE_TYPES, *abi.DTYPE_CODES)
    assert plain(name) in map(plain, known)


def test_symbol_prefix() -> None:
    found = re.search(r'tvm_ffi_symbol_prefix = "(\w+)"', header("tvm/ffi/extra/module.h"))
    assert found is not None
    assert found[1] == abi.PREFIX


def test_library_context() -> None:
    found = re.search(r'tvm_ffi_library_ctx = "(\w+)"', header("tvm/ffi/extra/module.h"))
    assert found is not None
    assert found[1] == abi.LIBRARY_CONTEXT


def test_reserved_names_cover_what_the_header_keeps() -> None:
    names = re.findall(r'tvm_ffi_\w+ = "__tvm_ffi_(\w+)"', header("tvm/ffi/extra/module.h"))
    names.remove("main")  # a function like any other, called where none is named
    assert names
    for name in names:
        assert name.startswith(tuple(abi.RESERVED_NAMES))
