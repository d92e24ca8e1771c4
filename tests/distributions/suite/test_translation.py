"""LLVM IR: by the bindings' own translation, or as generic text by torch-mlir."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ffi_builder import CompileError, attach_ffi_func, providers, runtime, spec
from ffi_builder.runtime.codegen import mlir
from ffi_builder.runtime.codegen.mlir import WAYS, Way
from tests.distributions.suite import kernels
from tests.distributions.suite.cases import DIRECT, cpu, scale_last
from tests.distributions.suite.conftest import Note

Parse = Callable[[str], Any]
N = spec.Var("n", "int64")
SCALED = [cpu("x", [N]), spec.Var("factor", "float32")]
SCALE = providers.DynamicParamPackCallProvider("kernel", struct_call=True)

# Known to the screen neither as safe nor as wrong, so that it goes through a child process.
ASSEMBLY = """
llvm.func @kernel(%code: i32) -> i32 {
  %same = llvm.inline_asm "", "=r,0" %code : (i32) -> i32
  llvm.return %same : i32
}"""

OWN = """
import importlib, sys
from tests.support.wrapping import new_module
module = new_module("llvm.func @f() {\\n  llvm.return\\n}", sys.argv[1])
translate = importlib.import_module(f"{sys.argv[1]}.dialects.llvm").translate_module_to_llvmir
print(translate(module.operation))
"""


@pytest.fixture(scope="module")
def asked(root: str) -> subprocess.CompletedProcess[str]:
    """How it ends if the bindings' own translation is called: here, where it may crash."""
    return subprocess.run(
        [sys.executable, "-c", OWN, root], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture(scope="module")
def own(asked: subprocess.CompletedProcess[str]) -> bool:
    """Tell whether the bindings translate."""
    return asked.returncode == 0 and "define void @f()" in asked.stdout


@pytest.fixture
def forgotten() -> Iterator[None]:
    """So that distributions are tried again that are not known."""
    mlir.way_of.__globals__["_tried"].cache_clear()
    yield
    mlir.way_of.__globals__["_tried"].cache_clear()


def scaled(parse: Parse) -> object:
    module = parse(kernels.SCALE_LAST)
    attach_ffi_func(module, "f", SCALED, SCALE)
    return scale_last(runtime.compile(module)["f"], 5)


def test_what_is_known_of_it_is_so(
    root: str, own: bool, asked: subprocess.CompletedProcess[str], note: Note
) -> None:
    assert (mlir.way_of(root) is Way.OWN) is own
    why = "its own ends the process" if asked.returncode < 0 else "it has no translation"
    note("to LLVM IR", "its own" if own else f"through torch-mlir: {why}")
    if not own and asked.returncode >= 0:
        assert "translate_module_to_llvmir" in asked.stderr


def test_its_own_needs_no_other(parse: Parse, own: bool) -> None:
    loaded = "torch_mlir" in sys.modules
    assert scaled(parse) == [1, 1, 5]
    assert ("torch_mlir" in sys.modules) is (loaded or not own)


@pytest.mark.usefixtures("forgotten")
def test_one_that_is_not_known_is_tried(
    root: str, parse: Parse, own: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(WAYS, root, raising=False)
    assert scaled(parse) == [1, 1, 5]
    assert mlir.way_of(root) is (Way.OWN if own else Way.CHILD)


def test_by_torch_mlir_in_a_process_of_its_own(
    root: str, parse: Parse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(WAYS, root, Way.CHILD)
    if root != "torch_mlir":
        monkeypatch.setitem(sys.modules, "torch_mlir.ir", None)  # cannot be imported here
    assert scaled(parse) == [1, 1, 5]


def test_what_might_crash_is_translated_in_a_child(parse: Parse) -> None:
    module = parse(ASSEMBLY)
    attach_ffi_func(module, "f", [spec.Var("code", "int32")], DIRECT)
    assert runtime.compile(module)["f"](0) is None


def test_what_cannot_be_translated(parse: Parse, own: bool, root: str) -> None:
    module = parse(
        """
        func.func @kernel() {
          func.return
        }"""
    )
    with pytest.raises(CompileError, match=r"These operations cannot .*: `func\.func` at .*-"):
        runtime.compile(module)
    widening = """
        llvm.func @kernel(%x: i32) -> i64 {
          %y = llvm.trunc %x : i32 to i64
          llvm.return %y : i64
        }"""
    # LLVM's verifier says this, or FlyDSL's build of LLVM, which has assertions.
    words = r"failed at llvm\.func @kernel: (?s:.*)(DestTy too big for Trunc|Invalid cast!)"
    with pytest.raises(CompileError, match=words) as raised:
        runtime.compile(parse(widening))
    asked = f"{root} does not translate to LLVM IR, so torch-mlir was asked to: "
    assert str(raised.value).startswith(asked) is not own
