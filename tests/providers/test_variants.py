"""VariantsCallProvider in calls: each kind of condition, the order, the error if none fits."""

from __future__ import annotations

import ctypes
import re
from typing import Any, Final

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import attach, runtime, spec
from ffi_builder.errors import BuildError
from ffi_builder.providers import DirectCallProvider, Variant, VariantsCallProvider, when
from ffi_builder.spec.expr import Condition
from ffi_builder.spec.numbers import INT_RANGES
from tests.providers.variants import WHICH, choosing, kernels, variants
from tests.support.printed import check_comments, printed_wrapper
from tests.support.wrapping import attached, new_module

N, M = spec.dims("n m")
with spec.DefaultConfig(device_type="cpu"):
    X: Final = spec.Tensor("x", [N], ("float16", "float32", "int8"))
    ANY_RANK: Final = spec.Tensor("r", ..., "float32")
    BYTES: Final = spec.Tensor("b", [N], "int8")
ACT: Final = spec.Choice("act", {"relu": 1, "gelu": 2, "none": 0}, "int8")
FLAG: Final = spec.Var("flag", "bool")


def zeros(dtype: str, size: int = 3) -> Any:
    return np.zeros(size, dtype)


def chosen(function: Any, *calls: Any) -> list[int]:
    """The variants of calls, each a tuple of arguments or a single one."""
    return [function(*(call if isinstance(call, tuple) else (call,))) for call in calls]


# ---- each kind of condition

S, V8 = spec.Var("s", "int64"), spec.Var("v", "int8")
SMALL, LARGE = spec.Var("small", "int8"), spec.Var("large", "uint64")
STRIDED: Final = spec.Tensor("x", [N, M], "float32", strides=[S, 1], device_type="cpu")
POINTER: Final = spec.DataPointer("p")
RELU6: Final = spec.Choice("act", {"relu": 1, "relu6": 1, "gelu": 2, "none": 0})
BRACES: Final = spec.Choice("c", {"{}": 1, "%s": 2})
MAYBE: Final = spec.Optional(spec.Tensor("m", [N], "float32", device_type="cpu"))
MAYBE_X, MAYBE_ACT = spec.Optional(X), spec.Optional(ACT)
MAYBE_NUMBER: Final = spec.Optional(spec.Var("v", "int32", min=1))
MAYBE_ANY: Final = spec.Optional(spec.Tensor("x", ..., ("int8", "float32"), device_type="cpu"))
F16, F32, I8, WIDE = zeros("float16"), zeros("float32"), zeros("int8"), np.zeros((2, 8), "float32")
RANK, DTYPE, YES = when.ndim(ANY_RANK), when.dtype(X), when.value(FLAG) == True  # noqa: E712
VALUE8, ACTIVATION, maybe_act = when.value(V8), when.value(ACT), when.value(MAYBE_ACT)
HALF, LONG = DTYPE == "float16", when.value(N) >= 4
HALVES: Final = (zeros("float16", 4), F16, zeros("int8", 4), I8)
BIG: Final = when.value(N * M) > 100

CHOSEN: Final[dict[str, tuple[list[spec.Param], list[Condition | None], list[Any], list[int]]]] = {
    # parameters, conditions, calls, and the number of the variant that each calls
    "dtype": ([X], [DTYPE == "float32", DTYPE == "int8", None], [F16, F32, I8], [2, 0, 1]),
    "another dtype": ([X], [DTYPE != "float32", None], [F16, F32, I8], [0, 1, 0]),
    "the only dtype, which needs no test": ([BYTES], [when.dtype(BYTES) == "int8"], [I8], [0]),
    "divisible": ([X], [when.divisible(N, k) for k in (12, 4, 3)], [zeros("int8", k) for k in (24, 8, 9, 0)], [0, 1, 2, 0]),
    "a stride": ([STRIDED], [when.divisible(S, 4), None], [WIDE, WIDE[:, :3], np.zeros((2, 5), "float32")], [0, 0, 1]),
    "a pointer's alignment": ([POINTER], [when.aligned(POINTER, 16), None], [None, 0, 32, 33, ctypes.c_void_p(48), 2**63 + 16], [0, 0, 0, 1, 0, 0]),
    "rank": ([ANY_RANK], [RANK == 2, RANK > 3, RANK >= 1, None], [np.zeros((1,) * r, "float32") for r in (2, 5, 3, 1, 0, 4)], [0, 1, 2, 2, 3, 1]),
    "a value beyond the type": ([V8], [VALUE8 == 4, VALUE8 <= 1000], [4, -128, 127], [0, 1, 1]),
    "an expression": ([N, M], [BIG, when.divisible(N - M, 3), when.value(N % 2) == 1, None], [(20, 20), (1, 4), (3, 1), (2, 3)], [0, 1, 2, 3]),
    "relations of symbols, as in where=": ([N, M, SMALL], [N * 2 <= M, SMALL > N, spec.one_of(M, [3, 5]), None], [(2, 4, 0), (2, 3, 3), (2, 3, -1), (9, 5, 9), (9, 4, 9), (-9, -20, -8)], [0, 1, 2, 2, 3, 1]),
    "relations of any widths": ([SMALL, LARGE], [SMALL < LARGE, spec.not_equal(LARGE, 0), None], [(-1, 0), (3, 2), (0, 0), (1, 2**63 - 1)], [0, 1, 2, 0]),
    "members beyond the type": ([V8], [spec.one_of(V8, [5, 256 + 7]), None], [5, 7], [0, 1]),
    "two names of one number": ([RELU6], [when.value(RELU6) == "relu6", when.value(RELU6) == "gelu"], ["relu", "relu6", "gelu"], [0, 0, 1]),
    "a bool": ([FLAG], [YES, None], [True, False], [0, 1]),
    "not a bool": ([FLAG], [~YES, None], [True, False], [1, 0]),
    "a bool and more": ([FLAG, N], [when.all_of(YES, when.divisible(N, 2)), ~YES, None], [(True, 2), (True, 3), (False, 2)], [0, 2, 1]),
    "a choice": ([ACT], [ACTIVATION == "gelu", ACTIVATION != "none", None], ["gelu", "relu", "none"], [0, 1, 2]),
    "present": ([MAYBE], [when.present(MAYBE), None], [F32, None], [0, 1]),
    "absent": ([MAYBE], [~when.present(MAYBE), None], [F32, None], [1, 0]),
    "and, or": ([X], [HALF & LONG, HALF | LONG, None], [*HALVES], [0, 1, 1, 2]),
    "not, any": ([X], [~(HALF | LONG), when.any_of(~HALF, ~LONG), None], [*HALVES], [2, 1, 1, 0]),
    # An absent tensor has no dtype, its rank is -1, its address NULL.
    "an absent tensor has no dtype": ([MAYBE_ANY], [when.dtype(MAYBE_ANY) == "int8", None], [None], [1]),
    "an absent tensor has another dtype": ([MAYBE_ANY], [when.dtype(MAYBE_ANY) != "int8", None], [None], [0]),
    "an absent tensor is no scalar": ([MAYBE_ANY], [when.ndim(MAYBE_ANY) == 0, None], [None], [1]),
    "the rank of an absent tensor": ([MAYBE_ANY], [when.ndim(MAYBE_ANY) == -1, None], [None], [0]),
    "an absent tensor is aligned": ([MAYBE_ANY], [when.aligned(MAYBE_ANY, 4096), None], [None], [0]),
    "an absent choice equals none of them": ([MAYBE_ACT], [*(maybe_act == name for name in ("none", "relu", "gelu")), None], ["none", "relu", "gelu", None], [0, 1, 2, 3]),
    "an absent number is zero": ([MAYBE_NUMBER], [when.value(MAYBE_NUMBER) >= 1, None], [3, None], [0, 1]),
    "all dtypes and none": ([MAYBE_X], [when.dtype(MAYBE_X) == dtype for dtype in X.dtypes], [F16, I8], [0, 2]),
    "the first that fits": ([N], [when.divisible(N, 2), when.divisible(N, 3), when.value(N) > 6], [6, 9, 7], [0, 1, 2]),
    "a single variant without a condition": ([N], [None], [1], [0]),
    "an expression that is not compared": ([N, M, FLAG], [YES, BIG, when.value(N * M) < 5, None], [(2**40, 2**40, True)], [0]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("params", "conditions", "calls", "expected"), CHOSEN.values(), ids=[*CHOSEN]
)
def test_which_one_is_called(params: Any, conditions: Any, calls: Any, expected: list[int]) -> None:
    assert chosen(choosing(params, *conditions), *calls) == expected


OVERFLOW: Final = "The value of n * m does not fit int64"
REFUSED: Final[list[tuple[list[spec.Param], list[Condition | None], tuple[Any, ...], str]]] = [
    ([X], [when.divisible(N, k) for k in (12, 4, 3)], (zeros("int8", 5),), "No variant fits"),
    ([N, M], [BIG, None], (2**40, 2**40), OVERFLOW),
    ([N, M, FLAG], [YES, BIG, None], (2**40, 2**40, False), OVERFLOW),
    ([SMALL, LARGE], [SMALL < LARGE, None], (1, 2**63), "does not fit int64"),
    ([RELU6], [when.value(RELU6) == "relu6", when.value(RELU6) == "gelu"], ("none",), "k0 (act == 'relu6'), k1 (act == 'gelu') but got act = 'none' when"),
    ([RELU6], [when.value(RELU6) == "gelu"], ("relu",), "but got act = 'relu' or 'relu6' when"),
    ([MAYBE_ACT], [maybe_act == name for name in ("none", "relu", "gelu")], (None,), "but got act = None when calling"),
    ([MAYBE_X], [when.dtype(MAYBE_X) == dtype for dtype in X.dtypes], (None,), "but got x.dtype = None when"),
    ([BRACES], [when.value(BRACES) == "{}"], ("%s",), "expected k0 (c == '{ }') but got c = '%s' when"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("params", "conditions", "call", "words"), REFUSED, ids=lambda v: str(v)[:40]
)
def test_no_variant_is_called(params: Any, conditions: Any, call: Any, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        choosing(params, *conditions)(*call)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "uint64"])
@pytest.mark.parametrize("divisor", [4, 3, 256])
def test_what_divides_a_number(dtype: str, divisor: int) -> None:
    var = spec.Var("v", dtype)
    low, high = INT_RANGES[dtype]
    function = choosing([var], when.divisible(var, divisor), None)
    values = [low, low + 1, max(low, -4), 0, 3, 4, 12, high - 1, high]
    assert chosen(function, *values) == [int(value % divisor != 0) for value in values]


def test_by_alignment() -> None:
    function = choosing([BYTES], when.aligned(BYTES, 64), when.aligned(BYTES, 8), None)
    memory = np.zeros(256, "int8")
    start = -memory.ctypes.data % 64
    offsets = (0, 64, 8, 40, 4, 1)
    assert chosen(function, *(memory[start + o :][:9] for o in offsets)) == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_by_the_value_of_a_number(dtype: str) -> None:
    var = spec.Var("v", dtype)
    value = when.value(var)
    low, high = INT_RANGES[dtype]
    function = choosing([var], value == 5, value < 7, value >= high - 1, value != 100, None)
    assert chosen(function, 5, 6, low, 7, high, high - 1, high - 2, 100) == [
        *(0, 1, 1, 3, 2, 2, 3, 4)
    ]


@pytest.mark.parametrize("pointer", [spec.Var("p", "handle"), spec.DataPointer("p")])
def test_a_pointer_that_is_not_null(pointer: spec.Param) -> None:
    present = when.present(pointer)  # pyright: ignore[reportArgumentType] # one of two kinds
    function = choosing([pointer], present, None)
    assert [function(given) for given in (None, ctypes.c_void_p(8))] == [1, 0]
    function = choosing([spec.Optional(spec.TupleParam("t", [pointer]))], present, None)
    assert [function(given) for given in (None, (None,), (ctypes.c_void_p(8),))] == [1, 1, 0]


def test_parameters_of_a_struct() -> None:
    inner = spec.Tensor("a", [N], ("int8", "float32"), device_type="cpu")
    act = spec.Choice("act", {"relu": 1, "gelu": 2})
    cfg = spec.Struct("cfg", [inner, act])
    function = choosing([cfg], (when.dtype(inner) == "int8") & (when.value(act) == "relu"))
    assert function((zeros("int8"), "relu")) == 0
    with pytest.raises(ValueError, match="No variant fits") as raised:
        function((zeros("float32"), "relu"))
    assert str(raised.value).startswith(
        "No variant fits: expected k0 (cfg.a.dtype == int8 and cfg.act == 'relu') but got "
        "cfg.a.dtype = float32, cfg.act = 'relu' when calling: `f(cfg: Struct("
    )


# ---- none fits


def test_none_fits() -> None:
    conditions = (
        (when.dtype(X) == "float16") & when.divisible(N, 16),
        (when.dtype(X) == "float32") & when.aligned(X, 1 << 40) & (when.value(FLAG) == True),  # noqa: E712
        when.value(ACT) == "gelu",
        when.value(N * 2) > 1000,
    )
    function = choosing([X, ACT, FLAG], *conditions)
    x = zeros("int8", 5)
    with pytest.raises(ValueError, match="No variant fits") as raised:
        function(x, "relu", False)
    rest = x.ctypes.data % (1 << 40)
    assert str(raised.value) == (
        "No variant fits: expected k0 (x.dtype == float16 and n % 16 == 0), k1 (x.dtype == float32 "
        f"and x.data % {1 << 40} == 0 and flag), k2 (act == 'gelu'), k3 (n * 2 > 1000) but got "
        f"x.dtype = int8, n = 5, x.data % {1 << 40} = {rest}, flag = False, act = 'relu' when "
        "calling: `f(x: Tensor([n], float16 | float32 | int8), act: Choice({'relu': 1, 'gelu': 2, "
        "'none': 0}, int8), flag: bool)`"
    )
    assert function(zeros("float16", 16), "relu", False) == 0


def test_none_fits_after_a_result_was_allocated(allocator: None) -> None:
    y = spec.Tensor("y", [N], "float32", device_type="cpu")
    text = """
    llvm.func @fill(%y: !llvm.ptr) {
      %one = llvm.mlir.constant(1.0 : f32) : f32
      llvm.store %one, %y : f32, !llvm.ptr
      llvm.return
    }
    """
    fill = DirectCallProvider("fill", args=["y"])
    provider = VariantsCallProvider([Variant(fill, when=when.value(N) == 1)])
    module = new_module(text)
    attach(module, spec.Signature("f", [N], y), provider)
    function = runtime.compile(module)["f"]
    assert np.from_dlpack(function(1)).tolist() == [1.0]
    with pytest.raises(ValueError, match=r"expected fill \(n == 1\) but got n = 2"):
        function(2)


# ---- checks come first


def test_what_the_signature_refuses_never_gets_there() -> None:
    function = choosing([X], when.dtype(X) == "int8", None)
    with pytest.raises(TypeError, match=r"expected one of float16, float32, int8 but got float64"):
        function(zeros("float64"))


def test_a_result_in_a_condition() -> None:
    out = spec.Tensor("out", [N], "float32", device_type="cpu")
    provider = variants(when.aligned(out, 32), None)
    with pytest.raises(BuildError) as raised:
        attach(new_module(), spec.Signature("f", [X], out), provider)
    assert str(raised.value) == (
        "VariantsCallProvider: variant 'k0' needs out.data % 32 == 0, but 'out' is a result of "
        "'f'; conditions are about what is passed, x, n. The wrapper allocates a tensor that it "
        "returns with the data_alignment= of its Tensor"
    )


# ---- from C


def test_from_an_exported_library(tmp_path: Any) -> None:
    conditions = (when.dtype(X) == "float16", when.divisible(N, 4), None)
    module = new_module(kernels(3))
    attach(module, spec.Signature("f", [X], WHICH), variants(*conditions))
    path = tmp_path / "f.so"
    runtime.lower(module).export_library(path)
    function = runtime.load(path)["f"]
    arrays = (zeros("float16"), zeros("int8", 8), zeros("int8"))
    assert [function(tvm_ffi.from_dlpack(array)) for array in arrays] == [0, 1, 2]


def test_the_printed_wrapper() -> None:
    first, second = (DirectCallProvider(name, args=["x.data"]) for name in ("half", "other"))
    condition = (when.dtype(X) == "float16") & when.divisible(N, 16)
    provider = VariantsCallProvider([Variant(first, when=condition), Variant(second)])
    check_comments(printed_wrapper(attached([X], provider)))
    # CHECK: [[HALF:%[0-9]+]] = llvm.mlir.constant(69634 : i32)
    # CHECK: llvm.icmp "eq" %{{[0-9]+}}, [[HALF]] : i32
    # CHECK: llvm.and
    # CHECK: llvm.call @half
    # CHECK: llvm.call @other
