"""Helpers that modules share are compiled once, and what is shown and exported has them all the same."""

from __future__ import annotations

import contextlib
import ctypes
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import runtime
from ffi_builder.protocol import SHARED
from ffi_builder.runtime import elf
from ffi_builder.runtime.jit import object_cache
from ffi_builder.runtime.jit.object_cache import split_helpers
from tests.runtime.samples import TORCH_IR, mlir_entry, parse, parse_with_jaxlib


def module(tag: str, entry: str = "f", linkage: str = "internal", weight: int = 5) -> str:
    """A function that gives `letter(v) + weight`, where the letter is behind two helpers and a global."""
    name = f"{SHARED}{{}}_{tag}".format
    return f"""
      llvm.func @labs(i64) -> i64
      llvm.func @not_there(i64) -> i64
      llvm.mlir.global {linkage} constant @{name("letters")}("abcdef") : !llvm.array<6 x i8>
      llvm.func {linkage} @{name("inner")}(%i: i64) -> i64 attributes {{passthrough = ["noinline"]}} {{
        %letters = llvm.mlir.addressof @{name("letters")} : !llvm.ptr
        %at = llvm.getelementptr %letters[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
        %letter = llvm.load %at : !llvm.ptr -> i8
        %wide = llvm.zext %letter : i8 to i64
        %weight = llvm.mlir.constant({weight} : i64) : i64
        %sum = llvm.add %wide, %weight : i64
        llvm.return %sum : i64
      }}
      llvm.func {linkage} preserve_mostcc @{name("outer")}(%i: i64 {{llvm.noundef}}) -> i64
          attributes {{passthrough = ["noinline", "cold"]}} {{
        %positive = llvm.call @labs(%i) : (i64) -> i64
        %sum = llvm.call @{name("inner")}(%positive) : (i64) -> i64
        llvm.return %sum : i64
      }}
      {mlir_entry(entry, f"%x = llvm.call preserve_mostcc @{name('outer')}(%v) : (i64) -> i64")}
    """


def test_helpers_become_declarations_and_an_object() -> None:
    given: Any = parse(module("split"))
    before = str(given)
    with split_helpers(given) as (own, objects):
        text = str(own)
    assert str(given) == before
    assert (
        f"llvm.func preserve_mostcc @{SHARED}outer_split(i64 {{llvm.noundef}}) -> i64 attributes"
        in text
    )
    assert "letters" not in text
    names = {symbol.name for symbol in elf.read_object(objects[0]).symbols if symbol.defined}
    assert {f"{SHARED}outer_split", f"{SHARED}inner_split"} <= names


def test_a_helper_is_compiled_once() -> None:
    first, second = (helpers_of(module("once", f"f{i}")) for i in range(2))
    assert first[0] is second[0]
    assert helpers_of(module("other"))[0] is not first[0]


def helpers_of(text: str) -> list[bytes]:
    with split_helpers(parse(text)) as (_, objects):  # pyright: ignore[reportArgumentType]
        return objects


def test_a_module_without_helpers_stays_as_it_is() -> None:
    given: Any = parse(mlir_entry("f"))
    with split_helpers(given) as split:
        assert split == (given, [])


def test_a_module_is_as_it_was_after_it_was_split() -> None:
    """Also where compiling took its wrappers out, or failed."""
    text = "llvm.func @before()\n" + module("lent") + "llvm.func @after()\n"
    given: Any = parse(text)
    before = str(given)
    for _ in range(4):  # the wrapper is compiled apart from the third time on
        object_cache.objects(given, 1)
        assert str(given) == before
    with contextlib.suppress(ZeroDivisionError), split_helpers(given) as (own, _):
        assert str(own) != before
        raise ZeroDivisionError
    assert str(given) == before


def test_functions_call_shared_helpers() -> None:
    compiled = [runtime.compile(module("call", f"f{i}")) for i in range(3)]
    assert [c[f"f{i}"](-i) for i, c in enumerate(compiled)] == [102, 103, 104]
    assert runtime.compile(parse(module("call")))["f"](1) == 103


def test_texts_and_object_are_complete() -> None:
    compiled = runtime.compile(module("whole"))
    assert f"llvm.func internal preserve_mostcc @{SHARED}outer_whole" in str(compiled.mlir)
    assert "define internal preserve_mostcc" in str(compiled.llvm_ir)
    assert runtime.compile(compiled.object)["f"](1) == 103
    assert runtime.compile(compiled.llvm_ir)["f"](1) == 103
    assert runtime.compile(compiled.mlir)["f"](1) == 103


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_an_exported_object_is_complete(tmp_path: Path) -> None:
    runtime.compile(module("export")).export_object(tmp_path / "f.o")
    subprocess.run(["gcc", "-shared", "-Wl,-z,defs", "f.o", "-o", "f.so"], cwd=tmp_path, check=True)
    assert hasattr(ctypes.CDLL(str(tmp_path / "f.so")), "__tvm_ffi_f")


def test_two_modules_with_the_same_helper_in_one_library() -> None:
    other = runtime.compile(module("both", "g"))
    assert other.llvm_ir is not None
    compiled = runtime.compile(
        module("both", "f"),
        link=[
            other.llvm_ir,
        ],
    )
    assert (compiled["f"](1), compiled["g"](1)) == (103, 103)


def test_a_helper_that_needs_what_only_the_module_has_is_not_shared() -> None:
    text = f"""
      llvm.func internal @mine(%i: i64) -> i64 {{ llvm.return %i : i64 }}
      llvm.func internal @{SHARED}odd(%i: i64) -> i64 {{
        %x = llvm.call @mine(%i) : (i64) -> i64
        llvm.return %x : i64
      }}
      {mlir_entry("f", f"%x = llvm.call @{SHARED}odd(%v) : (i64) -> i64")}"""
    assert runtime.compile(text)["f"](42) == 42


def test_helpers_that_a_pipeline_may_have_changed_are_not_replaced() -> None:
    """A pass may specialise an internal function for its one caller."""
    plain = runtime.compile(module("pass", weight=5))
    changed = runtime.compile(module("pass", weight=6), pipeline="builtin.module(cse)")
    assert (plain["f"](0), changed["f"](0)) == (102, 103)


def test_helpers_that_a_hook_attaches_are_shared() -> None:
    def attach(lowered: Any) -> None:
        source = TORCH_IR.Module.parse(module("hook"), lowered.context)
        for op in source.body.operations:
            lowered.body.append(op.operation.clone())

    compiled = runtime.compile(
        "module {}", pipeline="builtin.module(cse)", post_compile_hooks=[attach]
    )
    assert compiled["f"](0) == 102
    assert len(compiled.object) > 0


def test_threads_share_too() -> None:
    results: list[int] = []
    threads = [
        threading.Thread(target=lambda: results.append(runtime.compile(module("threads"))["f"](0)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [102] * 8


def test_helpers_in_a_module_of_jaxlib() -> None:
    assert runtime.compile(parse_with_jaxlib(module("jax")))["f"](0) == 102
