"""Helpers that are kept for other processes: found again, and believed only if they are right."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ffi_builder import kept as room
from ffi_builder.diagnosis.assembled import assemble
from ffi_builder.diagnosis.library import library
from ffi_builder.kept import VARIABLE, kept, sources
from ffi_builder.runtime.codegen import llvm
from ffi_builder.store import Store

ATTACH_AND_COMPILE = """
import sys
from torch_mlir import ir
from ffi_builder import attach_ffi_func, providers, runtime, spec
module = ir.Module.parse("", ir.Context())
tensor = spec.Tensor("x", [spec.Var("n", "int32")], "float32", device_type="cpu")
attach_ffi_func(module, "f", [tensor], providers.NopCallProvider())
print(module)
function = runtime.compile(module)["f"]
try:
    function(1)
except TypeError as error:
    print(error)
print([name for name in ("assembled", "program") if f"ffi_builder.diagnosis.{name}" in sys.modules])
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "kept"))
    return tmp_path / "kept"


def made(data: bytes, calls: list[bytes], what: str = "test") -> bytes:
    """Ask for what is made by returning ``data``, and note whether it was made."""

    def make() -> bytes:
        calls.append(data)
        return data

    return kept((what,), make)


def test_it_is_made_once(folder: Path):
    calls: list[bytes] = []
    assert [made(b"one", calls) for _ in range(3)] == [b"one"] * 3
    assert made(b"other", calls, "other") == b"other"
    assert calls == [b"one", b"other"]
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


def test_an_error_is_not_kept(folder: Path):
    with pytest.raises(ZeroDivisionError):
        kept(("test",), lambda: bytes(1 // 0))
    assert not folder.exists()
    calls: list[bytes] = []
    assert made(b"one", calls) == b"one"
    assert calls


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _damage(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1] + b"x")


def _open_to_others(path: Path) -> None:
    path.chmod(0o666)


def _empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("change", [_truncate, _damage, _open_to_others, _empty])
def test_a_file_that_is_not_right_is_made_anew(folder: Path, change: object):
    assert callable(change)
    calls: list[bytes] = []
    made(b"one", calls)
    (path,) = folder.iterdir()
    change(path)
    assert made(b"one", calls) == b"one"
    assert len(calls) == 2
    assert made(b"one", calls) == b"one"
    assert len(calls) == 2


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "file" / "kept"))
    calls: list[bytes] = []
    assert [made(b"one", calls), made(b"one", calls)] == [b"one", b"one"]
    assert len(calls) == 2


def test_an_empty_variable_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made(b"one", [])
    assert not list(tmp_path.iterdir())


def test_the_folder_is_in_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    made(b"one", [])
    assert (tmp_path / "xdg" / "ffi_builder" / "helpers").is_dir()
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    made(b"one", [])
    assert (tmp_path / ".cache" / "ffi_builder" / "helpers").is_dir()
    monkeypatch.setenv(VARIABLE, "~/named")
    made(b"one", [])
    assert (tmp_path / "named").is_dir()


def test_an_empty_home_keeps_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "")
    assert kept(("key",), lambda: b"made") == b"made"
    assert not Path("/.cache").exists()


def test_a_compile_cache_in_the_users_cache_keeps_its_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The limit for helpers is smaller than that for a compile cache."""
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache = Store(tmp_path / "ffi_builder", 1 << 20)
    cache.write_bytes(b"key", bytes(1000))
    monkeypatch.setattr(room, "_LIMIT", 500)
    for index in range(20):
        made(bytes(400), [], f"test {index}")
    assert cache.read_bytes(b"key") == bytes(1000)


def test_a_file_under_anothers_name_is_not_believed(folder: Path):
    calls: list[bytes] = []
    made(b"one", calls)
    (one,) = folder.iterdir()
    made(b"other", calls, "other")
    (other,) = {*folder.iterdir()} - {one}
    one.replace(other)
    assert made(b"other", calls, "other") == b"other"
    assert len(calls) == 3


def test_code_is_known_by_what_compiles_it():
    """Another version of the package makes its own, though LLVM is the same."""
    found = " ".join(llvm.identity())
    for name in ("runtime/mlir.py", "runtime/translation.py", "runtime/codegen/llvm.py"):
        assert f"{name} " in found


def test_a_changed_source_is_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package = tmp_path / "package"
    (package / "room").mkdir(parents=True)
    source = package / "room" / "module.py"
    source.write_text("a = 1\n")
    (package / "kept.py").write_text("")
    monkeypatch.setattr(room, "__file__", str(package / "kept.py"))
    sources.cache_clear()
    try:
        before = sources("room")
        source.write_text("a = 22\n")
        sources.cache_clear()
        assert sources("room") != before
        (package / "room" / "more.py").write_text("")
        sources.cache_clear()
        assert len(sources("room")) == len(before) + 1
    finally:
        sources.cache_clear()


@pytest.mark.parametrize("file", ["package.zip/kept.py", "package/kept.pyc"])
def test_without_sources_nothing_is_kept(
    file: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """As in a zip file, and in a program that was frozen."""
    (tmp_path / "package.zip").write_bytes(b"")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "kept.pyc").write_bytes(b"")
    monkeypatch.setattr(room, "__file__", str(tmp_path / file))
    sources.cache_clear()
    try:
        assert sources("diagnosis") == ()
        assert made(b"one", []) == b"one"
        assert not folder.exists()
    finally:
        sources.cache_clear()


def test_the_diagnosis_that_is_kept_is_the_one_that_is_assembled(folder: Path):
    library.cache_clear()
    fresh = library()
    library.cache_clear()
    again = library()
    assert (again.data, again.entry) == assemble() == (fresh.data, fresh.entry)
    assert again == fresh
    assert len(list(folder.iterdir())) == 1


@pytest.mark.slow
def test_a_process_that_finds_all_makes_the_same(tmp_path: Path):
    environment = {**os.environ, VARIABLE: str(tmp_path)}
    printed: list[str] = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", ATTACH_AND_COMPILE],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        printed.append(done.stdout)
    first, second = (text.splitlines() for text in printed)
    assert first[:-1] == second[:-1]
    assert "Mismatched type of x on argument #0" in first[-2]
    assert (first[-1], second[-1]) == ("['assembled', 'program']", "[]")
    assert any(tmp_path.iterdir())
