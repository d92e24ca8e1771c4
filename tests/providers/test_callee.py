"""Operands that fit the callee or not: attaching tells."""

from __future__ import annotations

from typing import Any

import pytest

from ffi_builder import attach_ffi_func, spec
from ffi_builder.providers import (
    CallProvider,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
)
from ffi_builder.spec import Shape, Tensor, TupleParam, Var, dims
from tests.support.printed import symbol_names
from tests.support.wrapping import new_module, refused

n, m = dims("n m")
X = Tensor("x", [n], "float32", device_type="cpu")
PARAMS: list[spec.Param] = [X, Var("a", "int32")]
EVERY = [DirectCallProvider, DynamicParamPackCallProvider, MemRefCallProvider]


SIGNATURE = spec.Signature("f", PARAMS)
DIRECT, PACKED = DirectCallProvider("callee"), DynamicParamPackCallProvider("callee")
COUNTED = DynamicParamPackCallProvider("callee", include_num_args=True)
BY_VALUE = DynamicParamPackCallProvider("callee", struct_call=True)
WITHOUT = "DynamicParamPackCallProvider without other options passes what it takes"
OTHER_TYPES = """DirectCallProvider: the callee @callee takes 3 arguments, but 2 are passed for 'f':
       expected            passed
   #0  ptr                 ptr (x)
>  #1  i64                 i32 (a): declare `a: int64`, or pass 'int64(a)'
>  #2  struct<(ptr, i32)>  nothing
Choose and order them with args=, or change the signature or the callee"""
OTHER_RANK = """MemRefCallProvider: the callee @callee takes 4 arguments, but 6 are passed for 'f':
       expected  passed
   #2  i64       i64 (x)
>      nothing   i64 (x)
>      nothing   i64 (x)
   #3  i32       i32 (a)
Choose and order them with args=, or change the signature or the callee"""
REFUSED: list[tuple[str, CallProvider, str]] = [
    # types of the callee, and what is said of it
    ("(!llvm.ptr, i64, !llvm.struct<(ptr, i32)>)", DIRECT, OTHER_TYPES),
    ("(!llvm.ptr, !llvm.ptr, i64, i32)", MemRefCallProvider("callee"), OTHER_RANK),
    ("(!llvm.ptr) -> i32", COUNTED, WITHOUT),
    ("(!llvm.ptr) -> i32", BY_VALUE, WITHOUT),
    ("(!llvm.ptr, i32) -> i32", PACKED, "DynamicParamPackCallProvider with include_num_args=True passes what it takes"),
    ("(!llvm.struct<(ptr, i64)>, i32) -> i32", PACKED, "DynamicParamPackCallProvider with struct_call=True passes what it takes"),
    *((f"(!llvm.ptr) -> {result}", PACKED, f"the callee @callee returns {result}; expected nothing or a status of type i32") for result in ("i64", "i1", "!llvm.ptr", "f32")),
]  # fmt: skip


@pytest.mark.parametrize(("types", "provider", "words"), REFUSED)
def test_a_callee_of_other_types(types: str, provider: CallProvider, words: str) -> None:
    assert refused(SIGNATURE, provider, f"llvm.func @callee{types}").endswith(words)


def test_a_callee_that_is_a_global() -> None:
    text = "llvm.mlir.global external @callee() : i32"
    assert "@callee is llvm.mlir.global;" in refused(SIGNATURE, DIRECT, text)


NOWHERE = "which names no parameter or symbol of 'f'; it has x, a, n"
NO_SYMBOL = "is not one of the signature: n, a"
TWO: list[spec.Param] = [TupleParam("a", [X]), TupleParam("b", [X])]
ARGS: list[tuple[Any, str, list[spec.Param]]] = [
    *((name, f"DirectCallProvider: args= has {name!r}, {NOWHERE}", PARAMS) for name in ("y", "n.data", "x.data.data", "")),
    ("n.", f"DirectCallProvider: args= has 'n.', {NOWHERE}, did you mean 'n'?", PARAMS),
    ("X", f"DirectCallProvider: args= has 'X', {NOWHERE}, did you mean 'x'?", PARAMS),
    *((item, NO_SYMBOL, PARAMS) for item in (m, m + 1, Var("n", "int32"))),
    (X, "could be each of a[0] and b[0]; give the parameters different names", TWO),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "words", "params"), ARGS, ids=repr)
def test_args_that_name_nothing(entry: Any, words: str, params: list[spec.Param]) -> None:
    said = refused(spec.Signature("f", params), DirectCallProvider("callee", args=[entry]))
    assert said.endswith(words)


@pytest.mark.parametrize("make", EVERY)
def test_a_callee_that_is_not_lowered(make: type[DirectCallProvider]) -> None:
    text = "func.func private @callee(memref<?xf32>, i32)"
    words = refused(SIGNATURE, make("callee"), text)
    assert words.startswith(f"{make.__name__}: the callee @callee is func.func of type (memref<?xf")
    assert "must be an llvm.func, so lower the module to the LLVM dialect before attaching" in words


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
    words = refused(SIGNATURE, make("callee", args=[X, entry]))
    name = make.__name__
    assert words == f"{name}: args= has {entry!r}, which is not a parameter of 'f'; it has x, a"


def test_equal_parameters_made_anew_are_the_same() -> None:
    same = Tensor("x", [Var("n", "int64")], "float32", device_type="cpu")
    module = new_module()
    attach_ffi_func(module, "f", PARAMS, DirectCallProvider("callee", args=[same.data, same]))
    assert "llvm.func @callee(!llvm.ptr, !llvm.ptr)" in str(module)


DECLARED = "llvm.func @callee(!llvm.ptr, i32)"


def test_a_callee_is_declared_once() -> None:
    module = new_module()
    for name in "abc":
        attach_ffi_func(module, name, PARAMS, DIRECT)
    assert symbol_names(module).count("callee") == 1
    assert f"{DECLARED}\n" in str(module)
    words = refused(SIGNATURE, DirectCallProvider("callee", args=[X]), DECLARED)
    assert "takes 2 arguments, but 1 is passed" in words


@pytest.mark.parametrize(
    ("text", "provider"),
    [
        ("llvm.func @callee(%p: !llvm.ptr, %a: i32) { llvm.return }", DIRECT),
        ("llvm.func @callee(!llvm.ptr) -> i32", PACKED),
    ],
)
def test_a_callee_that_is_there_is_not_declared(text: str, provider: CallProvider) -> None:
    module = new_module(text)
    attach_ffi_func(module, "f", PARAMS, provider)
    assert symbol_names(module).count("callee") == 1
