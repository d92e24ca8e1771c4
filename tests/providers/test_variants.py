"""VariantsCallProvider in calls: each kind of condition, the order, the error if none fits."""

from __future__ import annotations

import ctypes
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


def test_by_dtype() -> None:
    function = choosing([X], when.dtype(X) == "float32", when.dtype(X) == "int8", None)
    dtypes = ("float16", "float32", "int8")
    assert chosen(function, *map(zeros, dtypes)) == [2, 0, 1]
    function = choosing([X], when.dtype(X) != "float32", None)
    assert chosen(function, *map(zeros, dtypes)) == [0, 1, 0]


def test_by_the_only_dtype() -> None:
    """A condition that always holds needs no test."""
    assert choosing([BYTES], when.dtype(BYTES) == "int8")(zeros("int8")) == 0


def test_by_what_divides() -> None:
    function = choosing([X], when.divisible(N, 12), when.divisible(N, 4), when.divisible(N, 3))
    sizes = (24, 8, 9, 0)
    assert chosen(function, *(zeros("int8", n) for n in sizes)) == [0, 1, 2, 0]
    with pytest.raises(ValueError, match="No variant fits"):
        function(zeros("int8", 5))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "uint64"])
@pytest.mark.parametrize("divisor", [4, 3, 256])
def test_what_divides_a_number(dtype: str, divisor: int) -> None:
    var = spec.Var("v", dtype)
    low, high = INT_RANGES[dtype]
    function = choosing([var], when.divisible(var, divisor), None)
    values = [low, low + 1, max(low, -4), 0, 3, 4, 12, high - 1, high]
    assert chosen(function, *values) == [int(value % divisor != 0) for value in values]


def test_by_a_stride() -> None:
    stride = spec.Var("s", "int64")
    x = spec.Tensor("x", [N, M], "float32", strides=[stride, 1], device_type="cpu")
    function = choosing([x], when.divisible(stride, 4), None)
    wide = np.zeros((2, 8), "float32")
    assert chosen(function, wide, wide[:, :3], np.zeros((2, 5), "float32")) == [0, 0, 1]


def test_by_alignment() -> None:
    function = choosing([BYTES], when.aligned(BYTES, 64), when.aligned(BYTES, 8), None)
    memory = np.zeros(256, "int8")
    start = -memory.ctypes.data % 64
    offsets = (0, 64, 8, 40, 4, 1)
    assert chosen(function, *(memory[start + o :][:9] for o in offsets)) == [0, 0, 1, 1, 2, 2]


def test_by_the_alignment_of_a_pointer() -> None:
    pointer = spec.DataPointer("p")
    function = choosing([pointer], when.aligned(pointer, 16), None)
    values = (None, 0, 32, 33, ctypes.c_void_p(48), 2**63 + 16)
    assert chosen(function, *values) == [0, 0, 0, 1, 0, 0]


def test_by_rank() -> None:
    rank = when.ndim(ANY_RANK)
    function = choosing([ANY_RANK], rank == 2, rank > 3, rank >= 1, None)
    ranks = (2, 5, 3, 1, 0, 4)
    assert chosen(function, *(np.zeros((1,) * r, "float32") for r in ranks)) == [0, 1, 2, 2, 3, 1]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_by_the_value_of_a_number(dtype: str) -> None:
    var = spec.Var("v", dtype)
    value = when.value(var)
    low, high = INT_RANGES[dtype]
    function = choosing([var], value == 5, value < 7, value >= high - 1, value != 100, None)
    assert chosen(function, 5, 6, low, 7, high, high - 1, high - 2, 100) == [
        *(0, 1, 1, 3, 2, 2, 3, 4)
    ]


def test_by_a_value_beyond_the_type() -> None:
    var = spec.Var("v", "int8")
    value = when.value(var)
    function = choosing([var], value == 4, value <= 1000)
    assert chosen(function, 4, -128, 127) == [0, 1, 1]


def test_by_an_expression() -> None:
    large, odd = when.value(N * M) > 100, when.value(N % 2) == 1
    function = choosing([N, M], large, when.divisible(N - M, 3), odd, None)
    assert chosen(function, (20, 20), (1, 4), (3, 1), (2, 3)) == [0, 1, 2, 3]
    with pytest.raises(ValueError, match=r"The value of n \* m does not fit int64"):
        function(2**40, 2**40)


def test_an_expression_is_computed_only_where_it_is_compared() -> None:
    function = choosing([N, M, FLAG], when.value(FLAG) == True, when.value(N * M) > 0, None)  # noqa: E712
    assert function(2**40, 2**40, True) == 0
    with pytest.raises(ValueError, match="does not fit int64"):
        function(2**40, 2**40, False)


def test_by_relations_of_symbols() -> None:
    """They are those of where=, of symbols of any widths."""
    small, large = spec.Var("small", "int8"), spec.Var("large", "uint64")
    function = choosing([N, M, small], N * 2 <= M, small > N, spec.one_of(M, [3, 5]), None)
    calls = [(2, 4, 0), (2, 3, 3), (2, 3, -1), (9, 5, 9), (9, 4, 9), (-9, -20, -8)]
    assert chosen(function, *calls) == [0, 1, 2, 2, 3, 1]
    function = choosing([small, large], small < large, spec.not_equal(large, 0), None)
    assert chosen(function, (-1, 0), (3, 2), (0, 0), (1, 2**63 - 1)) == [0, 1, 2, 0]
    with pytest.raises(ValueError, match=r"does not fit int64"):
        function(1, 2**63)


def test_members_beyond_the_type() -> None:
    var = spec.Var("v", "int8")
    function = choosing([var], spec.one_of(var, [5, 256 + 7]), None)
    assert chosen(function, 5, 7) == [0, 1]


def test_two_names_of_a_choice() -> None:
    """They are one number, which errors call by both; a condition has the name that was given."""
    act = spec.Choice("act", {"relu": 1, "relu6": 1, "gelu": 2, "none": 0})
    conditions = when.value(act) == "relu6", when.value(act) == "gelu"
    function = choosing([act], *conditions)
    assert chosen(function, "relu", "relu6", "gelu") == [0, 0, 1]
    with pytest.raises(ValueError, match=r"k0 \(act == 'relu6'\), k1 .* but got act = 'none' when"):
        function("none")
    only = choosing([act], conditions[1])
    with pytest.raises(ValueError, match=r"but got act = 'relu' or 'relu6' when"):
        only("relu")


def test_by_a_bool() -> None:
    yes = when.value(FLAG) == True  # noqa: E712
    assert chosen(choosing([FLAG], yes, None), True, False) == [0, 1]
    assert chosen(choosing([FLAG], ~yes, None), True, False) == [1, 0]
    both = choosing([FLAG, N], when.all_of(yes, when.divisible(N, 2)), ~yes, None)
    assert chosen(both, (True, 2), (True, 3), (False, 2)) == [0, 2, 1]


def test_by_a_choice() -> None:
    value = when.value(ACT)
    function = choosing([ACT], value == "gelu", value != "none", None)
    assert chosen(function, "gelu", "relu", "none") == [0, 1, 2]


def test_by_presence() -> None:
    maybe = spec.Optional(spec.Tensor("m", [N], "float32", device_type="cpu"))
    function = choosing([maybe], when.present(maybe), None)
    assert chosen(function, zeros("float32"), None) == [0, 1]
    function = choosing([maybe], ~when.present(maybe), None)
    assert chosen(function, zeros("float32"), None) == [1, 0]


@pytest.mark.parametrize("pointer", [spec.Var("p", "handle"), spec.DataPointer("p")])
def test_a_pointer_that_is_not_null(pointer: spec.Param) -> None:
    present = when.present(pointer)  # pyright: ignore[reportArgumentType] # one of two kinds
    function = choosing([pointer], present, None)
    assert [function(given) for given in (None, ctypes.c_void_p(8))] == [1, 0]
    function = choosing([spec.Optional(spec.TupleParam("t", [pointer]))], present, None)
    assert [function(given) for given in (None, (None,), (ctypes.c_void_p(8),))] == [1, 1, 0]


def test_combinations() -> None:
    half, wide = when.dtype(X) == "float16", when.value(N) >= 4
    function = choosing([X], half & wide, half | wide, None)
    calls = (zeros("float16", 4), zeros("float16", 3), zeros("int8", 4), zeros("int8", 3))
    assert chosen(function, *calls) == [0, 1, 1, 2]
    function = choosing([X], ~(half | wide), when.any_of(~half, ~wide), None)
    assert chosen(function, *calls) == [2, 1, 1, 0]


# ---- absent parameters


def test_an_absent_tensor() -> None:
    """It has no dtype, its rank is -1, its address NULL."""
    x = spec.Optional(spec.Tensor("x", ..., ("int8", "float32"), device_type="cpu"))
    cases: list[tuple[Condition, int]] = [
        (when.dtype(x) == "int8", 1),
        (when.dtype(x) != "int8", 0),
        (when.ndim(x) == 0, 1),
        (when.ndim(x) == -1, 0),
        (when.aligned(x, 4096), 0),
    ]
    for condition, expected in cases:
        assert choosing([x], condition, None)(None) == expected, condition


def test_an_absent_choice_equals_none_of_them() -> None:
    act = spec.Optional(ACT)
    value = when.value(act)
    function = choosing([act], value == "none", value == "relu", value == "gelu", None)
    assert chosen(function, "none", "relu", "gelu", None) == [0, 1, 2, 3]
    function = choosing([act], value == "none", value == "relu", value == "gelu")
    with pytest.raises(ValueError, match=r"but got act = None when calling"):
        function(None)


def test_an_absent_number_is_zero() -> None:
    number = spec.Optional(spec.Var("v", "int32", min=1))
    function = choosing([number], when.value(number) >= 1, None)
    assert chosen(function, 3, None) == [0, 1]


def test_all_dtypes_and_none() -> None:
    x = spec.Optional(X)
    function = choosing([x], *(when.dtype(x) == dtype for dtype in X.dtypes))
    assert chosen(function, zeros("float16"), zeros("int8")) == [0, 2]
    with pytest.raises(ValueError, match=r"but got x.dtype = None when"):
        function(None)


# ---- within tuples


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


# ---- order, default, none


def test_the_first_that_fits_is_called() -> None:
    function = choosing([N], when.divisible(N, 2), when.divisible(N, 3), when.value(N) > 6)
    assert chosen(function, 6, 9, 7) == [0, 1, 2]


def test_a_single_variant_without_a_condition() -> None:
    assert choosing([N], None)(1) == 0


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


def test_names_with_braces_are_shown() -> None:
    choice = spec.Choice("c", {"{}": 1, "%s": 2})
    function = choosing([choice], when.value(choice) == "{}")
    with pytest.raises(ValueError, match=r"expected k0 \(c == '\{ \}'\) but got c = '%s' when"):
        function("%s")


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
