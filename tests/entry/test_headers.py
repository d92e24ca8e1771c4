"""The layouts that the extension declares are those of the headers that are installed."""

from __future__ import annotations

import subprocess
import sysconfig
from pathlib import Path

import pytest
import tvm_ffi

from ffi_builder import entry

PAIRS = {
    "Any": (
        "TVMFFIAny",
        ["type_index", "small_str_len", "v_int64", "v_float64", "v_ptr", "v_bytes"],
    ),
    "ByteArray": ("TVMFFIByteArray", ["data", "size"]),
    "DataType": ("DLDataType", ["code", "bits", "lanes"]),
    "Tensor": ("DLTensor", ["data", "ndim", "dtype", "shape", "strides", "byte_offset"]),
}
NUMBERS = {
    "ANY_NONE": "kTVMFFINone",
    "ANY_INT": "kTVMFFIInt",
    "ANY_BOOL": "kTVMFFIBool",
    "ANY_FLOAT": "kTVMFFIFloat",
    "ANY_DLTENSOR": "kTVMFFIDLTensorPtr",
    "ANY_RAW_STR": "kTVMFFIRawStr",
    "ANY_BYTE_ARRAY_PTR": "kTVMFFIByteArrayPtr",
    "ANY_SMALL_STR": "kTVMFFISmallStr",
    "ANY_SMALL_BYTES": "kTVMFFISmallBytes",
    "ANY_OBJECT": "kTVMFFIStaticObjectBegin",
    "ANY_TENSOR": "kTVMFFITensor",
    "ANY_STR": "kTVMFFIStr",
    "ANY_BYTES": "kTVMFFIBytes",
    "ANY_ARRAY": "kTVMFFIArray",
    "sizeof(Object)": "sizeof(TVMFFIObject)",
    "offsetof(Object, type_index)": "offsetof(TVMFFIObject, type_index)",
    "offsetof(Object, deleter)": "offsetof(TVMFFIObject, deleter)",
    "sizeof(Text)": "sizeof(TVMFFIObject) + sizeof(TVMFFIByteArray)",
    "offsetof(Array, data)": "sizeof(TVMFFIObject) + offsetof(TVMFFISeqCell, data)",
    "offsetof(Array, size)": "sizeof(TVMFFIObject) + offsetof(TVMFFISeqCell, size)",
    "FUNCTION_SAFE_CALL": "sizeof(TVMFFIObject) + offsetof(TVMFFIFunctionCell, safe_call)",
    "DEVICE_CPU": "kDLCPU",
    "DEVICE_CUDA": "kDLCUDA",
    "offsetof(Tensor, device_type)": "offsetof(DLTensor, device)",
    "offsetof(ExchangeApi, older)": "offsetof(DLPackExchangeAPI, header.prev_api)",
    "offsetof(ExchangeApi, allocate)": "offsetof(DLPackExchangeAPI, managed_tensor_allocator)",
    "offsetof(ExchangeApi, to_managed)": (
        "offsetof(DLPackExchangeAPI, managed_tensor_from_py_object_no_sync)"
    ),
    "offsetof(ExchangeApi, from_managed)": (
        "offsetof(DLPackExchangeAPI, managed_tensor_to_py_object_no_sync)"
    ),
    "offsetof(ExchangeApi, borrow)": (
        "offsetof(DLPackExchangeAPI, dltensor_from_py_object_no_sync)"
    ),
    "offsetof(ExchangeApi, current_stream)": "offsetof(DLPackExchangeAPI, current_work_stream)",
    "sizeof(ExchangeApi)": "sizeof(DLPackExchangeAPI)",
}


BIG_INT = {"ANY_BIG_INT": "kTVMFFIBigInt"}
"""tvm-ffi has it since 0.1.14."""


def test_layouts(tmp_path: Path) -> None:
    include = Path(tvm_ffi.libinfo.find_include_path())
    dlpack = Path(tvm_ffi.libinfo.find_dlpack_include_path())
    python = Path(sysconfig.get_paths()["include"])
    header = Path(entry.__file__).parent / "_abi.h"
    if not (python / "Python.h").exists() or not header.exists():
        pytest.skip("needs Python's headers, and the extension's own")
    has_big_ints = "kTVMFFIBigInt" in (include / "tvm" / "ffi" / "c_api.h").read_text()
    numbers = NUMBERS | (BIG_INT if has_big_ints else {})
    checks = [f"_Static_assert({ours} == {theirs}, {ours!r});" for ours, theirs in numbers.items()]
    for ours, (theirs, fields) in PAIRS.items():
        checks.append(f"_Static_assert(sizeof({ours}) == sizeof({theirs}), {ours!r});")
        checks += [
            f"_Static_assert(offsetof({ours}, {field}) == offsetof({theirs}, {field}), {field!r});"
            for field in fields
        ]
    source = tmp_path / "probe.c"
    source.write_text(
        "#include <Python.h>\n#include <tvm/ffi/c_api.h>\n"
        f'#include "{header}"\n' + "\n".join(checks).replace("'", '"')
    )
    done = subprocess.run(
        [
            "cc",
            "-std=c11",
            "-fsyntax-only",
            f"-I{include}",
            f"-I{dlpack}",
            f"-I{python}",
            str(source),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
