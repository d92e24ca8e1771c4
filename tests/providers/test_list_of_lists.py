"""Lists of lists of numbers: what a kernel gets of them, and the memory that the numbers are in."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import wrap
from tests.runtime.samples import c_object, needs_cc

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
    words = r"Mismatched rows\[1\]\[1\] .* fits int32 .* got 85899345"
    with pytest.raises(ValueError, match=words):
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
