from __future__ import annotations

import numpy as np
import pytest

from ffi_builder import SpecError, abi
from ffi_builder.spec import DataType, Tensor, parse_dtype
from ffi_builder.spec.dtypes import NAMES


@pytest.mark.parametrize(
    ("name", "code", "bits", "lanes"),
    [
        ("float32", 2, 32, 1),
        ("uint8", 1, 8, 1),
        ("int64", 0, 64, 1),
        ("bool", 6, 8, 1),
        ("bfloat16", 4, 16, 1),
        ("complex64", 5, 64, 1),
        ("float8_e4m3fn", 10, 8, 1),
        ("float4_e2m1fn", 17, 4, 1),
        ("float4_e2m1fnx2", 17, 4, 2),
        ("float32x4", 2, 32, 4),
        ("int8x65535", 0, 8, 65535),
    ],
)
def test_names(name: str, code: int, bits: int, lanes: int):
    dtype = parse_dtype(name)
    assert dtype == (code, bits, lanes)
    assert str(dtype) == name
    assert dtype.total_bits == bits * lanes


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("lanes", ["", "x2"])
def test_every_name_is_what_its_dtype_prints(name: str, lanes: str):
    assert str(parse_dtype(name + lanes)) == name + lanes


def test_every_code_has_a_name():
    assert {parse_dtype(name).code for name in NAMES} == set(abi.DTYPE_CODES.values())


def test_a_code_without_a_name_prints_its_numbers():
    assert str(DataType(99, 3)) == "dtype(code=99, bits=3, lanes=1)"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("float23", "'float23', did you mean 'float32'?"),
        ("Float32", "'Float32', did you mean 'float32'?"),
        ("float", "'float', did you mean 'float"),
        ("f32x", "'f32x'"),
        ("", "''"),
        ("float32x0", "'float32x0'"),
        ("float32x65536", "'float32x65536'"),
        ("float32 ", "'float32 '"),
        (None, "None"),
        (float, "<class 'float'>"),
        (np.float32, "<class 'numpy.float32'>, did you mean 'float32'?"),
        (np.dtype("float32"), "dtype('float32'), did you mean 'float32'?"),
        (["float23"], "'float23', did you mean 'float32'?"),
        ({"float32"}, "{'float32'}"),
    ],
)
def test_unknown(given: object, shown: str):
    with pytest.raises(SpecError) as caught:
        Tensor("A", [1], given, device_type="cpu")  # pyright: ignore[reportArgumentType]
    assert str(caught.value).startswith("Tensor 'A': dtype: expected a DLPack type name such as ")
    assert f"but got {shown}" in str(caught.value)
