"""Modules of an author's own, in an exported library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tvm_ffi

from ffi_builder import CompileError, runtime
from ffi_builder.runtime import CustomModule
from ffi_builder.spec import Var
from tests.support.wrapping import attached

KIND = "ffi_builder_test"
load_module: Any = vars(tvm_ffi)["load_module"]


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that stands for what a custom module is."""
    path = tmp_path_factory.mktemp("other") / "other.so"
    runtime.compile(attached([Var("a", "int32")], name="other")).export_library(path)
    return path


@pytest.fixture
def loaded(other: Path) -> Iterator[list[bytes]]:
    """What the loader of the kind was given."""
    given: list[bytes] = []

    def load(data: Any) -> Any:
        given.append(bytes(data))
        return load_module(str(other))

    name = f"ffi.Module.load_from_bytes.{KIND}"
    tvm_ffi.register_global_func(name, load, override=True)
    yield given
    tvm_ffi.remove_global_func(name)


def compiled() -> runtime.CompiledModule:
    return runtime.compile(attached([Var("a", "int32")]))


def test_they_are_made_and_imported_when_the_library_is_loaded(tmp_path: Path, loaded: list[bytes]):
    path = tmp_path / "own.so"
    inner = CustomModule(KIND, b"inner")
    given = [CustomModule(KIND, b"\0 first \xff", [inner]), (KIND, b"second")]
    compiled().export_library(path, modules=given)
    module = load_module(str(path))
    assert sorted(loaded) == [b"\0 first \xff", b"inner", b"second"]
    first, second = module.imports
    assert len(first.imports) == 1
    assert len(second.imports) == 0
    assert module["f"](1) is None
    assert module.get_function("other", query_imports=True)(1) is None
    assert runtime.load(path)["f"](1) is None


def test_with_export_only(tmp_path: Path, loaded: list[bytes]):
    path = tmp_path / "own.so"
    compiled().export_library(path, export_only=["f"], modules=[(KIND, b"data")])
    assert len(load_module(str(path)).imports) == 1
    assert loaded == [b"data"]


@pytest.mark.parametrize("only", [None, ["f"]])
def test_in_an_object(tmp_path: Path, loaded: list[bytes], only: list[str] | None):
    path = tmp_path / "own.o"
    compiled().export_object(path, export_only=only, modules=[(KIND, b"data")])
    library = tmp_path / "own.so"
    runtime.lower(path.read_bytes()).export_library(library)
    assert len(load_module(str(library)).imports) == 1
    assert loaded == [b"data"]


def test_an_object_that_was_given_cannot_be_added_to(tmp_path: Path):
    path = tmp_path / "own.o"
    compiled().export_object(path)
    before = path.read_bytes()
    lowered = runtime.lower(before)
    with pytest.raises(CompileError, match="to which modules= cannot be added"):
        lowered.export_object(path, modules=[(KIND, b"data")])
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ("cuda", TypeError, r"Expected a CustomModule or a pair \(kind, bytes\), but got 'cuda'"),
        ((1, b""), TypeError, "Expected the kind of a module as a str, but got 1"),
        (("cuda", "text"), TypeError, "Expected the bytes of module `cuda`, but got str"),
        (("_lib", b""), ValueError, "but got '_lib', which tvm-ffi has a meaning for"),
        (("", b""), ValueError, "Expected the kind of a module, such as `cuda`, but got ''"),
    ],
)
def test_what_is_no_module(tmp_path: Path, given: Any, error: type[Exception], words: str):
    path = tmp_path / "own.so"
    with pytest.raises(error, match=words):
        compiled().export_library(path, modules=[given])
    assert not path.exists()
