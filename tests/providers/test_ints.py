"""Ints in ``args=``: they take the integer type of a callee that the module has."""

from __future__ import annotations

import pytest

from ffi_builder import BuildError, attach, runtime, spec
from ffi_builder.providers import (
    CallProvider,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
    NestedTensorCallProvider,
)
from tests.support.wrapping import new_module

F = spec.Signature.parse("f(n: int64) -> r: int64")
ARGS = ("n", 4, "-1", 255, -128, 2**31)
CALLEE = """
llvm.func @k(%n: i64, %a: i32, %b: i16, %c: i8, %d: i8, %e: i64) -> i64 {
  %wide_a = llvm.sext %a : i32 to i64
  %wide_b = llvm.sext %b : i16 to i64
  %wide_c = llvm.zext %c : i8 to i64
  %wide_d = llvm.sext %d : i8 to i64
  %ab = llvm.add %wide_a, %wide_b : i64
  %cd = llvm.add %wide_c, %wide_d : i64
  %abcd = llvm.add %ab, %cd : i64
  %all = llvm.add %abcd, %e : i64
  %sum = llvm.add %all, %n : i64
  llvm.return %sum : i64
}
"""


@pytest.mark.parametrize(
    "provider",
    [
        DirectCallProvider("k", args=ARGS),
        MemRefCallProvider("k", args=ARGS),
        NestedTensorCallProvider("k", args=ARGS),
        DynamicParamPackCallProvider("k", struct_call=True, args=ARGS),
    ],
)
def test_they_take_the_type_of_the_callee(provider: CallProvider) -> None:
    module = new_module(CALLEE)
    attach(module, F, provider)
    assert runtime.compile(module)["f"](1000) == 1000 + 4 - 1 + 255 - 128 + 2**31


@pytest.mark.parametrize(
    ("number", "type_", "limits"),
    [
        (256, "i8", "-128 to 255"),
        (-129, "i8", "-128 to 255"),
        (2**32, "i32", f"{-(2**31)} to {2**32 - 1}"),
    ],
)
def test_they_must_fit(number: int, type_: str, limits: str) -> None:
    module = new_module(f"llvm.func @k(i64, {type_}) -> i64")
    with pytest.raises(BuildError) as raised:
        attach(module, F, DirectCallProvider("k", args=["n", number]))
    assert str(raised.value) == (
        f"DirectCallProvider: args= has {number}, but argument #1 of the callee @k is {type_}, "
        f"which holds {limits}"
    )


def test_an_expression_takes_the_type_of_the_callee_where_it_fits() -> None:
    module = new_module(
        "llvm.func @k(%n: i8) -> i64 { %r = llvm.sext %n : i8 to i64\n llvm.return %r : i64 }"
    )
    attach(module, F, DirectCallProvider("k", args=["n * 2"]))
    f = runtime.compile(module)["f"]
    assert [f(63), f(-64)] == [126, -128]
    for n in (64, -65):
        words = f"n \\* 2 is {2 * n}, but argument #0 of k is i8, which holds -128 to 127"
        with pytest.raises(ValueError, match=words):
            f(n)


@pytest.mark.parametrize(("type_", "extends"), [("i8", True), ("i16", True), ("i32", False)])
def test_narrow_expressions_are_extended(type_: str, extends: bool) -> None:
    """Callers extend what is narrower than an int of C, and callees rely on it."""
    module = new_module(f"llvm.func @k({type_}) -> i64")
    attach(module, F, DirectCallProvider("k", args=["n * 2"]))
    call = next(line for line in str(module).splitlines() if "llvm.call @k" in line)
    assert ("llvm.signext" in call) == extends


def test_symbols_keep_their_types() -> None:
    module = new_module("llvm.func @k(i32) -> i64")
    with pytest.raises(BuildError, match=r"#0  i32       i64 \(n\)"):
        attach(module, F, DirectCallProvider("k", args=["n"]))
    with pytest.raises(BuildError, match=r"#0  f32       i64 \(4\)"):
        attach(new_module("llvm.func @k(f32) -> i64"), F, DirectCallProvider("k", args=[4]))


def test_a_callee_that_is_not_in_the_module_gets_an_int64() -> None:
    module = new_module()
    attach(module, F, DirectCallProvider("k", args=["n", 4]))
    assert "llvm.func @k(i64, i64) -> i64" in str(module)
