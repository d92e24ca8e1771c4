"""Objects: what is in them, which symbols they show, and that files come whole or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ffi_builder import CompileError, runtime
from tests.runtime.exporting import every_kind_module, run, scaling, visible
from tests.runtime.samples import ADD_ONE, c_object, llvm_entry, mlir_entry, needs_cc

SCALE = {"__tvm_ffi_scale", "__tvm_ffi__metadata_scale", "__tvm_ffi__doc_scale"}


@pytest.fixture(scope="module")
def scale() -> runtime.CompiledModule:
    return runtime.compile(scaling())


def scaled(function: Any) -> list[float]:
    x = np.array([1.0, 2.0], "float32")
    function(x, 3)
    return x.tolist()


def test_an_exported_object_is_what_was_compiled(
    scale: runtime.CompiledModule, tmp_path: Path
) -> None:
    every = runtime.compile(every_kind_module())
    every.export_object(tmp_path / "every.o")
    again = runtime.compile((tmp_path / "every.o").read_bytes())
    assert again["every_kind"].__doc__ == every["every_kind"].__doc__
    assert again["every_kind"].__signature__ == every["every_kind"].__signature__
    scale.export_object(tmp_path / "a.o")
    again = runtime.compile((tmp_path / "a.o").read_bytes())
    assert again.functions == ("scale",)
    assert scaled(again["scale"]) == [3, 6]
    x = np.ones(2, "float32")
    again.callable("scale")(x, factor=4)
    again.callable("scale")(x)
    assert x.tolist() == [8, 8]
    assert again["scale"].__doc__ == scale["scale"].__doc__
    assert again.callable("scale").__doc__ == scale.callable("scale").__doc__


def test_an_object_exported_again_is_the_same(
    scale: runtime.CompiledModule, tmp_path: Path
) -> None:
    def export(compiled: runtime.CompiledModule, folder: str) -> list[bytes]:
        here = tmp_path / folder
        here.mkdir()
        compiled.export_object(here / "a.o", header=here / "a.h", stub=here / "a.pyi")
        return [(here / name).read_bytes() for name in ("a.o", "a.h", "a.pyi")]

    first = export(scale, "first")
    assert export(scale, "second") == first
    assert export(runtime.compile(first[0]), "third") == first


def test_a_module_out_of_the_cache_is_exported_too(tmp_path: Path) -> None:
    for _ in range(2):
        compiled = runtime.compile_cached("scale", scaling, cache_dir=tmp_path / "cache")
        compiled.export_object(tmp_path / "a.o", export_only=["scale"], stub=tmp_path / "a.pyi")
        assert visible(tmp_path / "a.o") == SCALE
        assert scaled(runtime.compile((tmp_path / "a.o").read_bytes())["scale"]) == [3, 6]
        assert "def scale(x: _Array, factor: float = 2.0)" in (tmp_path / "a.pyi").read_text()
        (tmp_path / "a.o").unlink()


OTHER = {name.replace("scale", "other") for name in SCALE}
OWN = llvm_entry("_metadata_scale", "%x = add i64 0, 42")
SHOWN: dict[str, tuple[Callable[[], Any], set[str]]] = {
    "a function that says nothing of itself": (lambda: ADD_ONE, {"__tvm_ffi_add_one"}),
    "a description of the authors": (
        lambda: f"{runtime.compile(scaling()).llvm_ir}{OWN}",
        SCALE | {"kernel"},
    ),
    "two functions": (lambda: scaling("scale", "other"), SCALE | OTHER | {"kernel"}),
}


@pytest.mark.parametrize("what", SHOWN)
def test_without_export_only_everything_of_the_authors_stays(tmp_path: Path, what: str) -> None:
    make, expected = SHOWN[what]
    runtime.compile(make()).export_object(tmp_path / "a.o")
    assert visible(tmp_path / "a.o") == expected


@pytest.mark.parametrize("level", [0, 2])
def test_export_only(tmp_path: Path, level: int) -> None:
    compiled = runtime.compile(scaling("scale", "other"), opt_level=level)
    compiled.export_object(
        tmp_path / "a.o", export_only=["scale", "scale"], stub=tmp_path / "a.pyi"
    )
    assert visible(tmp_path / "a.o") == SCALE
    again = runtime.compile((tmp_path / "a.o").read_bytes())
    assert again.functions == ("scale",)
    assert scaled(again["scale"]) == [3, 6]
    assert "def other" not in (tmp_path / "a.pyi").read_text()


def test_export_only_hides_all_that_llvm_ir_can_define(tmp_path: Path) -> None:
    text = f"""
      $odd = comdat any
      @variable = global i32 1
      @weak = weak hidden global i32 2
      @zero = common global i32 0
      @"an alias" = alias i32, ptr @variable
      @llvm.used = appending global [1 x ptr] [ptr @variable], section "llvm.metadata"
      @elsewhere = external global i32
      define linkonce_odr void @odd() comdat {{ ret void }}
      define protected void @seen() {{ store i32 1, ptr @"an alias" ret void }}
      {llvm_entry("f")}
      {llvm_entry("g")}"""
    runtime.compile(text, link=["@elsewhere = global i32 5"]).export_object(
        tmp_path / "a.o", export_only=["f"]
    )
    assert visible(tmp_path / "a.o") == {"__tvm_ffi_f"}


def test_export_only_of_a_function_that_is_not_there(tmp_path: Path) -> None:
    compiled = runtime.compile(ADD_ONE, link=[llvm_entry("g")])
    words = "No function `f` in what is exported, which has: add_one$"
    with pytest.raises(KeyError, match=words):
        compiled.export_object(tmp_path / "a.o", export_only=["add_one", "f"])
    with pytest.raises(KeyError, match="`g`"):  # it is linked to the module, not in it
        compiled.export_object(tmp_path / "a.o", export_only=["g"])
    with pytest.raises(TypeError, match=r"'add_one': put it into a list"):
        compiled.export_object(tmp_path / "a.o", export_only="add_one")
    with pytest.raises(ValueError, match="no name"):
        compiled.export_object(tmp_path / "a.o", export_only=[])
    assert not list(tmp_path.iterdir())


@needs_cc
def test_export_only_of_an_object(tmp_path: Path) -> None:
    data = c_object(tmp_path, "ENTRY(f) { RETURN(1); }\nint kernel(void) { return 1; }")
    with pytest.raises(CompileError, match="cannot hide `kernel`: use export_library"):
        runtime.compile(data).export_object(tmp_path / "a.o", export_only=["f"])
    data = c_object(tmp_path, "ENTRY(f) { RETURN(1); }\nstatic int kernel(void) { return 1; }")
    runtime.compile(data).export_object(tmp_path / "a.o", export_only=["f"])
    assert (tmp_path / "a.o").read_bytes() == data


def test_all_files_or_none(scale: runtime.CompiledModule, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for wrong in ("folder", "missing/a.h"):
        with pytest.raises(OSError, match=re.escape(wrong)):
            scale.export_object(tmp_path / "a.o", stub=tmp_path / "a.pyi", header=tmp_path / wrong)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    assert not list((tmp_path / "folder").iterdir())


def test_what_was_there_stays_after_an_error(scale: runtime.CompiledModule, tmp_path: Path) -> None:
    (tmp_path / "a.o").write_text("old")
    with pytest.raises(FileNotFoundError):
        scale.export_object(tmp_path / "a.o", header=tmp_path / "missing" / "a.h")
    assert (tmp_path / "a.o").read_text() == "old"
    scale.export_object(tmp_path / "a.o")
    assert (tmp_path / "a.o").read_bytes()[:4] == b"\x7fELF"


def test_one_path_for_two_files(scale: runtime.CompiledModule, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"Two files are to be written to `.*a\.o`"):
        scale.export_object(tmp_path / "a.o", header=tmp_path / "." / "a.o")
    assert not list(tmp_path.iterdir())


def test_files_are_made_with_the_umask(scale: runtime.CompiledModule, tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        scale.export_object(tmp_path / "a.o", stub=str(tmp_path / "a.pyi"))
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o640}


@needs_cc
def test_objects_of_several_modules_in_one_library(tmp_path: Path) -> None:
    """Helpers are internal; kernels of the same name are, with `export_only`."""
    runtime.compile(scaling("f")).export_object(tmp_path / "f.o", export_only=["f"])
    runtime.compile(scaling("g", weight=10.0)).export_object(tmp_path / "g.o", export_only=["g"])
    objects = [tmp_path / "f.o", tmp_path / "g.o"]
    run("gcc", "-shared", *objects, "-o", tmp_path / "both.so")
    both = runtime.load(tmp_path / "both.so")
    assert both.functions == ("f", "g")
    assert (scaled(both["f"]), scaled(both["g"])) == ([3, 6], [30, 60])
    jit = runtime.compile(objects[0].read_bytes(), link=[objects[1]])
    assert (scaled(jit["f"]), scaled(jit["g"])) == ([3, 6], [30, 60])
    assert jit.callable("g").__doc__ == both.callable("g").__doc__


@needs_cc
def test_objects_of_several_modules_without_export_only(tmp_path: Path) -> None:
    """All but the kernel is there once, or internal."""
    runtime.compile(scaling("f")).export_object(tmp_path / "f.o")
    runtime.compile(mlir_entry("h")).export_object(tmp_path / "h.o")
    run("gcc", "-shared", tmp_path / "f.o", tmp_path / "h.o", "-o", tmp_path / "both.so")
    assert runtime.load(tmp_path / "both.so").functions == ("f", "h")


def test_export_only_of_what_ends_the_parser_is_an_error(tmp_path: Path) -> None:
    deep = "@g = global " + "[1 x " * 60_000 + "i8" + "]" * 60_000 + " undef"
    lowered = runtime.lower(llvm_entry("f"), link=[])
    lowered.export_object(tmp_path / "f.o", export_only=["f"])
    with pytest.raises(CompileError, match="nested too deep"):
        runtime.lower(llvm_entry("f") + deep).export_object(tmp_path / "g.o", export_only=["f"])
