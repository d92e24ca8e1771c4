"""Lists of lists of numbers: what a kernel gets of them, and the memory that the numbers are in."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import BuildError, wrap
from ffi_builder.providers import (
    CallProvider,
    CheckStatus,
    CudaLaunchCallProvider,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
    NestedTensorCallProvider,
    PackedCallProvider,
)
from ffi_builder.spec import Signature
from tests.providers.test_lists import COUNTED, compiled, counted
from tests.runtime.samples import c_object, needs_cc
from tests.support.wrapping import attached

pytestmark = needs_cc

FLATTEN: Final = """
#include <stdint.h>
#include <string.h>
typedef TYPE number;
int64_t flatten(const number *const *rows, const int64_t *lengths, int64_t n, number *out) {
  int64_t sum = 0;
  if (!rows) return -1;
  for (int64_t i = 0; i < n; sum += lengths[i++])
    memcpy(out + sum, rows[i], lengths[i] * sizeof(number));
  return sum;
}
"""
TYPES: Final = {
    "int64": "int64_t",
    "int32": "int32_t",
    "uint8": "uint8_t",
    "bool": "_Bool",
    "float32": "float",
    "float64": "double",
}
PROTOTYPE: Final = (
    "int64_t flatten(const TYPE *const *rows, const int64_t *lengths, int64_t n, TYPE *out)"
)


def flatten(tmp_path: Path, dtype: str, rows: str = "", **options: Any) -> Any:
    rows = rows or f"List(List({dtype}), n)"
    type_ = TYPES[dtype]
    data = c_object(tmp_path, FLATTEN.replace("TYPE", type_))
    signature = f"flatten(rows: {rows}, out: Tensor([m], {dtype})) -> size: int64"
    options = {"args": ["rows", "out"], **options}
    prototype = PROTOTYPE.replace("TYPE", type_)
    return wrap(data, signature, device="cpu", prototype=prototype, **options)["flatten"]


@pytest.mark.parametrize("dtype", TYPES)
def test_rows_of_each_dtype(dtype: str, tmp_path: Path) -> None:
    function, out = flatten(tmp_path, dtype), np.zeros(9000, dtype)
    every: list[list[list[Any]]] = [
        [],
        [[]],
        [[1], [], [0, True]],
        [[1, 0] * 50, [1] * 300],
        [[1, 0, 1]] * 2000,
    ]
    for rows in every:
        given = np.array([each for row in rows for each in row], dtype)
        for made in (rows, tuple(map(tuple, rows)), tvm_ffi.Array(rows), tvm_ffi.List(rows)):
            assert function(made, out) == len(given)
            assert out[: len(given)].tolist() == given.tolist()


def test_shapes_are_lists_of_ints(tmp_path: Path) -> None:
    function, out = flatten(tmp_path, "int32"), np.zeros(9, "int32")
    assert function([tvm_ffi.Shape((4, 5)), [6], tvm_ffi.Shape(())], out) == 3
    assert out[:3].tolist() == [4, 5, 6]
    with pytest.raises(
        ValueError, match=r"Mismatched rows\[1\]\[1\] .* fits int32 .* got 85899345"
    ):
        function([[1], tvm_ffi.Shape((1, 2**33))], out)


@pytest.mark.parametrize(
    "options",
    [
        {"args": ["rows.pointers", "rows.lengths", "rows.length", "out"]},
        {"args": {"lengths": "rows.lengths"}},
    ],
)
def test_ways_to_pass_it(options: Any, tmp_path: Path) -> None:
    function, out = flatten(tmp_path, "float64", **options), np.zeros(9)
    assert function([[0.5], [2, True]], out) == 3
    assert out[:3].tolist() == [0.5, 2, 1]


def test_an_absent_list_is_null(tmp_path: Path) -> None:
    function = flatten(tmp_path, "int64", "Optional(List(List(int64, 2)))")
    out = np.zeros(9, "int64")
    assert [function(None, out), function([], out), function([[1, 2]], out)] == [-1, 0, 2]
    with pytest.raises(ValueError, match=r"length of rows\[1\] .*, expected 2 but got 1"):
        function([[1, 2], [3]], out)


@pytest.mark.parametrize(
    ("part", "type_", "words"),
    [
        ("rows.pointers", "const int32_t **", "to int32, but the elements of 'rows' are int64"),
        ("rows.pointers", "const int64_t *", "'rows.pointers' is passed as a pointer to a pointer"),
        ("rows.lengths", "const int32_t *", "'rows.lengths' is passed as a pointer to int64"),
        ("rows.length", "float", "'rows.length' is passed as the number of elements"),
        ("rows.data", "const int64_t *", "'rows.data'"),
    ],
)
def test_what_does_not_fit(part: str, type_: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=words):
        wrap(
            c_object(tmp_path, "void k(void) { }"),
            "k(rows: List(List(int64)))",
            prototype=f"void k({type_} x)",
            args=[part],
        )


PASSED: Final = """
llvm.func @last(%rows: !llvm.ptr, %lengths: !llvm.ptr, %n: i64, %out: !llvm.ptr) {
  %one = llvm.mlir.constant(1 : i64) : i64
  %end = llvm.sub %n, %one : i64
  %at = llvm.getelementptr %rows[%end] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
  %row = llvm.load %at : !llvm.ptr -> !llvm.ptr
  %of = llvm.getelementptr %lengths[%end] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %length = llvm.load %of : !llvm.ptr -> i64
  %size = llvm.mlir.constant(8 : i64) : i64
  %bytes = llvm.mul %length, %size : i64
  "llvm.intr.memcpy"(%out, %row, %bytes) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  llvm.return
}
llvm.func @pack(%params: !llvm.ptr) {
  %list = llvm.load %params : !llvm.ptr -> !llvm.ptr
  %at = llvm.getelementptr %params[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %tensor = llvm.load %at : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %tensor : !llvm.ptr -> !llvm.ptr
  %all = llvm.load %list : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64)>
  %p = llvm.extractvalue %all[0] : !llvm.struct<(ptr, ptr, i64)>
  %l = llvm.extractvalue %all[1] : !llvm.struct<(ptr, ptr, i64)>
  %n = llvm.extractvalue %all[2] : !llvm.struct<(ptr, ptr, i64)>
  llvm.call @last(%p, %l, %n, %out) : (!llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()
  llvm.return
}
"""
"""Copies the last row."""


@pytest.mark.parametrize(
    "provider",
    [
        DynamicParamPackCallProvider("pack"),
        NestedTensorCallProvider("last", args=["rows", "out.data"]),
        MemRefCallProvider("last", args=["rows", "out.data"]),
    ],
)
def test_other_conventions(provider: CallProvider) -> None:
    out = np.zeros(3, "int64")
    text = "f(rows: List(List(int64)), out: Tensor([3], int64))"
    compiled(PASSED, (text, provider))["f"]([[1, 2], [], [7, 8, 9]], out)
    assert out.tolist() == [7, 8, 9]


def test_a_cuda_kernel_cannot_read_the_rows() -> None:
    ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) { ret; }"
    text = "f(rows: List(List(int64)), x: Tensor([4], int8))"
    params = Signature.parse(text, device="cuda").params
    for args in (["rows"], ["rows.pointers"], ["rows.lengths"]):
        provider = CudaLaunchCallProvider(ptx, "k", grid=1, block=1, args=args)
        with pytest.raises(BuildError, match=r"' is made of .* in host memory"):
            attached(params, provider)


def test_a_packed_function_gets_the_list_itself() -> None:
    received: list[Any] = []
    tvm_ffi.register_global_func("test.rows.keep", received.append, override=True)
    provider = PackedCallProvider(global_function="test.rows.keep", args=["rows"])
    compiled("", ("f(rows: List(List(int64)))", provider))["f"]([[1, 2], []])
    assert [[list(row) for row in each] for each in received] == [[[1, 2], []]]


# ---- memory

BOTH: Final = "f(xs: List(List(int64)), ys: List(List(bool)), status: int32)"
MANY: Final = [[1] * 30] * 10


@pytest.fixture(scope="module")
def functions() -> Any:
    counts = "counts(out: Tensor([2], int64))", DirectCallProvider("counts")
    failing = CheckStatus(DirectCallProvider("nothing", args=["status"]))
    return compiled(COUNTED, (BOTH, failing), counts)


def test_short_lists_are_on_the_stack(functions: Any) -> None:
    assert counted(functions, [[1] * 23] * 10, [[1] * 184] * 10, 0) == ([0, 0], None)


@pytest.mark.parametrize(
    ("xs", "ys", "status", "times", "words"),
    [
        (MANY, [], 0, 1, None),
        (MANY, MANY * 9, 0, 2, None),
        (MANY, MANY * 9, 3, 2, "failed with status 3"),
        (MANY, [*MANY * 9, ["a"]], 0, 2, "type of ys[90][0]"),
        ([*MANY, [1, 0.5]], MANY * 9, 0, 1, "type of xs[10][1]"),
        ([*MANY, 1], MANY, 0, 0, "type of xs[10]"),
        ([[1] * 3000] * 2, MANY, 0, 0, "no memory for the list xs"),
    ],
)
def test_memory_is_released_on_every_path(
    functions: Any, xs: Any, ys: Any, status: Any, times: int, words: str | None
) -> None:
    counts, error = counted(functions, xs, ys, status)
    tries = times + ("memory" in (words or ""))
    assert counts == [tries, times]
    assert (error is None) == (words is None)
    assert (words or "") in str(error)
