from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import tvm_ffi

from ffi_builder import SpecError, abi
from ffi_builder.spec import Choice, Signature, Tensor, Var, dims
from ffi_builder.spec.dtypes import NAMES, DataType, parse_dtype


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
        (float, "<class 'float'>, did you mean 'float32'?"),
        (int, "<class 'int'>, did you mean 'int32'?"),
        (bool, "<class 'bool'>, did you mean 'bool'?"),
        ("fp32", "'fp32', did you mean 'float32'?"),
        ("FLOAT32", "'FLOAT32', did you mean 'float32'?"),
        ("i64", "'i64', did you mean 'int64'?"),
        ("u8", "'u8', did you mean 'uint8'?"),
        ("bf16", "'bf16', did you mean 'bfloat16'?"),
        ("i1", "'i1', did you mean 'bool'?"),
        ("fp8e4nv", "'fp8e4nv', did you mean 'float8_e4m3fn'?"),
        ("fp8", "'fp8', did you mean 'float8_e4m3fn'?"),
        ("e5m2", "'e5m2', did you mean 'float8_e5m2'?"),
        ("size_t", "'size_t', did you mean 'uint64'?"),
        ("torch.half", "'torch.half', did you mean 'float16'?"),
        (np.dtype(">f4"), "dtype('>f4')"),
        (np.dtype("U4"), "dtype('<U4')"),
        (np.floating, "<class 'numpy.floating'>"),
        (np.float32(1), "np.float32(1.0)"),
        (np.zeros(2, "float32"), "array([0., 0.], dtype=float32)"),
        (["float23"], "'float23', did you mean 'float32'?"),
        ({"float32"}, "{'float32'}"),
    ],
)
def test_unknown(given: object, shown: str):
    with pytest.raises(SpecError) as caught:
        Tensor("A", [1], given, device_type="cpu")  # pyright: ignore[reportArgumentType]
    assert str(caught.value).startswith("Tensor 'A': dtype: expected a DLPack type name such as ")
    assert f"but got {shown}" in str(caught.value)


class dtype:  # as torch.dtype is called
    """Prints like one of PyTorch's; tests/frontends/test_dtypes.py has the real ones."""

    def __init__(self, words: str) -> None:
        self.words = words

    def __repr__(self) -> str:
        return self.words


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (np.float32, "float32"),
        (np.half, "float16"),
        (np.longlong, "int64"),
        (np.bool_, "bool"),
        (np.complex64, "complex64"),
        (np.dtype("uint8"), "uint8"),
        (np.dtype("=f8"), "float64"),
        (ml_dtypes.bfloat16, "bfloat16"),
        (ml_dtypes.int4, "int4"),
        (np.dtype(ml_dtypes.float8_e4m3fn), "float8_e4m3fn"),
        (tvm_ffi.dtype("float32"), "float32"),
        (dtype("torch.bfloat16"), "bfloat16"),
        (dtype("torch.float4_e2m1fn_x2"), "float4_e2m1fnx2"),
    ],
    ids=repr,
)
def test_a_dtype_of_a_framework_is_kept_as_its_name(given: object, name: str):
    tensor = Tensor("A", [4, 4], given, device_type="cpu")
    assert (tensor.dtype, type(tensor.dtype)) == (name, str)
    assert parse_dtype(given) == parse_dtype(name)
    assert tensor == Tensor("A", [4, 4], name, device_type="cpu")


def test_a_dtype_of_a_framework_wherever_there_is_one():
    several = Tensor("A", [4], [np.float32, np.dtype("int8")], device_type="cpu")
    assert several.dtypes == ("float32", "int8")
    packed = ml_dtypes.float4_e2m1fn
    stored = Tensor("A", [4], packed, storage_dtype=np.uint8, device_type="cpu")
    assert (stored.dtype, stored.storage_dtype) == ("float4_e2m1fn", "uint8")
    assert Var("n", np.int32).dtype == "int32"
    assert dims("n k", np.int32)[1] == Var("k", "int32")
    assert Choice("c", {"a": 1}, np.int8).dtype == "int8"
    result = Tensor("y", [4], np.float32, device_type="cpu")
    assert str(Signature("f", [several], result)) == (
        "f(A: Tensor([4], float32 | int8, device_type=cpu)) "
        "-> y: Tensor([4], float32, device_type=cpu)"
    )


def test_one_dtype_given_twice_in_two_ways():
    with pytest.raises(SpecError, match="expected one dtype or several different ones"):
        Tensor("A", [4], ["float32", np.float32], device_type="cpu")


def test_a_var_has_fewer_dtypes():
    with pytest.raises(
        SpecError, match=r"expected one of int8, .* but got <class 'numpy.complex64'"
    ):
        Var("n", np.complex64)


def test_a_class_whose_constructor_raises_is_none():
    class Odd:
        dtype = 7

        def __init__(self, _: object) -> None:
            raise KeyError("odd")

    with pytest.raises(SpecError, match="Odd"):
        Tensor("A", [4], Odd, device_type="cpu")
