"""Results in ``args=``: the callee gets pointers, and writes the results to them."""

from __future__ import annotations

import ctypes
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import spec
from ffi_builder.providers import (
    CallProvider,
    CheckStatus,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
    NestedTensorCallProvider,
    PackedCallProvider,
    Variant,
    VariantsCallProvider,
    when,
)
from tests.support.native import loaded
from tests.support.wrapping import refused, wrapped

SOURCE: Final = """
#include <stdint.h>
int ffib_mean(const float *x, int64_t n, double *out) {
  if (n == 0) return 7;
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i];
  *out = sum / n;
  return 0;
}
void ffib_ends(float *last, const float *x, int64_t n, _Bool *any, int8_t *count) {
  if (n) *last = x[n - 1], *any = 1, *count = (int8_t)n;
}
int64_t ffib_split(const float *x, int64_t n, float *first) { *first = x[0]; return n; }
int ffib_named(int64_t n, struct { const char *data; int64_t size; } *text) {
  text->data = n ? "some" : "no", text->size = n ? 4 : 2;
  return 0;
}
"""
MEAN: Final = "mean(x: Tensor([n], float32)) -> r: float64"
R: Final = spec.Var("r", "float64")
N: Final = spec.Var("n", "int64")


@pytest.fixture(scope="module", autouse=True)
def kernels() -> ctypes.CDLL:
    return loaded(SOURCE)


@pytest.mark.parametrize("result", ["r", R])
def test_a_c_function_that_returns_a_status(result: Any) -> None:
    """It is the form that most C libraries have."""
    inner = DirectCallProvider("ffib_mean", args=["x", "n", result])
    mean = wrapped(MEAN, CheckStatus(inner, error="ValueError", message="no mean: {status}"))
    assert mean(np.array([1, 2, 6], "float32")) == 3.0
    with pytest.raises(ValueError, match="no mean: 7"):
        mean(np.empty(0, "float32"))
    # Without CheckStatus, the status is ignored, and the place holds zero.
    mean = wrapped(MEAN, inner)
    assert [mean(np.ones(size, "float32")) for size in (2, 0)] == [1.0, 0.0]


def test_several_results_in_another_order() -> None:
    signature = "ends(x: Tensor([n], float32)) -> (count: int8, any: bool, last: float32)"
    args = ["last", "x", "n", "any", "count"]
    ends = wrapped(signature, DirectCallProvider("ffib_ends", args=args))
    assert list(ends(np.arange(3, dtype="float32"))) == [3, True, 2.0]
    assert list(ends(np.arange(0, dtype="float32"))) == [0, False, 0.0]


def test_one_result_is_written_and_one_returned() -> None:
    signature = "split(x: Tensor([n], float32)) -> (first: float32, size: int64)"
    split = wrapped(signature, DirectCallProvider("ffib_split", args=["x", "n", "first"]))
    assert list(split(np.full(5, 2.5, "float32"))) == [2.5, 5]


def test_a_string() -> None:
    provider = CheckStatus(DirectCallProvider("ffib_named", args=["n", "text"]))
    named = wrapped("named(n: int64) -> text: String", provider)
    assert [named(0), named(1)] == ["no", "some"]


WRITES: Final = """
llvm.func @k(%n: i64, %r: !llvm.ptr) -> i32 {
  %value = llvm.mlir.constant(2.5 : f64) : f64
  llvm.store %value, %r : f64, !llvm.ptr
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}
"""


ARGS: Final = ["n", "r"]
DIRECT: Final = DirectCallProvider("k", args=ARGS)
PROVIDERS: Final[list[CallProvider]] = [
    DIRECT,
    CheckStatus(MemRefCallProvider("k", args=ARGS)),
    NestedTensorCallProvider("k", args=ARGS),
    DynamicParamPackCallProvider("k", struct_call=True, args=ARGS),
    VariantsCallProvider([Variant(DIRECT, when=when.divisible(N, 2)), Variant(DIRECT)]),
]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_providers(provider: CallProvider) -> None:
    mean = wrapped(MEAN, provider, WRITES)
    assert [mean(np.ones(size, "float32")) for size in (2, 3)] == [2.5, 2.5]


def test_a_pack_has_the_pointer_where_args_has_the_result() -> None:
    text = """
    llvm.func @k(%params: !llvm.ptr) -> i32 {
      %r = llvm.load %params : !llvm.ptr -> !llvm.ptr
      %at = llvm.getelementptr %params[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
      %n_at = llvm.load %at : !llvm.ptr -> !llvm.ptr
      %n = llvm.load %n_at : !llvm.ptr -> i64
      %value = llvm.sitofp %n : i64 to f64
      llvm.store %value, %r : f64, !llvm.ptr
      %zero = llvm.mlir.constant(0 : i32) : i32
      llvm.return %zero : i32
    }
    """
    mean = wrapped(MEAN, DynamicParamPackCallProvider("k", args=["r", "n"]), text)
    assert mean(np.ones(3, "float32")) == 3.0


# ---- what is refused


@pytest.mark.parametrize(
    ("provider", "words"),
    [
        (
            PackedCallProvider("k", args=["n", "r"]),
            "PackedCallProvider: args= has 'r', which is a result: only results that are tensors "
            "are passed; write '-> r: Tensor([], float64)' if the kernel writes it to memory",
        ),
        (DirectCallProvider("k", args=["n", "s"]), "DirectCallProvider: args= has 's', which names no parameter or symbol of 'mean'; it has x, n, r"),
        (DirectCallProvider("k", args=["n", "r * 2"]), "DirectCallProvider: args= has 'r * 2': there is no symbol 'r', but n"),
    ],
)  # fmt: skip
def test_what_is_refused(provider: CallProvider, words: str) -> None:
    assert refused(MEAN, provider).startswith(words)


def test_the_error_of_a_callee_with_a_pointer_more_suggests_the_result() -> None:
    text = "llvm.func @k(!llvm.ptr, i64, !llvm.ptr) -> i32"
    assert refused(MEAN, DirectCallProvider("k", args=["x", "n"]), text) == (
        "DirectCallProvider: the callee @k takes 3 arguments, but 2 are passed for 'mean':\n"
        "       expected  passed\n"
        "   #1  i64       i64 (n)\n"
        ">  #2  ptr       nothing; r would fit\n"
        "The types fit with args=['x', 'n', 'r'], if those of one type come in this order"
    )
