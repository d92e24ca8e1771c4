"""`runtime.load`: the surface of a compiled module, from a file."""

from __future__ import annotations

import copy
import ctypes
import inspect
import os
import pickle
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ffi_builder import LinkError, runtime
from tests.runtime.exporting import every_kind_module, scaling
from tests.runtime.samples import c_library, llvm_entry, needs_cc

pytestmark = needs_cc


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("loaded") / "scaling.so"
    runtime.compile(scaling("scale", "other")).export_library(path)
    return path


def test_it_is_not_copied_and_not_pickled(library: Path) -> None:
    loaded = runtime.load(library)
    assert copy.copy(loaded) is copy.deepcopy(loaded) is loaded
    words = "its code is in this process; load the library where it is needed"
    with pytest.raises(TypeError, match=f"cannot pickle <LoadedLibrary .*>: {words}"):
        pickle.dumps(loaded)


def test_the_surface_is_that_of_a_compiled_module(library: Path) -> None:
    loaded = runtime.load(library)
    assert loaded.functions == ("other", "scale")
    assert (list(loaded), len(loaded)) == (["other", "scale"], 2)
    assert "scale" in loaded
    assert "kernel" not in loaded
    assert repr(loaded) == "<LoadedLibrary scaling.so: other, scale>"
    x = np.ones(2, "float32")
    loaded["scale"](x, 3)
    loaded.callable("scale")(x, factor=2)
    loaded.callable("scale")(x)
    assert x.tolist() == [12, 12]
    with pytest.raises(
        KeyError, match=r"No function `f` in the library `scaling.so`, which has: other,"
    ):
        loaded["f"]
    with pytest.raises(KeyError):
        loaded.address("f")


def test_names_defaults_and_documentation_travel(tmp_path: Path) -> None:
    compiled = runtime.compile(every_kind_module())
    compiled.export_library(tmp_path / "a.so")
    loaded = runtime.load(tmp_path / "a.so")
    pairs: list[tuple[Any, Any]] = [
        (loaded["every_kind"], compiled["every_kind"]),
        (loaded.callable("every_kind"), compiled.callable("every_kind")),
    ]
    for ours, theirs in pairs:
        assert inspect.signature(ours) == inspect.signature(theirs)
        assert inspect.getdoc(ours) == inspect.getdoc(theirs)
        assert ours.__name__ == "every_kind"


SAFE_CALL = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p
)


def test_addresses(tmp_path: Path) -> None:
    runtime.compile(llvm_entry("f")).export_library(tmp_path / "a.so")
    address = runtime.load(tmp_path / "a.so").address("f")
    assert runtime.function_at(address, owner=None)(41) == 42


def test_a_function_lives_without_its_library(library: Path) -> None:
    function = runtime.load(library)["scale"]
    x = np.ones(1, "float32")
    function(x, 7)
    assert x.tolist() == [7]


def test_paths(library: Path) -> None:
    for path in (library, str(library), os.path.relpath(library)):
        assert runtime.load(path).functions == ("other", "scale")


def test_a_name_is_a_file_here(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The C library would look for it in its own folders."""
    monkeypatch.chdir(library.parent)
    assert "scale" in runtime.load("scaling.so")


def test_a_file_that_was_written_again_is_loaded_again(tmp_path: Path) -> None:
    results: list[int] = []
    kept: list[object] = []
    for value in (1, 2, 3):
        compiled = runtime.compile(llvm_entry("f", f"%x = add i64 %v, {value}"))
        compiled.export_library(tmp_path / "a.so")
        for _ in range(2):
            loaded = runtime.load(tmp_path / "a.so")
            results += [loaded["f"](0), runtime.function_at(loaded.address("f"), owner=None)(0)]
            kept.append(loaded)
    assert results == [1] * 4 + [2] * 4 + [3] * 4


def test_any_library_of_the_abi(tmp_path: Path) -> None:
    source = "ENTRY(f) { RETURN(args[1] + n); }\nint kernel(void) { return 1; }"
    loaded = runtime.load(c_library(tmp_path, source, "a.so"))
    assert loaded.functions == ("f",)
    assert loaded["f"](41) == 42
    with pytest.raises(
        TypeError, match=r"`f` in the library `a.so` says nothing of its parameters"
    ):
        loaded.callable("f")


def exported_object(path: Path) -> bytes:
    runtime.compile(llvm_entry("f")).export_object(path)
    return path.read_bytes()


def test_what_is_no_library(tmp_path: Path) -> None:
    path = tmp_path / "a.so"
    for data, words in (
        (b"", "Expected an ELF shared library, but it starts with b''"),
        (b"not a library", "it starts with b'not a li'"),
        (b"\x7fELF" + bytes(10), "truncated or damaged"),
        (exported_object(path), "Expected a shared library, but it is an object"),
        (Path(sys.executable).resolve().read_bytes(), ""),
    ):
        path.write_bytes(data)
        with pytest.raises(LinkError, match=f"^Cannot load `{re.escape(str(path))}`: .*{words}"):
            runtime.load(path)


def test_a_library_for_another_machine(library: Path, tmp_path: Path) -> None:
    data = bytearray(library.read_bytes())
    data[18:20] = (243).to_bytes(2, "little")  # e_machine
    (tmp_path / "a.so").write_bytes(data)
    with pytest.raises(LinkError, match=f"for RISC-V, but this machine is {os.uname().machine}"):
        runtime.load(tmp_path / "a.so")


def test_a_library_that_needs_what_is_not_there(tmp_path: Path) -> None:
    gone = c_library(tmp_path, "int other(void) { return 1; }", "libgone.so")
    c_library(tmp_path, "int other(void);\nENTRY(f) { RETURN(other()); }", "a.so", gone)
    gone.unlink()
    with pytest.raises(LinkError, match=r"(?s)^Cannot load .*libgone\.so"):
        runtime.load(tmp_path / "a.so")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"gone\.so"):
        runtime.load(tmp_path / "gone.so")
    with pytest.raises(IsADirectoryError):
        runtime.load(tmp_path)
