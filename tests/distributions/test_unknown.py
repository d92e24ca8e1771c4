"""A distribution that is not one, or lacks something: the error says which, what, and what to do."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from torch_mlir import ir

from ffi_builder import BuildError, attach, providers, runtime, spec, testing
from ffi_builder.errors import CompileError
from ffi_builder.ir.distribution import Distribution, named, of_module
from tests.runtime.samples import run_child
from tests.support.wrapping import new_module

SIGNATURE = spec.Signature("f", [spec.Var("n", "int32")])
NOP = providers.NopCallProvider()
INSTEAD = (
    "; take the module over to one that has it: "
    "torch_mlir.ir.Module.parse(module.operation.get_asm(print_generic_op_form=True))"
)

Package = Callable[[str, dict[str, str]], Path]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Package:
    """Makes a package of these files that can be imported."""

    def make(name: str, files: dict[str, str]) -> Path:
        folder = tmp_path / name
        for file, text in {"__init__.py": "", **files}.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text)
        monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
        importlib.invalidate_caches()
        return folder

    return make


def module_of(root: str) -> Any:
    """Return an object that looks like an `ir.Module` of these bindings."""

    class Module:
        """Its class says which bindings it is of."""

        def __init__(self) -> None:
            inner = new_module()
            self.context, self.body, self.operation = inner.context, inner.body, self
            self.name, self.location, self.regions = "builtin.module", None, ()
            self.attributes: dict[str, object] = {}

    Module.__module__ = f"{root}._mlir_libs._mlir.ir"
    return Module()


def refused(module: object) -> str:
    with pytest.raises(BuildError) as raised:
        attach(module, SIGNATURE, NOP)  # pyright: ignore[reportArgumentType]
    return str(raised.value)


class OtherModule:
    """A module of bindings that are not upstream's, such as xDSL's."""


@pytest.mark.parametrize("value", [42, None, OtherModule(), OtherModule])
def test_what_is_no_module(value: object) -> None:
    kind = type(value)
    assert refused(value) == (
        "expected an ir.Module of an MLIR Python distribution (torch_mlir, jaxlib.mlir, "
        f"iree.compiler, mlir, …) but got {kind.__name__} from {kind.__module__!r}, which has no "
        "'_mlir_libs', where upstream's bindings have their native part; if it prints MLIR, parse "
        "that: torch_mlir.ir.Module.parse(str(module))"
    )
    with pytest.raises(TypeError, match=r"^Expected an ir\.Module of .*give a module of other"):
        runtime.compile(value)


def test_text_is_no_module() -> None:
    assert refused("module {}") == (
        "expected an ir.Module but got text: parse it, as torch_mlir.ir.Module.parse(text, "
        "context) does, or attach in a hook of runtime.compile, which takes text"
    )


def test_a_part_of_a_module() -> None:
    module = new_module("llvm.func @f()")
    operation = module.body.operations[0]
    for part in (module.operation, module.body, operation, operation.operation, module.context):
        assert refused(part).endswith(": pass the ir.Module, not an operation or a part of it")


def test_a_package_without_ir(package: Package) -> None:
    folder = package("no_ir", {})
    named_words = refused(module_of("no_ir"))
    assert named_words == (
        f"the MLIR distribution 'no_ir' (of {folder}) lacks a part that wrappers need: "
        f"no_ir.ir (No module named 'no_ir.ir'){INSTEAD}"
    )
    with pytest.raises(CompileError) as raised:
        runtime.compile(module_of("no_ir"))
    assert str(raised.value) == (
        "Compiling needs no_ir.ir of the MLIR distribution that the module belongs to, which "
        "cannot be imported (No module named 'no_ir.ir'); take the module over to another one, "
        "such as torch-mlir, which reads it as text: "
        "module.operation.get_asm(print_generic_op_form=True)"
    )


@pytest.mark.parametrize("files", [{}, {"dialects/__init__.py": ""}])
def test_a_package_without_the_llvm_dialect(files: dict[str, str], package: Package) -> None:
    name = f"no_llvm_{len(files)}"
    folder = package(name, {"ir.py": "from torch_mlir.ir import *\n", **files})
    lacking = f"{name}.dialects.llvm" if files else f"{name}.dialects"
    assert refused(module_of(name)) == (
        f"the MLIR distribution {name!r} (of {folder}) lacks a part that wrappers need: "
        f"{name}.dialects.llvm (No module named {lacking!r}){INSTEAD}"
    )


def test_a_package_without_classes(package: Package) -> None:
    folder = package(
        "no_arrays",
        {
            "ir.py": "from torch_mlir.ir import *\ndel DenseI32ArrayAttr, SymbolTable\n",
            "dialects/__init__.py": "",
            "dialects/llvm.py": "",
        },
    )
    assert refused(module_of("no_arrays")) == (
        f"the MLIR distribution 'no_arrays' (of {folder}) lacks a part that wrappers need: "
        f"in no_arrays.ir DenseI32ArrayAttr, SymbolTable{INSTEAD}"
    )
    with pytest.raises(BuildError, match="DenseI32ArrayAttr, SymbolTable"):
        testing.emit(SIGNATURE, mlir="no_arrays")


def test_a_package_that_is_not_there() -> None:
    with pytest.raises(BuildError) as raised:
        testing.emit(SIGNATURE, mlir="absent.bindings")
    assert str(raised.value) == (
        "there is no MLIR distribution 'absent.bindings' (No module named 'absent'): install it, or "
        "name another one, such as 'torch_mlir'"
    )


def test_a_package_that_does_not_get_along_with_another(package: Package) -> None:
    clash = "raise ImportError('libMLIR.so: undefined symbol: nb_module_free')\n"
    folder = package("clashing", {"ir.py": clash})
    with pytest.raises(BuildError) as raised:
        named("clashing")
    words = str(raised.value)
    assert words.startswith(
        f"the MLIR distribution 'clashing' (of {folder}) cannot be imported: "
        f"libMLIR.so: undefined symbol: nb_module_free; it may be incompatible with "
    )
    assert "torch_mlir" in words
    assert words.endswith(" in one process")


class OldContext:
    """A context with an LLVM dialect that lacks some operations."""

    def __init__(self, *lacking: str) -> None:
        self.lacking = lacking
        self.dialects = {"llvm": "the LLVM dialect"}

    def is_registered_operation(self, name: str) -> bool:
        return name not in self.lacking


def old(root: str, *lacking: str) -> Distribution:
    """Bindings whose LLVM dialect lacks some attributes: those of calling conventions, as text."""

    def parse(text: str, context: object) -> object:
        if text in lacking:
            raise ValueError(text)
        return text

    return Distribution(root, types.SimpleNamespace(Attribute=types.SimpleNamespace(parse=parse)))


def test_an_llvm_dialect_without_some_operations_and_enums() -> None:
    distribution = old("old_mlir", "#llvm.cconv<preserve_mostcc>")
    context = OldContext("llvm.intr.smul.with.overflow", "llvm.mlir.zero")
    for _ in range(2):
        with pytest.raises(BuildError) as raised:
            distribution.load_llvm(context)
        assert str(raised.value) == (
            "the MLIR distribution 'old_mlir' lacks a part that wrappers need: in its LLVM dialect "
            "llvm.intr.smul.with.overflow, llvm.mlir.zero, #llvm.cconv<preserve_mostcc>" + INSTEAD
        )
    old("new_mlir").load_llvm(OldContext())


def test_a_context_without_the_llvm_dialect() -> None:
    context = OldContext()
    context.dialects = {}
    with pytest.raises(BuildError, match=r"'bare_mlir' has no LLVM dialect .*: none is registered"):
        old("bare_mlir").load_llvm(context)


def test_no_pass_manager(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch_mlir.passmanager", None)
    with pytest.raises(
        CompileError, match=r"^Compiling needs torch-mlir, which cannot be imported"
    ):
        runtime.compile(new_module(), pipeline="builtin.module(cse)")


def test_it_is_found_by_the_class_of_the_module() -> None:
    assert of_module(new_module()).root == "torch_mlir"
    assert of_module(new_module()).ir is ir


WITHOUT_TORCH_MLIR = """
import sys
sys.modules["torch_mlir.ir"] = None
from ffi_builder import runtime
from tests.support.wrapping import new_module
runtime.compile(new_module("llvm.func @f() {\\n  llvm.return\\n}", "jaxlib.mlir"))
"""


def test_nothing_translates() -> None:
    pytest.importorskip("jaxlib")
    done = run_child(WITHOUT_TORCH_MLIR)
    assert done.stderr.splitlines()[-1] == (
        "ffi_builder.errors.CompileError: jaxlib.mlir does not translate to LLVM IR, so torch-mlir "
        "was asked to: Compiling needs torch-mlir, which cannot be imported (import of "
        "torch_mlir.ir halted; None in sys.modules): install it, as the extra ffi_builder[mlir] "
        "does: pip install -e '.[mlir]' in a clone"
    )
