"""Errors of calls, and functions that are not found."""

from __future__ import annotations

import gc
import sys
import traceback
from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import BuildError, attach, call_packed, runtime, spec
from ffi_builder.packed import (
    FunctionObject,
    GlobalFunction,
    ImportedFunction,
    String,
    Symbol,
    Unsigned,
)
from ffi_builder.providers import CheckStatus, DirectCallProvider
from tests.packed.conftest import Called
from tests.packed.kernels import (
    CALLED,
    GLOBAL,
    compiled,
    empty_kernel,
    function,
    refused,
    terminator,
)
from tests.support import wrapping
from tests.support.wrapping import new_module

LATER: Final = "ffib.tests.later"


@pytest.mark.parametrize("callee", CALLED)
def test_pythons_exceptions_come_back_as_themselves(called: Called, callee: str) -> None:
    def fails(*args: object) -> None:
        raise KeyError("mine")

    called.answer = fails
    call = compiled("k(f: Function)", ["!llvm.ptr"], CALLED[callee], [1])
    before = sys.getrefcount(fails)
    for _ in range(3):
        with pytest.raises(KeyError) as raised:
            call(called)
        names = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
        assert "fails" in names
        assert "mine" in str(raised.value)
        del raised
    gc.collect()
    assert sys.getrefcount(fails) == before


@pytest.mark.parametrize("keep", [True, False])
def test_a_global_function_that_is_not_there_yet(keep: bool) -> None:
    call = compiled("k()", [], GlobalFunction(LATER, keep=keep))
    for _ in range(2):
        with pytest.raises(RuntimeError) as raised:
            call()
        assert str(raised.value) == (
            f"No global function is registered as {LATER!r} when calling it in `k`"
        )
    seen: list[int] = []
    tvm_ffi.register_global_func(LATER, lambda: seen.append(1))
    try:
        call()
        assert seen == [1]
    finally:
        tvm_ffi.registry.remove_global_func(LATER)


def test_an_imported_function_that_is_not_there() -> None:
    call = compiled("k()", [], ImportedFunction(LATER))
    with pytest.raises(RuntimeError, match=f"Cannot find function {LATER} in the imported modules"):
        call()


def test_arguments_are_released_where_the_function_is_not_found() -> None:
    types = ["!llvm.ptr", "i64", "i64"]
    call = compiled(
        "k(s: String, n: uint64)",
        types,
        GlobalFunction(LATER),
        lambda a: [Unsigned(a[2]), String(a[0], a[1])],
    )
    for _ in range(100):
        with pytest.raises(RuntimeError, match="No global function"):
            call("a str of more than seven bytes", 2**64 - 1)


# ---- the error edge

BRANCHES: Final = """
llvm.func @k(%out: !llvm.ptr) {
  %one = llvm.mlir.constant(1 : i32) : i32
  %two = llvm.mlir.constant(2 : i32) : i32
  llvm.br ^call
^call:
  llvm.store %one, %out : i32, !llvm.ptr
  llvm.return
^failed:
  llvm.store %two, %out : i32, !llvm.ptr
  llvm.return
^with_status(%status: i32):
  llvm.store %status, %out : i32, !llvm.ptr
  llvm.return
}
"""


@pytest.mark.parametrize(("block", "expected"), [(2, 2), (3, -1)])
def test_an_edge_that_the_author_names(called: Called, block: int, expected: int) -> None:
    module = new_module(BRANCHES)
    blocks = list(function(module).regions[0].blocks)
    call = call_packed(
        blocks[1].operations[0], GlobalFunction(GLOBAL), ["a"], on_error=blocks[block]
    )
    assert call.value is None
    attach(
        module,
        spec.Signature.parse("k(out: Tensor([1], int32))", device="cpu"),
        DirectCallProvider("k"),
    )
    function_ = runtime.compile(module)["k"]
    out = np.zeros(1, "int32")
    function_(out)
    assert out[0] == 1

    def fails(*args: object) -> None:
        raise ValueError("no")

    called.answer = fails
    function_(out)
    assert out[0] == expected


def first(module: Any) -> Any:
    return function(module).regions[0].blocks[0].operations[0]


def test_a_function_that_returns_no_status() -> None:
    assert refused(BRANCHES, first) == (
        "call_packed: @k returns !llvm.void, so it cannot return the status of a failed call, an "
        "i32; pass on_error=, a block to branch to"
    )
    words = refused("llvm.func @k(%a: i64) -> i64 { llvm.return %a : i64 }", first)
    assert "@k returns i64, so it cannot" in words


MORE: Final = BRANCHES.replace("%status: i32", "%status: i32, %more: i64")
EDGES: Final[list[tuple[str, Callable[[Any], Any], str]]] = [
    (MORE, lambda m: function(m).regions[0].blocks[3], "expected a block with one argument, the status as an i32, or none, but its arguments are i32, i64"),
    (f"{BRANCHES} llvm.func @other() {{ llvm.return }}", lambda m: function(m, "other").regions[0].blocks[0], "expected a block of @k"),
    (BRANCHES, lambda m: "^failed", "expected a block but got '^failed'"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "edge", "words"), EDGES)
def test_an_edge_that_does_not_fit(text: str, edge: Callable[[Any], Any], words: str) -> None:
    assert refused(text, first, on_error=edge) == f"call_packed: on_error: {words}"


# ---- the status of a kernel


def test_a_kernels_status_is_passed_on(called: Called) -> None:
    module = new_module(empty_kernel([]))
    call_packed(terminator(module), GlobalFunction(GLOBAL))
    provider = DirectCallProvider("k")
    attach(module, spec.Signature("told", []), CheckStatus(provider))
    attach(module, spec.Signature("passed", []), CheckStatus(provider, error=None))
    both = runtime.compile(module)
    both["passed"]()

    def fails(args: object) -> None:
        raise IndexError("own")

    called.answer = fails
    with pytest.raises(IndexError, match="own"):
        both["passed"]()
    with pytest.raises(RuntimeError, match="k failed with status -1 when calling: `told"):
        both["told"]()


def test_a_status_of_another_type() -> None:
    provider = CheckStatus(DirectCallProvider("k"), error=None)
    assert wrapping.refused("f()", provider, "llvm.func @k() -> i64") == (
        "CheckStatus: the callee @k returns i64; expected an i32, since error=None says that it "
        "returns the status of TVM-FFI"
    )


# ---- mistakes of callees


@pytest.mark.parametrize(
    ("make", "name", "words"),
    [
        (Symbol, "", "expected the callee's name, without '@', but got ''"),
        (Symbol, "@g", "expected the callee's name, without '@', but got '@g'"),
        (Symbol, "__tvm_ffi_g", "give '__tvm_ffi_g' without the prefix '__tvm_ffi_'"),
        (GlobalFunction, "a\0", "expected a name such as 'my.function' but got 'a\\x00'"),
        (ImportedFunction, 3, "expected a name such as 'my.function' but got 3"),
    ],
)
def test_names(make: Any, name: Any, words: str) -> None:
    with pytest.raises(BuildError) as raised:
        make(name)
    assert str(raised.value) == f"{make.__name__}: {words}"


def test_something_else_than_a_callee() -> None:
    text, of = (
        empty_kernel([]),
        "FunctionObject: expected a pointer, the TVMFFIObject* of a function",
    )
    for callee, words in (
        ("my.f", "expected a callee of ffi_builder.packed, such as packed.GlobalFunction('my.f') but got 'my.f'"),
        (FunctionObject(cast("Any", None)), f"{of}, but got None"),
    ):  # fmt: skip
        assert refused(text, callee=callee) == f"call_packed: {words}"
    module = new_module(empty_kernel(["i64"]))
    number = function(module).regions[0].blocks[0].arguments[0]
    with pytest.raises(BuildError, match="of a function, but got one of type i64"):
        call_packed(terminator(module), FunctionObject(number))


def test_a_symbol_of_another_type() -> None:
    text = empty_kernel([]) + "llvm.func @__tvm_ffi_f(i32)"
    assert refused(text, callee=Symbol("f")) == (
        "symbol @__tvm_ffi_f is needed as !llvm.func<i32 (ptr, ptr, i32, ptr)> but the module has "
        "llvm.func of type !llvm.func<void (i32)>"
    )
