"""Inputs of `compile`, and the modules that it makes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ffi_builder import runtime
from ffi_builder.errors import CompileError
from tests.runtime.samples import (
    ADD_ONE,
    TORCH_IR,
    c_object,
    llvm_entry,
    mlir_entry,
    needs_cc,
    parse,
    parse_with_jaxlib,
)

LOWERING = "builtin.module(convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)"

SUM_TO = """
  func.func private @sum_to(%n: i64) -> i64 {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %zero) -> i64 : i64 {
      %next = arith.addi %acc, %i : i64
      scf.yield %next : i64
    }
    return %sum : i64
  }"""


def test_an_mlir_module() -> None:
    assert runtime.compile(parse(ADD_ONE))["add_one"](41) == 42


def test_a_modules_operation() -> None:
    module: Any = parse(ADD_ONE)
    assert runtime.compile(module.operation)["add_one"](41) == 42


@pytest.mark.parametrize(
    "prefix", ["", "\n\n  // a comment\n", "module {", '"builtin.module"() ({\n']
)
def test_mlir_text(prefix: str) -> None:
    suffix = {"m": "}", '"': "\n}) : () -> ()"}.get(prefix[:1], "")
    assert runtime.compile(prefix + ADD_ONE + suffix)["add_one"](41) == 42


@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "; ModuleID = 'x'\n",
        'source_filename = "x"\n',
        "@counter = internal global i32 0\n",
        "%pair = type { i32, i32 }\n",
        "declare void @abort()\n",
        "attributes #0 = { nounwind }\n",
        '!llvm.ident = !{!0}\n!0 = !{!"x"}\n',
        '!0 = !{!"x"}\n',
    ],
)
def test_llvm_ir(prefix: str) -> None:
    assert runtime.compile(prefix + llvm_entry("add_one"))["add_one"](41) == 42


@needs_cc
def test_an_object(tmp_path: Path) -> None:
    data = c_object(tmp_path, "ENTRY(add_one) { RETURN(args[1] + 1); }")
    assert runtime.compile(data)["add_one"](41) == 42
    assert runtime.compile(bytearray(data))["add_one"](41) == 42


def test_a_pipeline() -> None:
    text = SUM_TO + mlir_entry("sum_to", "%x = func.call @sum_to(%v) : (i64) -> i64")
    assert runtime.compile(text, pipeline=LOWERING)["sum_to"](5) == 10


def test_hooks_get_the_lowered_module_in_order() -> None:
    seen: list[str] = []

    def look(module: Any) -> None:
        assert isinstance(module, TORCH_IR.Module)
        seen.append(str(module))

    def attach(module: Any) -> None:
        call = "%x = llvm.call @sum_to(%v) : (i64) -> i64"
        text = f"llvm.func @sum_to(i64) -> i64\n{mlir_entry('sum_to', call)}"
        entry = TORCH_IR.Module.parse(text, module.context)
        module.body.append(entry.body.operations[1].operation.clone())

    source = parse(SUM_TO)
    hooks = [look, attach, look]
    compiled = runtime.compile(source, pipeline=LOWERING, post_compile_hooks=hooks)
    assert compiled["sum_to"](5) == 10
    assert "llvm.func @sum_to" in seen[0]
    assert "__tvm_ffi_sum_to" not in seen[0]
    assert "__tvm_ffi_sum_to" in seen[1]
    assert "scf.for" in str(source)


def test_a_hooks_own_error_comes_through() -> None:
    def hook(module: object) -> None:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        runtime.compile(ADD_ONE, post_compile_hooks=[hook])


def test_what_is_given_stays_as_it_is() -> None:
    module: Any = parse(SUM_TO + mlir_entry("f", "%x = func.call @sum_to(%v) : (i64) -> i64"))
    before = str(module)

    def hook(lowered: Any) -> None:
        lowered.body.operations[0].operation.erase()

    with pytest.raises(CompileError):
        runtime.compile(module, pipeline=LOWERING, post_compile_hooks=[hook])
    assert str(module) == before
    assert runtime.compile(module, pipeline=LOWERING)["f"](5) == 10
    assert str(module) == before


def test_module_attributes_are_kept() -> None:
    text = f'module attributes {{llvm.target_triple = "nvptx64-nvidia-cuda"}} {{ {ADD_ONE} }}'
    with pytest.raises(CompileError, match="nvptx64-nvidia-cuda"):
        runtime.compile(text)


@pytest.mark.parametrize("level", range(4))
def test_every_opt_level(level: int) -> None:
    assert runtime.compile(ADD_ONE, opt_level=level)["add_one"](41) == 42


def test_optimisation_happens_and_can_be_left_out() -> None:
    value = "%a = add i64 %v, 2\n  %x = sub i64 %a, 1"
    assert "sub i64" not in str(runtime.compile(llvm_entry("f", value)).llvm_ir)
    assert "sub i64" in str(runtime.compile(llvm_entry("f", value), opt_level=0).llvm_ir)
    frozen = llvm_entry("f", value).replace("{", "noinline optnone {", 1)
    compiled = runtime.compile(frozen)
    assert "sub i64" in str(compiled.llvm_ir)
    assert compiled["f"](1) == 2


def test_link_adds_parts_in_order() -> None:
    main = "declare i64 @twice(i64)\n" + llvm_entry("f", "%x = call i64 @twice(i64 %v)")
    twice = "define i64 @twice(i64 %v) {\n  %x = add i64 %v, %v\n  ret i64 %x\n}"
    other = runtime.compile(llvm_entry("g")).object
    compiled = runtime.compile(main, link=[twice, other])
    assert compiled.functions == ("f", "g")
    assert (compiled["f"](21), compiled["g"](1)) == (42, 2)


def test_modules_do_not_see_each_other() -> None:
    plus = [runtime.compile(llvm_entry("f", f"%x = add i64 %v, {i}")) for i in range(5)]
    assert [compiled["f"](10) for compiled in plus] == [10, 11, 12, 13, 14]


def test_a_module_of_jaxlib_which_cannot_translate() -> None:
    module = parse_with_jaxlib(ADD_ONE)
    compiled = runtime.compile(module)
    assert compiled["add_one"](41) == 42
    assert runtime.compile(module.operation)["add_one"](41) == 42
    assert "llvm.func @__tvm_ffi_add_one" in str(compiled.mlir)


def test_a_pipeline_runs_in_the_modules_own_distribution() -> None:
    module = parse_with_jaxlib(ADD_ONE)
    assert runtime.compile(module, pipeline="builtin.module(cse)")["add_one"](1) == 2
    with pytest.raises(CompileError, match=r"in jaxlib\.mlir"):
        runtime.compile(module, pipeline="builtin.module(no-such-pass)")
