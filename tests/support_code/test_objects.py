"""The objects that are checked in belong to the sources."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ffi_builder import support
from ffi_builder.errors import BuildError
from ffi_builder.runtime.files.object_files import read_object
from tools import support as tool


def test_the_headers_are_what_python_says() -> None:
    files = tool.sources()
    assert tool.headers() == {name: files[name] for name in tool.headers()}, "run `make support`"


def test_the_objects_are_of_these_sources() -> None:
    assert support.digest() == tool.digest_of(tool.sources()), "run `make support`"
    for machine in support.MACHINES:
        symbols = read_object(support.object_code(machine), machine).symbols
        defined = {symbol.name for symbol in symbols if symbol.defined}
        assert {support.symbol(name) for name in support.functions()} <= defined


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which(tool.COMPILER) is None or not Path("/usr/aarch64-linux-gnu/include").exists(),
    reason=f"needs {tool.COMPILER} and libc6-dev-arm64-cross",
)
def test_the_compiler_makes_these_objects(tmp_path: Path) -> None:
    made = tool.make(tmp_path)
    assert [name for name, data in made.items() if (tool.HERE / name).read_bytes() != data] == []


@pytest.mark.parametrize("machine", support.MACHINES)
def test_only_libc_and_tvm_ffi_are_needed(machine: str) -> None:
    symbols = read_object(support.object_code(machine), machine).symbols
    needed = {symbol.name for symbol in symbols if not symbol.defined and symbol.name}
    libc = {name for name in needed if not name.startswith("TVMFFI")}
    assert libc <= {
        *("free", "malloc", "memcpy", "memset", "snprintf", "vsnprintf", "strlen", "strtod"),
        *("dlerror", "dlopen", "dlsym", "sched_yield"),
    }


def test_another_machine_is_refused() -> None:
    with pytest.raises(
        BuildError, match="expected one of the machines x86_64, aarch64 but got 's'"
    ):
        support.object_code("s")


def test_an_installation_without_a_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(support, "_HERE", tmp_path)
    with pytest.raises(BuildError, match="there is no shared library, as this installation found"):
        support.library()
