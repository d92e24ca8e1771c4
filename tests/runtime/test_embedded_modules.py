"""Modules of an author's own, in an exported library."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tvm_ffi

from ffi_builder import CompileError, LinkError, runtime
from ffi_builder.runtime import CustomModule
from ffi_builder.runtime.files.embedded_modules import SYMBOL, library_bin, with_one_library_bin
from ffi_builder.runtime.files.object_files import Constant, content_of, with_constants
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
    """The bytes that the loader of the kind was given."""
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
        (("_lib", b""), ValueError, "but got '_lib', which tvm-ffi reserves"),
        (("", b""), ValueError, "Expected the kind of a module, such as `cuda`, but got ''"),
        (
            ("cuda", b""),
            ValueError,
            "the bytes of module `cuda`, but there are none, and tvm-ffi cannot",
        ),
    ],
)
def test_what_is_no_module(tmp_path: Path, given: Any, error: type[Exception], words: str):
    path = tmp_path / "own.so"
    with pytest.raises(error, match=words):
        compiled().export_library(path, modules=[given])
    assert not path.exists()


def exported(path: Path, name: str, modules: Any) -> bytes:
    runtime.compile(attached([Var("a", "int32")], name=name)).export_object(path, modules=modules)
    return path.read_bytes()


def test_objects_that_each_have_some(tmp_path: Path, loaded: list[bytes]):
    inner = CustomModule(KIND, b"inner")
    first = exported(tmp_path / "f.o", "f", [(KIND, b"1"), CustomModule(KIND, b"2", [inner])])
    second = exported(tmp_path / "g.o", "g", [(KIND, b"3")])
    none = exported(tmp_path / "h.o", "h", [])
    path = tmp_path / "all.so"
    lowered = runtime.lower(none, link=[second, first])
    lowered.export_library(path, modules=[(KIND, b"4")])
    module = load_module(str(path))
    assert [len(imported.imports) for imported in module.imports] == [0, 0, 1, 0]
    assert loaded == [b"3", b"1", b"2", b"inner", b"4"]
    assert [module[name](1) for name in "fgh"] == [None] * 3
    loaded.clear()
    lowered.export_library(tmp_path / "g.so", export_only=["g"])
    assert len(load_module(str(tmp_path / "g.so")).imports) == 3
    assert loaded == [b"3", b"1", b"2", b"inner"]


def test_objects_that_each_have_some_in_the_jit(tmp_path: Path, loaded: list[bytes]):
    first = exported(tmp_path / "f.o", "f", [(KIND, b"1")])
    second = exported(tmp_path / "g.o", "g", [(KIND, b"2")])
    both = runtime.compile(first, link=[second])
    assert loaded == [b"1", b"2"]
    assert [both[name](1) for name in "fg"] == [None] * 2


def test_objects_for_another_machine_that_each_have_some(tmp_path: Path):
    machine = "aarch64" if os.uname().machine == "x86_64" else "x86_64"
    objects: list[bytes] = []
    for number in range(2):
        path = tmp_path / f"{number}.o"
        compiled().export_object(
            path, triple=f"{machine}-linux-gnu", modules=[(KIND, b"%d" % number)]
        )
        objects.append(path.read_bytes())
    first, second = with_one_library_bin(objects, machine)
    content = content_of(first, SYMBOL, machine)
    assert content == library_bin([CustomModule(KIND, b"0"), CustomModule(KIND, b"1")])
    assert content_of(second, SYMBOL, machine) is None


def sized(data: bytes) -> bytes:
    return struct.pack("<Q", len(data)) + data


# One module imports the library, which stands behind it.
TREE = struct.pack("<6Q", 3, 0, 1, 1, 1, 1)
NODES = sized(b"k") + sized(b"x") + sized(b"_lib")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (TREE + NODES, "not imported by the library itself"),
        (TREE + NODES[:-1], "cannot be read: it ends early"),
        (TREE[:-1], "cannot be read"),
    ],
)  # fmt: skip
def test_modules_of_others_that_cannot_be_put_together(tmp_path: Path, content: bytes, words: str):
    own = exported(tmp_path / "f.o", "f", [(KIND, b"1")])
    other = exported(tmp_path / "g.o", "g", [(KIND, b"2")])
    other = with_constants(other, {SYMBOL: Constant(sized(content))})
    with pytest.raises(LinkError, match=words):
        runtime.lower(own, link=[other]).export_library(tmp_path / "a.so")


def test_damaged_objects(tmp_path: Path):
    first = exported(tmp_path / "f.o", "f", [(KIND, b"1")])
    second = exported(tmp_path / "g.o", "g", [(KIND, b"2")])
    for length in (64, 65, len(second) // 2):
        damaged = second[:length] + b"\0" + SYMBOL.encode()
        with pytest.raises(CompileError, match="The object file is truncated or damaged"):
            with_one_library_bin([first, damaged])


def test_many_in_one_another(tmp_path: Path):
    module = CustomModule(KIND, b"innermost")
    for _ in range(3000):
        module = CustomModule(KIND, b"outer", [module])
    exported(tmp_path / "f.o", "f", [module])
