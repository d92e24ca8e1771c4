"""The surface of a compiled module: names, addresses, texts, export."""

from __future__ import annotations

import ctypes
import inspect
import re
import subprocess
from pathlib import Path

import pytest

from ffi_builder import attach, runtime
from ffi_builder.providers import NopCallProvider
from ffi_builder.spec import Signature, Var
from tests.runtime.samples import ADD_ONE, llvm_entry, mlir_entry, needs_cc
from tests.support.wrapping import new_module

TWO = ADD_ONE + mlir_entry("twice", "%x = llvm.add %v, %v : i64")


def test_it_is_a_mapping_of_names_without_the_prefix() -> None:
    compiled = runtime.compile(TWO)
    assert compiled.functions == ("add_one", "twice")
    assert list(compiled) == ["add_one", "twice"]
    assert len(compiled) == 2
    assert "twice" in compiled
    assert "__tvm_ffi_twice" not in compiled
    assert repr(compiled) == "<CompiledModule add_one, twice>"
    assert compiled["twice"](21) == 42


def test_an_unknown_name_is_a_key_error_that_lists_the_names() -> None:
    compiled = runtime.compile(TWO)
    words = re.escape("No function `matmul` in the compiled module, which has: add_one, twice")
    with pytest.raises(KeyError, match=rf"^{words}$"):
        compiled["matmul"]
    with pytest.raises(KeyError, match=words):
        compiled.address("matmul")


def test_a_module_without_functions() -> None:
    compiled = runtime.compile("llvm.func @kernel() { llvm.return }")
    assert not compiled.functions
    assert repr(compiled) == "<CompiledModule without functions>"
    with pytest.raises(KeyError, match="none: it defines no `__tvm_ffi_"):
        compiled["kernel"]


def test_internal_functions_and_descriptions_are_not_listed() -> None:
    text = (
        llvm_entry("f")
        + llvm_entry("hidden").replace("define", "define internal")
        + llvm_entry("_metadata_f")
        + llvm_entry("_doc_f")
    )
    assert runtime.compile(text).functions == ("f",)


SAFE_CALL = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p
)


def call_raw(address: int, value: int) -> int:
    arguments = (ctypes.c_int64 * 2)(1, value)
    result = (ctypes.c_int64 * 2)()
    assert SAFE_CALL(address)(None, arguments, 1, result) == 0
    return result[1]


def test_addresses_are_those_of_the_code() -> None:
    compiled = runtime.compile(TWO)
    assert call_raw(compiled.address("add_one"), 41) == 42
    assert call_raw(compiled.address("twice"), 41) == 82
    assert compiled.address("twice") == compiled.address("twice")
    again = runtime.compile(compiled.object)
    assert call_raw(again.address("twice"), 41) == 82


def test_mlir_is_the_lowered_module() -> None:
    text = f"func.func @f() {{ return }} {ADD_ONE}"
    pipeline = "builtin.module(convert-to-llvm)"
    compiled = runtime.compile(text, pipeline=pipeline)
    assert "llvm.func @f()" in str(compiled.mlir)
    assert runtime.compile(llvm_entry("f")).mlir is None


def test_texts_can_be_compiled_again() -> None:
    compiled = runtime.compile(ADD_ONE)
    assert runtime.compile(compiled.mlir)["add_one"](41) == 42
    assert runtime.compile(compiled.llvm_ir)["add_one"](41) == 42
    assert runtime.compile(compiled.object)["add_one"](41) == 42


def test_assembly() -> None:
    assert "__tvm_ffi_add_one:" in str(runtime.compile(ADD_ONE).assembly)
    assert "nop" in str(
        runtime.compile(
            llvm_entry("f", 'call void asm sideeffect "nop", ""()\n%x = add i64 0, 1')
        ).assembly
    )


def test_an_object_has_no_texts() -> None:
    data = runtime.compile(ADD_ONE).object
    compiled = runtime.compile(data)
    assert compiled.object == data
    assert compiled.mlir is None
    assert compiled.llvm_ir is None
    assert compiled.assembly is None


@needs_cc
def test_an_exported_object_links_with_the_systems_linker(tmp_path: Path) -> None:
    runtime.compile(TWO).export_object(tmp_path / "two.o")
    assert [path.name for path in tmp_path.iterdir()] == ["two.o"]
    command = ["gcc", "-shared", "two.o", "-o", "two.so"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
    library = ctypes.CDLL(str(tmp_path / "two.so"))
    address = ctypes.cast(library["__tvm_ffi_twice"], ctypes.c_void_p).value
    assert address is not None
    assert call_raw(address, 21) == 42


def test_an_export_leaves_out_what_was_linked(tmp_path: Path) -> None:
    linked = runtime.compile(ADD_ONE, link=[llvm_entry("g")])
    linked.export_object(tmp_path / "a.o")
    assert runtime.compile((tmp_path / "a.o").read_bytes()).functions == ("add_one",)


def test_a_path_in_link(tmp_path: Path) -> None:
    runtime.compile(llvm_entry("g")).export_object(tmp_path / "g.o")
    (tmp_path / "h.ll").write_text(llvm_entry("h"))
    compiled = runtime.compile(ADD_ONE, link=[tmp_path / "g.o", tmp_path / "h.ll"])
    assert compiled.functions == ("add_one", "g", "h")
    with pytest.raises(FileNotFoundError):
        runtime.compile(ADD_ONE, link=[tmp_path / "missing.o"])
    assert runtime.compile(ADD_ONE, link=[str(tmp_path / "g.o")]).functions == ("add_one", "g")
    with pytest.raises(TypeError, match=r"or a path for link\[0\], but got other text"):
        runtime.compile(ADD_ONE, link=["f(x)"])


@pytest.mark.parametrize("address", [None, "0x10", 1.5, True, ctypes.c_void_p(16)])
def test_an_address_is_an_int(address: object) -> None:
    with pytest.raises(TypeError, match="code address as an int"):
        runtime.function_at(address, owner=None)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("address", [0, -1, 1 << 64])
def test_an_address_is_in_range(address: int) -> None:
    with pytest.raises(ValueError, match="Expected a code address"):
        runtime.function_at(address, owner=None)


def test_a_module_of_one_function_is_called() -> None:
    compiled = runtime.compile(ADD_ONE)
    assert compiled(41) == 42
    two = runtime.compile(ADD_ONE, link=[llvm_entry("g")])
    words = (
        "The compiled module is called if it has one function, but it has `add_one`, `g`: choose"
    )
    with pytest.raises(TypeError, match=words):
        two(41)
    with pytest.raises(TypeError, match="but it has none"):
        runtime.compile("define void @f() { ret void }")()
    assert hasattr(two, "__call__")  # noqa: B004  # as tools ask
    assert not hasattr(two, "__signature__")


def test_a_module_of_one_function_has_its_signature() -> None:
    module = new_module()
    attach(
        module, Signature("f", [Var("a", "int32"), Var("b", "int32", default=3)]), NopCallProvider()
    )
    compiled = runtime.compile(module)
    assert str(inspect.signature(compiled)) == "(a: int32, b: int32 = 3)"
    assert "source" in inspect.signature(runtime.CompiledModule).parameters


def test_a_loaded_library_of_one_function_is_called(tmp_path: Path) -> None:
    runtime.compile(ADD_ONE).export_library(tmp_path / "a.so")
    assert runtime.load(tmp_path / "a.so")(41) == 42
