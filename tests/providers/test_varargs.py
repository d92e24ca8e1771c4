"""VarArgs: any number of arguments, for C, for functions of TVM-FFI, and from Python."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import attach, runtime, spec, testing
from ffi_builder.providers import CallProvider, DirectCallProvider, PackedCallProvider
from tests.support.wrapping import new_module, refused, wrapped

GLOBAL: Final = "ffib.tests.varargs"
LONG: Final = "more than seven bytes"
KERNEL: Final = """
llvm.func @last(%n: i64, %rest: !llvm.ptr, %count: i64) -> i64 {
  %one = llvm.mlir.constant(1 : i64) : i64
  %zero = llvm.mlir.constant(0 : i64) : i64
  %none = llvm.icmp "eq" %count, %zero : i64
  llvm.cond_br %none, ^none, ^some
^none:
  llvm.return %n : i64
^some:
  %at = llvm.sub %count, %one : i64
  %any = llvm.getelementptr %rest[%at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<2 x i64>
  %payload = llvm.getelementptr %any[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %last = llvm.load %payload : !llvm.ptr -> i64
  llvm.return %last : i64
}
"""


@pytest.fixture(autouse=True)
def every() -> None:
    tvm_ffi.register_global_func(GLOBAL, lambda *values: list(values), override=True)


def compiled(text: str, provider: CallProvider, kernel: str = "") -> runtime.CompiledModule:
    module = new_module(kernel)
    signature = spec.Signature.parse(text, device="cpu")
    assert spec.Signature.parse(signature.canonical()) == signature
    attach(module, signature, provider)
    return runtime.compile(module)


def test_a_kernel_gets_their_address_and_their_number() -> None:
    for args in (None, ["n", "rest.data", "rest.length"]):
        provider = DirectCallProvider("last", args=args)
        f = wrapped("f(n: int64, *rest: Any) -> y: int64", provider, KERNEL)
        assert [f(3), f(3, 4), f(3, "a", None, 5)] == [3, 4, 5]


def test_a_function_gets_the_arguments() -> None:
    f = wrapped("f(n: int64, *rest: Any) -> y: Any", PackedCallProvider(global_function=GLOBAL))
    assert list(f(1)) == [1]
    found = list(f(1, None, 2.5, LONG, b"a", np.ones(2), [1]))
    assert found[:5] == [1, None, 2.5, LONG, b"a"]
    rest = PackedCallProvider(global_function=GLOBAL, args=["rest"])
    assert list(wrapped("f(n: int64, *rest: Any) -> y: Any", rest)(1, 2, 3)) == [2, 3]


def count(*values: object) -> int:
    return len(values)


def fail(_: int) -> None:
    raise ValueError("no")


def test_a_callback_gets_those_behind_it() -> None:
    f = wrapped("f(g: Function, *rest: Any) -> y: Any", PackedCallProvider(spec.Function("g")))
    assert f(count, 1, "a", None) == 3
    assert f(lambda: "none") == "none"
    with pytest.raises(ValueError, match="no"):
        f(fail, 0)


@pytest.mark.parametrize("args", [["rest", "n"], ["rest", "rest"], ["m", "rest"], [1, "rest"]])
def test_others_in_the_order_of_the_wrapper_only(args: list[Any]) -> None:
    provider = PackedCallProvider(global_function=GLOBAL, args=args)
    said = refused("f(m: int64, n: int64, *rest: Any)", provider)
    assert "VarArgs are passed on where they stand" in said


@pytest.mark.parametrize("keywords", [False, True])
def test_python_names_those_before_them(keywords: bool) -> None:
    module = compiled(
        "f(form: String, n: int32, *rest: Any) -> y: Any",
        PackedCallProvider(global_function=GLOBAL),
    )
    f: Any = module.callable("f") if keywords else module["f"]
    assert str(inspect.signature(f)) == "(form: String, n: int32, *rest: Any) -> y: Any"
    assert list(f("a", n=2)) == ["a", 2]
    assert list(f("a", 2, 3, LONG)) == ["a", 2, 3, LONG]
    for args, named, words in (
        (("a",), {}, "number of arguments .*expected at least 2 but got 1"),
        (("a", LONG), {}, "type of n on argument #1"),
        (("a", 2), {"rest": 3}, "unexpected keyword argument 'rest'"),
        (("a", 2, 3), {"n": 3}, "multiple values for argument 'n'"),
    ):
        with pytest.raises(TypeError, match=words):
            f(*args, **named)


def test_defaults_of_those_before_them() -> None:
    params = [spec.String("form", default="%d"), spec.VarArgs("rest")]
    signature = spec.Signature("f", params, spec.Any("y"))
    f = wrapped(signature, PackedCallProvider(global_function=GLOBAL))
    assert list(f()) == ["%d"]
    assert list(f("a", 1)) == ["a", 1]


def test_what_is_exported(tmp_path: Path) -> None:
    module = compiled("f(n: int64, *rest: Any) -> y: int64", DirectCallProvider("last"), KERNEL)
    path = tmp_path / "f.so"
    module.export_library(path, header=tmp_path / "f.h", stub=tmp_path / "f.pyi")
    loaded: Any = cast("Any", tvm_ffi).load_module(f"{path}")
    assert loaded.f(3, "a", 5) == 5
    described = json.loads(loaded.get_function_metadata("f")["type_schema"])
    assert described == {"type": "ffi.Function"}
    assert "def f(n: int, *rest: Any) -> Any:" in path.with_suffix(".pyi").read_text()
    assert "template <typename... Args>" in path.with_suffix(".h").read_text()


def test_make_args_makes_none() -> None:
    signature = spec.Signature.parse("f(n: int64, *rest: Any)")
    assert len(testing.make_args(signature)) == 1
