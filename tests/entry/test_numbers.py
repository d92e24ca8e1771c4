"""Lists of numbers, on every way from Python to a function; which of them are read in C."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy
import pytest
import tvm_ffi

from ffi_builder import attach, runtime
from ffi_builder.providers import DirectCallProvider
from ffi_builder.spec import List, Optional, Signature, Tensor, dims
from tests.entry.functions import Ways, both_ways, read_in_c
from tests.entry.rules import WAYS
from tests.support.wrapping import new_module

np: Any = numpy
(n,) = dims("n")
_COPY: Final = """
llvm.func @memcpy(!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
llvm.func @copy(%out: !llvm.ptr, %data: !llvm.ptr, %length: i64) {
  %size = llvm.mlir.constant(8 : i64) : i64
  %bytes = llvm.mul %length, %size : i64
  %none = llvm.call @memcpy(%out, %data, %bytes) : (!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
  llvm.return
}
"""
LISTS: Final[dict[str, list[list[Any]]]] = {
    "int64": [[], [1], [-(2**63), 2**63 - 1, 0], [True, False, 3], [*range(100)], [*range(5000)]],
    "float64": [[], [0.5], [1, True, -2.5], [float("inf"), 2**53], [0.25] * 5000],
}


@cache
def copying(dtype: str) -> Ways:
    """A function that copies a list to a tensor."""
    out = Tensor("out", [n], dtype, device_type="cpu")
    numbers = Optional(List("xs", dtype))
    module = new_module(_COPY)
    attach(
        module,
        Signature("f", [numbers, out]),
        DirectCallProvider("copy", args=["out", "xs.data", "xs.length"]),
    )
    return both_ways(runtime.compile(module))


def copied(call: Any, given: Any, dtype: str) -> list[Any]:
    out = np.full(5001, 77, dtype)
    call(given, out)
    length = 0 if given is None else len(given)
    assert (out[length:] == 77).all()
    return out[:length].tolist()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", LISTS)
def test_the_kernel_gets_the_numbers(way: str, dtype: str) -> None:
    call = getattr(copying(dtype), way)
    for numbers in LISTS[dtype]:
        expected = [(int if dtype == "int64" else float)(number) for number in numbers]
        with read_in_c(call):
            assert copied(call, numbers, dtype) == expected
            assert copied(call, tuple(numbers), dtype) == expected
        assert copied(call, tvm_ffi.Array(numbers), dtype) == expected
    assert copied(call, None, dtype) == []
    if dtype == "int64":
        assert copied(call, tvm_ffi.Shape((3, 4)), dtype) == [3, 4]


@pytest.mark.parametrize("way", WAYS)
def test_several_long_lists(way: str) -> None:
    """More than C has room for."""
    names = [f"l{i}" for i in range(7)]
    params = [List(name, "int64") for name in names]
    out = Tensor("out", [n], "int64", device_type="cpu")
    module = new_module(_COPY)
    args = ["out", "l6.data", "l6.length"]
    attach(module, Signature("f", [*params, out]), DirectCallProvider("copy", args=args))
    call = getattr(both_ways(runtime.compile(module)), way)
    for size in (1, 40, 3000):
        result = np.zeros(size, "int64")
        call(*([i] * size for i in range(7)), result)
        assert (result == 6).all()
