"""Lists of numbers: what a kernel gets of them, and the memory that the numbers are in."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import spec, wrap
from ffi_builder.providers import (
    CallProvider,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    NestedTensorCallProvider,
)
from tests.providers.listing import compiled, packing
from tests.providers.memrefs import check
from tests.support.wrapping import new_module

DTYPES: Final = {
    "int8": [-128, 0, 127],
    "int16": [-32768, True, 32767],
    "int32": [-(2**31), 5, 2**31 - 1],
    "int64": [-(2**63), 5, 2**63 - 1],
    "uint8": [0, 255],
    "uint16": [0, 65535],
    "uint32": [0, 2**32 - 1],
    "uint64": [0, 2**63 - 1, 2**64 - 1],
    "bool": [True, False, 1, 0],
    "float16": [0.1, -2, True, 65504.0, 1e9],
    "float32": [0.1, 2**24 + 1, float("-inf")],
    "float64": [0.1, 2**60 + 1, 1e300],
}
COPY: Final = """
llvm.func @k(%data: !llvm.ptr, %n: i64, %size: i64, %out: !llvm.ptr) {
  %bytes = llvm.mul %n, %size : i64
  "llvm.intr.memcpy"(%out, %data, %bytes) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  llvm.return
}
""" + packing("k", 1, 8)
"""Copies the numbers to ``out``."""
MEMREF: Final = """
func.func @k(%xs: memref<?xi64>, %at: i64) -> i64 attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %index = arith.index_cast %at : i64 to index
  %one = memref.load %xs[%index] : memref<?xi64>
  %size = memref.dim %xs, %c0 : memref<?xi64>
  %length = arith.index_cast %size : index to i64
  %both = arith.addi %one, %length : i64
  return %both : i64
}
"""
LENGTHS: Final = (0, 1, 3, 255, 256, 257, 5000)


@cache
def copying(dtype: str) -> Any:
    text = f"f(xs: List({dtype}), out: Tensor([n], {dtype}))"
    size = np.dtype(dtype).itemsize
    provider = DirectCallProvider("k", args=["xs.data", "xs.length", size, "out"])
    return compiled(COPY, (text, provider))["f"]


def copied(dtype: str, given: Any, length: int) -> Any:
    out = np.zeros(length, dtype)
    copying(dtype)(given, out)
    return out


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_of_each_dtype(dtype: str) -> None:
    values = DTYPES[dtype]
    with np.errstate(over="ignore"):
        expected = np.array([np.dtype(dtype).type(value) for value in values])
    assert copied(dtype, values, len(values)).tobytes() == expected.tobytes()


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("make", [list, tuple, tvm_ffi.Array, tvm_ffi.List, tvm_ffi.Shape])
def test_lists_of_each_length_and_kind(length: int, make: Any) -> None:
    values = list(range(length))
    assert copied("int64", make(values), length).tolist() == values
    assert copied("int16", make(values), length).tolist() == values


@pytest.mark.parametrize(
    "provider", [DynamicParamPackCallProvider("pack"), NestedTensorCallProvider("pack")]
)
def test_a_pack_has_a_struct_of_both(provider: CallProvider) -> None:
    if isinstance(provider, NestedTensorCallProvider):
        provider = DirectCallProvider("k", args=["xs", 8, "out"])
    out = np.zeros(3, "int64")
    text = "f(xs: List(int64), out: Tensor([3], int64))"
    compiled(COPY, (text, provider))["f"]([7, 8, 9], out)
    assert out.tolist() == [7, 8, 9]


def test_a_memref() -> None:
    kernel = wrap(new_module(MEMREF), "k(xs: List(int64, n), at: int64) -> r: int64")["k"]
    assert kernel([5, 40, 7], 1) == 43
    assert kernel(tvm_ffi.Shape((5,)), 0) == 6


@pytest.mark.parametrize("c_interface", [False, True])
def test_what_is_a_memref(c_interface: bool) -> None:
    def error(memref: str, numbers: spec.List) -> str:
        return check(memref, numbers, c_interface=c_interface) or ""

    assert error("memref<?xi64>", spec.List("x", "int64")) == ""
    assert error("memref<4xf16>", spec.List("x", "float16", 4)) == ""
    assert error("memref<?xi32>", spec.List("x", "int64")).endswith(
        "takes 'x' as memref<?xi32> (argument #0), but the spec is List(int64): the kernel's "
        "elements are i32, not int64; write dtype='int32', or change the kernel's element type"
    )
    assert "kernel's rank is 2" in error("memref<?x?xi64>", spec.List("x", "int64"))
    assert "memref<4xi64>" in error("memref<4xi64>", spec.List("x", "int64"))


@pytest.mark.parametrize("kind", [DirectCallProvider, NestedTensorCallProvider])
def test_others_pass_both(kind: Any) -> None:
    kernel = """
llvm.func @k(%data: !llvm.ptr, %n: i64) -> i64 {
  %at = llvm.getelementptr %data[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %second = llvm.load %at : !llvm.ptr -> i64
  %both = llvm.add %second, %n : i64
  llvm.return %both : i64
}
"""
    assert compiled(kernel, ("f(xs: List(int64)) -> r: int64", kind("k")))["f"]([5, 40]) == 42
