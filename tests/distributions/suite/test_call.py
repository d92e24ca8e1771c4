"""Calls of compiled functions: right numbers, right errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import CompileError, attach_ffi_func, providers, runtime, spec
from ffi_builder.runtime import CompiledModule
from tests.distributions.suite import kernels
from tests.distributions.suite.cases import CASES, DIRECT, Case
from tests.distributions.suite.conftest import Note

Parse = Callable[[str], Any]
CODE = spec.Var("code", "int32")


def raised_by(case: Case, function: Any) -> str:
    with pytest.raises((TypeError, ValueError, RuntimeError)) as raised:
        case.wrong(function)
    return f"{raised.type.__name__}: {raised.value}"


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_numbers_and_errors(case: Case, parse: Parse) -> None:
    function = runtime.compile(case.attach(parse(case.kernel)))["f"]
    assert case.right(function) == case.expected
    assert raised_by(case, function) == case.error
    assert case.right(function) == case.expected


def of_two(parse: Parse) -> CompiledModule:
    module = parse(kernels.STATUS)
    status = providers.CheckStatus(DIRECT, message="{callee} said {status}")
    attach_ffi_func(module, "first", [CODE], status)
    attach_ffi_func(module, "second", [CODE], providers.PackedCallProvider("first"))
    return runtime.compile(module)


def test_two_in_a_module_of_which_one_calls_the_other(parse: Parse) -> None:
    compiled = of_two(parse)
    assert compiled.functions == ("first", "second")
    assert compiled["first"](0) is None
    assert compiled["second"](0) is None
    with pytest.raises(RuntimeError) as raised:
        compiled["second"](4)
    assert str(raised.value) == "kernel said 4 when calling: `first(code: int32)`"
    with pytest.raises(TypeError) as refused:
        compiled["second"]("x")
    assert str(refused.value) == (
        "Mismatched type of code on argument #0 when calling: `second(code: int32)`, "
        "expected int but got str"
    )


def test_an_exported_object_is_linked_and_called(parse: Parse, tmp_path: Path) -> None:
    case = CASES["matmul with strides, DynamicParamPack"]
    runtime.lower(case.attach(parse(case.kernel))).export_object(
        tmp_path / "f.o", header=tmp_path / "f.h"
    )
    again = runtime.compile((tmp_path / "f.o").read_bytes())["f"]
    assert case.right(again) == case.expected
    assert raised_by(case, again) == case.error
    assert "__tvm_ffi_f" in (tmp_path / "f.h").read_text()


def test_out_of_the_cache(parse: Parse, tmp_path: Path) -> None:
    case = CASES["scalars, Direct"]
    first = runtime.compile_cached(
        "key", lambda: case.attach(parse(case.kernel)), cache_dir=tmp_path
    )
    second = runtime.compile_cached("key", lambda: 1 / 0, cache_dir=tmp_path)
    assert case.right(second["f"]) == case.right(first["f"]) == case.expected
    assert "@__tvm_ffi_f" in str(second.mlir)


def test_what_can_be_shown(parse: Parse) -> None:
    compiled = of_two(parse)
    assert "llvm.func @__tvm_ffi_first" in str(compiled.mlir)
    assert re.search(r"define .*i32 @__tvm_ffi_first\(", str(compiled.llvm_ir))
    assert "__tvm_ffi_first:" in str(compiled.assembly)


def test_a_module_that_does_not_verify(parse: Parse) -> None:
    module = parse("llvm.func @kernel() -> i32 {\n  llvm.unreachable\n}")
    function = module.body.operations[0].operation
    del function.attributes["function_type"]
    with pytest.raises(
        CompileError, match=r"MLIR's verifier refuses the module: (?s:.*)function_type"
    ):
        runtime.compile(module)


def test_columns(note: Note) -> None:
    for column in ("compile, export", "call", "errors"):
        note(column, "yes" if column != "errors" else "the same words")
