"""The objects that are checked in belong to the sources, and each bundle to its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ffi_builder import support
from ffi_builder.errors import BuildError
from ffi_builder.runtime.files.object_files import read_object
from tools import support as tool

ROOT = Path(__file__).parents[2]
CORE, *ADDED = support.bundles()
OF_EACH = pytest.mark.parametrize(
    "bundle", support.bundles(), ids=lambda bundle: bundle.name or "core"
)
HAS_COMPILER = (
    shutil.which(tool.COMPILER) is not None and Path("/usr/aarch64-linux-gnu/include").exists()
)
WITHOUT_ADD_ONS = """
from torch_mlir import ir
from ffi_builder import attach, providers, runtime, spec, support
assert len(support.bundles()) == 1
module = ir.Module.parse("", ir.Context())
attach(module, spec.Signature.parse("f(n: int32)"), providers.NopCallProvider())
runtime.compile(module)["f"](1)
"""


@OF_EACH
def test_the_headers_are_what_python_says(bundle: support.Bundle) -> None:
    files, made = tool.sources(bundle.folder), tool.headers(bundle.folder)
    assert made == {name: files[name] for name in made}, "run `make support`"


@OF_EACH
def test_the_objects_are_of_these_sources(bundle: support.Bundle) -> None:
    assert bundle.digest == tool.digest_of(tool.sources(bundle.folder)), "run `make support`"
    for machine in support.MACHINES:
        symbols = read_object(bundle.object_code(machine), machine).symbols
        defined = {symbol.name for symbol in symbols if symbol.defined}
        assert {bundle.symbol(name) for name in bundle.functions} <= defined


@pytest.mark.slow
@pytest.mark.skipif(not HAS_COMPILER, reason=f"needs {tool.COMPILER} and libc6-dev-arm64-cross")
@OF_EACH
def test_the_compiler_makes_these_objects(bundle: support.Bundle, tmp_path: Path) -> None:
    made = tool.make(bundle.folder, tmp_path)
    assert [
        name for name, data in made.items() if (bundle.folder / name).read_bytes() != data
    ] == []


@pytest.mark.parametrize("machine", support.MACHINES)
@OF_EACH
def test_only_libc_and_tvm_ffi_are_needed(bundle: support.Bundle, machine: str) -> None:
    """So an add-on's object can be linked without the core's."""
    symbols = read_object(bundle.object_code(machine), machine).symbols
    needed = {symbol.name for symbol in symbols if not symbol.defined and symbol.name}
    libc = {name for name in needed if not name.startswith("TVMFFI")}
    assert libc <= {
        *("calloc", "free", "malloc", "memcpy", "memset", "snprintf", "vsnprintf"),
        *("strlen", "strtod", "strtoll", "getenv", "write", "poll", "pthread_self"),
        *("aligned_alloc", "dlerror", "dlopen", "dlsym", "sched_yield"),
    }


def test_a_digest_moves_only_with_the_files_of_its_bundle(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """But the headers that all share move every digest."""
    copies = {bundle: tmp_path / (bundle.name or "core") for bundle in support.bundles()}
    for bundle, copy in copies.items():
        shutil.copytree(bundle.folder, copy)
    shared = [copies[CORE] / path.name for path in tool.FOR_ALL]
    monkeypatch.setattr(tool, "FOR_ALL", shared)
    borrowed = {bundle.folder: copy for bundle, copy in copies.items()}
    own = {
        borrowed[one]: borrowed[other] for one, other in tool.BORROWED.items() if one in borrowed
    }
    monkeypatch.setattr(tool, "BORROWED", own)

    def moved(path: Path) -> set[str]:
        text = path.read_text()
        path.write_text(f"{text}// changed\n")
        digests = {bundle: tool.digest_of(tool.sources(copies[bundle])) for bundle in copies}
        path.write_text(text)
        return {bundle.name for bundle, digest in digests.items() if digest != bundle.digest}

    for bundle, copy in copies.items():
        assert moved(copy / "support.c") == {bundle.name}
    for path in shared:
        assert moved(path) == {bundle.name for bundle in copies}


def test_bundles_have_different_functions() -> None:
    assert sum(len(bundle.functions) for bundle in support.bundles()) == len(support.functions())
    for bundle in support.bundles():
        assert {support.symbol(name) for name in bundle.functions} == {
            bundle.symbol(name) for name in bundle.functions
        }


def test_another_machine_is_refused() -> None:
    with pytest.raises(
        BuildError, match="expected one of the machines x86_64, aarch64 but got 's'"
    ):
        support.object_code("s")


@pytest.mark.parametrize("function", [support.object_code, support.library])
def test_an_add_on_that_is_not_here(function: Callable[..., object]) -> None:
    known = ", ".join(repr(bundle.name) for bundle in ADDED) or "none"
    words = rf"of= to be the name of an add-on with functions in C \({known}\), .*got 'other'"
    with pytest.raises(BuildError, match=words):
        function(of="other")


def test_an_installation_without_a_library(tmp_path: Path) -> None:
    for name, words in (("", r"object_code\(\)"), ("other", r"object_code\(of='other'\)")):
        bundle = support.Bundle(name, tmp_path, "00000000", {})
        with pytest.raises(
            BuildError, match=f"installation found no C .* link support.{words}, or"
        ):
            bundle.library()


@pytest.mark.slow
def test_the_core_works_without_the_folders_of_add_ons(tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__")
    for folder in ("ffi_builder", "tools"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    for bundle in ADDED:
        shutil.rmtree((tmp_path / bundle.folder.relative_to(ROOT)).parent)
    commands = [["-c", WITHOUT_ADD_ONS], ["-m", "tools.support", "--check"]]
    for command in commands:
        done = subprocess.run(
            [sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
