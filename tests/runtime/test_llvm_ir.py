"""`runtime.llvm_ir`: LLVM IR for a JIT of the author's own."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import pytest
import tvm_ffi
from tvm_ffi import libinfo

from ffi_builder import attach, providers, runtime, support
from ffi_builder.errors import CompileError
from ffi_builder.spec import Signature
from tests.runtime.samples import llvm_entry
from tests.support.wrapping import new_module

llvm: Any = import_module("llvmlite.binding")

# 0.1 is a float that MLIR's LLVM prints in a form of its own.
KERNEL = """
llvm.func @kernel(%x: f32) -> f32 {
  %factor = llvm.mlir.constant(1.000000e-01 : f32) : f32
  %y = llvm.fmul %x, %factor : f32
  llvm.return %y : f32
}
"""


def tenth() -> Any:
    module = new_module(KERNEL)
    signature = Signature.parse("tenth(x: float32) -> y: float32")
    attach(module, signature, providers.DirectCallProvider("kernel"))
    return module


def compiled_with_llvmlite(text: str) -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.load_library_permanently(str(libinfo.find_libtvm_ffi()))
    llvm.load_library_permanently(str(support.library()))
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
    engine.finalize_object()
    return engine


def described(function: Any) -> tuple[object, ...]:
    """Return what `help` and `inspect` show of a function."""
    return function.__signature__, function.__name__, function.__doc__


def test_llvmlite_compiles_it_and_the_function_is_complete() -> None:
    text = runtime.llvm_ir(tenth())
    engine = compiled_with_llvmlite(text)
    address = engine.get_function_address("__tvm_ffi_tenth")
    function = runtime.function_at(address, owner=engine, module=text)
    del engine
    compiled = runtime.compile(tenth())["tenth"]
    assert function(20.0) == compiled(20.0) == pytest.approx(2)
    assert isinstance(function, tvm_ffi.Function)
    assert described(function) == described(compiled)
    with pytest.raises(TypeError, match="Mismatched type of x on argument #0 when calling: `tenth"):
        function("20")


def test_it_declares_what_the_wrapper_calls_and_is_not_optimised() -> None:
    text = runtime.llvm_ir(tenth())
    assert re.search(rf"^declare .*@{support.symbol('diagnose')}\(", text, re.MULTILINE)
    assert "call float @kernel(" in text


def test_it_takes_what_compile_takes() -> None:
    func = "func.func @f(%x: i64) -> i64 { return %x : i64 }"
    lowered = runtime.llvm_ir(
        func, pipeline="builtin.module(convert-func-to-llvm,reconcile-unrealized-casts)"
    )
    assert "define i64 @f(i64 %0)" in lowered
    hooked = runtime.llvm_ir(
        new_module(KERNEL),
        post_compile_hooks=[
            lambda module: attach(
                module,
                Signature.parse("tenth(x: float32) -> y: float32"),
                providers.DirectCallProvider("kernel"),
            )
        ],
    )
    assert "define i32 @__tvm_ffi_tenth(" in hooked


def test_llvm_ir_of_a_newer_llvm_is_rewritten() -> None:
    text = llvm_entry("f") + "@g = constant float f0x3DCCCCCD\n"
    with pytest.raises(RuntimeError):
        llvm.parse_assembly(text)
    llvm.parse_assembly(runtime.llvm_ir(text))


def test_what_has_no_llvm_ir_is_an_error() -> None:
    with pytest.raises(TypeError, match="Expected MLIR or LLVM IR, but got the bytes of an object"):
        runtime.llvm_ir(runtime.lower(llvm_entry("f")).object)
    with pytest.raises(CompileError):
        runtime.llvm_ir("func.func @f() { return }")  # not lowered
    with pytest.raises(TypeError, match="pipeline= needs an MLIR module"):
        runtime.llvm_ir(llvm_entry("f"), pipeline="builtin.module()")
