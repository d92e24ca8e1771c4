"""Renaming what was attached."""

from __future__ import annotations

import pytest

from ffi_builder import attach_ffi_func, rename_tvm_ffi_function, runtime
from ffi_builder.errors import BuildError
from ffi_builder.providers import NopCallProvider
from ffi_builder.spec import Var
from tests.support.printed import symbol_names
from tests.support.wrapping import attached, new_module

A = Var("a", "int32")


def test_renaming(distribution: str) -> None:
    module = attached([A], distribution=distribution)
    rename_tvm_ffi_function(module, "f", "g")
    assert module.operation.verify()
    names = symbol_names(module)
    assert "__tvm_ffi_g" in names
    assert "__tvm_ffi_f" not in names
    attach_ffi_func(module, "f", [], NopCallProvider())
    assert module.operation.verify()


def test_errors_keep_the_display_name() -> None:
    module = attached([A])
    rename_tvm_ffi_function(module, "f", "g")
    function = runtime.compile(module)["g"]
    with pytest.raises(TypeError, match=r"when calling: `f\(a: int32\)`"):
        function()


def test_callers_follow(distribution: str) -> None:
    caller = """llvm.func @caller(%p: !llvm.ptr, %n: i32) -> i32 {
        %0 = llvm.call @__tvm_ffi_f(%p, %p, %n, %p) : (!llvm.ptr, !llvm.ptr, i32, !llvm.ptr) -> i32
        %1 = llvm.mlir.addressof @__tvm_ffi_f : !llvm.ptr
        llvm.return %0 : i32
      }
      llvm.func @__tvm_ffi_f(!llvm.ptr, !llvm.ptr, i32, !llvm.ptr) -> i32"""
    module = new_module(caller, distribution)
    rename_tvm_ffi_function(module, "f", "g")
    assert "llvm.call @__tvm_ffi_g(" in str(module)
    assert "llvm.mlir.addressof @__tvm_ffi_g" in str(module)


def test_to_the_same_name_changes_nothing(distribution: str) -> None:
    module = attached([A], distribution=distribution)
    before = str(module)
    rename_tvm_ffi_function(module, "f", "f")
    assert str(module) == before


def test_no_such_function(distribution: str) -> None:
    module = attached([A], distribution=distribution, name="matmul")
    attach_ffi_func(module, "add", [A], NopCallProvider())
    before = str(module)
    with pytest.raises(BuildError) as raised:
        rename_tvm_ffi_function(module, "mul", "f")
    assert str(raised.value) == (
        "the module has no function 'mul'; it has matmul, add, did you mean 'matmul'?"
    )
    with pytest.raises(BuildError, match="the module has no function 'f'; it has none"):
        rename_tvm_ffi_function(new_module("", distribution), "f", "g")
    assert str(module) == before


def test_a_name_that_is_taken(distribution: str) -> None:
    module = attached([A], distribution=distribution)
    attach_ffi_func(module, "g", [A], NopCallProvider())
    before = str(module)
    with pytest.raises(BuildError) as raised:
        rename_tvm_ffi_function(module, "f", "g")
    assert str(raised.value) == "the module has a function 'g' already"
    assert str(module) == before
