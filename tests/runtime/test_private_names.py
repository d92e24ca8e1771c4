"""Bindings of MLIR and an llvmlite that lack an attribute which they do not promise."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from ffi_builder import attach, runtime
from ffi_builder.errors import CompileError
from ffi_builder.providers import NopCallProvider
from ffi_builder.runtime import bindings
from ffi_builder.runtime.codegen import llvm, mlir
from ffi_builder.runtime.jit import supplied
from ffi_builder.spec import Signature, Var
from tests.runtime.samples import c_object, needs_cc
from tests.support.wrapping import new_module

TEXT = """
llvm.func @f(%a: i64, %p: !llvm.ptr, %b: i16) {
  %t = llvm.trunc %a : i64 to i32
  %u = llvm.trunc %a : i64 to i32
  llvm.store %t, %p {alignment = 4 : i64} : i32, !llvm.ptr
  llvm.store %u, %p {alignment = 4 : i64} : i32, !llvm.ptr
  llvm.return
}
"""


@pytest.fixture
def forgetful() -> Iterator[None]:
    """What was found in the libraries of the bindings is looked up anew, and once more afterwards."""
    found = (bindings.library, vars(mlir)["_answering"])
    for each in found:
        each.cache_clear()
    yield
    for each in found:
        each.cache_clear()


def answers() -> bool:
    return mlir.answers(new_module(TEXT))


def check() -> None:
    """Compile and call a module, and one that LLVM refuses."""
    module = new_module(TEXT)
    attach(module, Signature("nothing", [Var("n", "int32")]), NopCallProvider())
    assert "define void @f(i64 %0, ptr %1, i16 %2)" in mlir.to_llvm_ir(module).text
    assert runtime.compile(module)["nothing"](1) is None
    with pytest.raises(CompileError, match="Translating the module to LLVM IR failed"):
        mlir.to_llvm_ir(new_module(TEXT.replace("%a : i64 to i32", "%b : i16 to i32")))


def test_with_all_names() -> None:
    assert answers()
    check()


def test_bindings_without_their_c_api(forgetful: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bindings, "POINTER", "_gone")
    check()


@pytest.mark.parametrize("symbol", mlir.ANSWERING)
def test_libraries_without_a_function(
    symbol: str, forgetful: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = tuple("no_such" if name == symbol else name for name in mlir.ANSWERING)
    monkeypatch.setattr(mlir, "ANSWERING", others)
    assert not answers()
    check()


def test_llvmlite_without_the_dispose_of_its_base_class(monkeypatch: pytest.MonkeyPatch) -> None:
    managers = import_module("llvmlite.binding.newpassmanagers")
    monkeypatch.delattr(managers.NewPassManager, "_dispose")
    assert "ret i32 7" in llvm.optimised(
        "define i32 @f() {\n  %x = add i32 3, 4\n  ret i32 %x\n}", "", 2
    )


@needs_cc
def test_a_jit_that_does_not_say_when_code_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`atexit` fails then, as C allows it."""
    source = "#include <stdlib.h>\nstatic void end(void) {} ENTRY(f) { RETURN(atexit(end)); }"
    data = c_object(tmp_path, source)
    made = vars(supplied)["_endings"]
    made.cache_clear()
    monkeypatch.setattr(supplied, "JIT_ATEXIT", "__orc_rt_gone")
    assert runtime.compile(data)["f"](0) == -1
    made.cache_clear()
    monkeypatch.undo()
    assert runtime.compile(data)["f"](0) == 0
