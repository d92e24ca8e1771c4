"""Operands that fit the callee or not: attaching tells."""

from __future__ import annotations

from typing import Any

import pytest

from ffi_builder import attach_ffi_func, spec
from ffi_builder.errors import BuildError
from ffi_builder.providers import (
    CallProvider,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
)
from ffi_builder.spec import Shape, Tensor, TupleParam, Var, dims
from tests.support.printed import symbol_names
from tests.support.wrapping import new_module

n, m = dims("n m")
X = Tensor("x", [n], "float32", device_type="cpu")
PARAMS: list[spec.Param] = [X, Var("a", "int32")]
EVERY = [DirectCallProvider, DynamicParamPackCallProvider, MemRefCallProvider]


def refused(module: Any, provider: CallProvider, params: list[spec.Param] = PARAMS) -> str:
    """The words of the BuildError; the module is then as it was."""
    before = str(module)
    with pytest.raises(BuildError) as raised:
        attach_ffi_func(module, "f", params, provider)
    assert str(module) == before
    return str(raised.value)


def test_another_type_shows_both() -> None:
    module = new_module("llvm.func @callee(!llvm.ptr, i64, !llvm.struct<(ptr, i32)>)")
    assert refused(module, DirectCallProvider("callee")) == (
        "DirectCallProvider: the callee @callee takes 3 arguments, but 2 are passed for 'f':\n"
        "       expected            passed\n"
        "   #0  ptr                 ptr (x)\n"
        ">  #1  i64                 i32 (a): declare `a: int64`\n"
        ">  #2  struct<(ptr, i32)>  nothing\n"
        "Choose and order them with args=, or change the signature or the callee"
    )


def test_a_memref_of_another_rank() -> None:
    words = refused(
        new_module("llvm.func @callee(!llvm.ptr, !llvm.ptr, i64, i32)"),
        MemRefCallProvider("callee"),
    )
    assert words == (
        "MemRefCallProvider: the callee @callee takes 4 arguments, but 6 are passed for 'f':\n"
        "       expected  passed\n"
        "   #2  i64       i64 (x)\n"
        ">      nothing   i64 (x)\n"
        ">      nothing   i64 (x)\n"
        "   #3  i32       i32 (a)\n"
        "Choose and order them with args=, or change the signature or the callee"
    )


def test_packing_takes_one_pointer_and_perhaps_a_count() -> None:
    module = new_module("llvm.func @callee(!llvm.ptr) -> i32")
    counted = DynamicParamPackCallProvider("callee", include_num_args=True)
    by_value = DynamicParamPackCallProvider("callee", struct_call=True)
    for provider in (counted, by_value):
        assert refused(module, provider).endswith(
            "DynamicParamPackCallProvider without other options passes what it takes"
        )
    module = new_module("llvm.func @callee(!llvm.ptr, i32) -> i32")
    assert refused(module, DynamicParamPackCallProvider("callee")).endswith(
        "DynamicParamPackCallProvider with include_num_args=True passes what it takes"
    )
    module = new_module("llvm.func @callee(!llvm.struct<(ptr, i64)>, i32) -> i32")
    assert refused(module, DynamicParamPackCallProvider("callee")).endswith(
        "DynamicParamPackCallProvider with struct_call=True passes what it takes"
    )
    module = new_module("llvm.func @callee(!llvm.ptr) -> i32")
    attach_ffi_func(module, "f", PARAMS, DynamicParamPackCallProvider("callee"))


@pytest.mark.parametrize("result", ["i64", "i1", "!llvm.ptr", "f32"])
def test_a_status_is_an_i32(result: str) -> None:
    module = new_module(f"llvm.func @callee(!llvm.ptr) -> {result}")
    assert refused(module, DynamicParamPackCallProvider("callee")) == (
        f"the callee @callee returns {result}; expected nothing or a status of type i32"
    )


@pytest.mark.parametrize("make", EVERY)
def test_a_callee_that_is_not_lowered(make: type[DirectCallProvider]) -> None:
    module = new_module("func.func private @callee(memref<?xf32>, i32)")
    words = refused(module, make("callee"))
    assert words.startswith(f"{make.__name__}: the callee @callee is func.func of type (memref<?xf")
    assert "must be an llvm.func, so lower the module to the LLVM dialect before attaching" in words


def test_a_callee_that_is_a_global() -> None:
    module = new_module("llvm.mlir.global external @callee() : i32")
    assert "@callee is llvm.mlir.global;" in refused(module, DirectCallProvider("callee"))


@pytest.mark.parametrize("make", EVERY)
@pytest.mark.parametrize(
    "entry",
    [
        Tensor("y", [n], "float32", device_type="cpu"),
        Tensor("x", [n], "float64", device_type="cpu"),
        Tensor("y", [n], "float32", device_type="cpu").data,
        Shape("s", [n]),
        TupleParam("t", [X]),
        ["x"],
        True,
    ],
    ids=repr,
)
def test_args_that_are_no_parameters(make: type[DirectCallProvider], entry: Any) -> None:
    words = refused(new_module(), make("callee", args=[X, entry]))
    name = make.__name__
    assert words == f"{name}: args= has {entry!r}, which is not a parameter of 'f'; it has x, a"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("y", ""),
        ("n.data", ""),
        ("x.data.data", ""),
        ("", ""),
        ("n.", ", did you mean 'n'?"),
        ("X", ", did you mean 'x'?"),
    ],
)
def test_args_that_name_nothing(name: str, meant: str) -> None:
    assert refused(new_module(), DirectCallProvider("callee", args=[name])) == (
        f"DirectCallProvider: args= has {name!r}, which names no parameter or symbol of 'f'; "
        f"it has x, a, n{meant}"
    )


def test_args_of_a_symbol_that_is_none() -> None:
    for item in (m, m + 1, Var("n", "int32")):
        words = refused(new_module(), DirectCallProvider("callee", args=[item]))
        assert "is not one of the signature: n, a" in words


def test_args_that_could_be_two_parameters() -> None:
    params: list[spec.Param] = [TupleParam("a", [X]), TupleParam("b", [X])]
    words = refused(new_module(), DirectCallProvider("callee", args=[X]), params)
    assert words.endswith("could be each of a[0] and b[0]; give the parameters different names")


def test_equal_parameters_made_anew_are_the_same() -> None:
    same = Tensor("x", [Var("n", "int64")], "float32", device_type="cpu")
    module = new_module()
    attach_ffi_func(module, "f", PARAMS, DirectCallProvider("callee", args=[same.data, same]))
    assert "llvm.func @callee(!llvm.ptr, !llvm.ptr)" in str(module)


def test_a_callee_is_declared_once() -> None:
    module = new_module()
    for name in "abc":
        attach_ffi_func(module, name, PARAMS, DirectCallProvider("callee"))
    assert symbol_names(module).count("callee") == 1
    assert "llvm.func @callee(!llvm.ptr, i32)\n" in str(module)
    words = refused(module, DirectCallProvider("callee", args=[X]), PARAMS)
    assert "takes 2 arguments, but 1 is passed" in words


def test_a_callee_that_is_there_is_not_declared() -> None:
    text = "llvm.func @callee(%p: !llvm.ptr, %a: i32) { llvm.return }"
    module = new_module(text)
    attach_ffi_func(module, "f", PARAMS, DirectCallProvider("callee"))
    assert symbol_names(module).count("callee") == 1
