"""Keys of the compile cache: those of authors, the machine, and what is installed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import runtime
from ffi_builder.runtime.compiler import cache as compile_cache
from tests.runtime.samples import ADD_ONE, llvm_entry


def giving(value: object) -> Callable[..., object]:
    """A function that returns `value`."""

    def give(*_: object) -> object:
        return value

    return give


KEYS: list[Any] = [
    *("k", "l", "", "\udcff", b"k", b"", (), ("k",), ("k", 1), ("k", "1"), ("k", -1), ("k", True)),
    *((("k", 1),), ("k", b"1"), ("k", ("1",)), ("k", 1 << 20_000)),
]


def test_every_key_is_another(tmp_path: Path) -> None:
    calls: list[int] = []
    for key in KEYS * 2:
        runtime.compile_cached(key, lambda: calls.append(1) or llvm_entry("f"), cache_dir=tmp_path)
    assert len(calls) == len(KEYS) == len([*tmp_path.glob("*.ffib")])


def not_built() -> object:
    raise AssertionError("the key was accepted")


@pytest.mark.parametrize("key", [None, 1, True, 1.5, ["k"], ("k", 1.5), ("k", None), ("k", ["l"])])
@pytest.mark.parametrize("cached", [True, False])
def test_other_keys_are_type_errors(tmp_path: Path, key: Any, cached: bool) -> None:
    with pytest.raises(TypeError, match="as the key, but got"):
        runtime.compile_cached(key, not_built, cache_dir=tmp_path if cached else None)


@pytest.mark.parametrize("cached", [True, False])
def test_keys_that_are_too_deep(tmp_path: Path, cached: bool) -> None:
    folder = tmp_path if cached else None
    key: Any = "k"
    for _ in range(32):
        key = (key,)
    compiled = runtime.compile_cached(key, lambda: llvm_entry("f"), cache_dir=folder)
    assert compiled.functions == ("f",)
    for _ in range(2000):
        key = (key,)
        with pytest.raises(ValueError, match="nested at most 32 deep as the key"):
            runtime.compile_cached(key, not_built, cache_dir=folder)


def test_a_key_has_no_address(tmp_path: Path) -> None:
    """It would never be found again, or be found for another object."""
    for what in (object(), not_built, lambda: 0):
        key = ("my_dsl 1.0", (f"kernel of {what!r}",))
        with pytest.raises(
            ValueError, match=r"equal in each process, but it has ['\"].* at 0x\w+>['\"], an"
        ):
            runtime.compile_cached(key, not_built, cache_dir=tmp_path)
    for key in ("a at 0x12", "0x12>"):
        assert built(tmp_path, key)
        assert not built(tmp_path, key)


def built(folder: Path, key: str = "k") -> bool:
    """Tell whether `compile_cached` builds."""
    calls: list[int] = []
    runtime.compile_cached(key, lambda: calls.append(1) or ADD_ONE, cache_dir=folder)
    return bool(calls)


@pytest.mark.parametrize("changed", ["environment", "distribution"])
def test_another_machine_or_version_builds_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    assert built(tmp_path)
    assert not built(tmp_path)
    monkeypatch.setattr(compile_cache, changed, giving("another"))
    assert built(tmp_path)
    assert not built(tmp_path)


def test_the_environment_says_what_code_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = compile_cache.environment.__wrapped__
    before = environment()
    for package in ("ffi_builder", "llvmlite", "apache-tvm-ffi", "apache-tvm-ffi-orcjit", "cpu"):
        assert f'"{package}"' in before
    assert environment() == before

    def changes(name: str, value: object) -> bool:
        with monkeypatch.context() as patch:
            patch.setattr(compile_cache, name, giving(value))
            return environment() != before

    assert changes("_version", "another")
    assert changes("_libraries", [("libllvmlite.so", 1, 2)])
    assert changes("_own_sources", "edited")
    assert changes("_first_processor", "vendor_id : X\nflags : sse2")


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="needs /proc/cpuinfo")
def test_the_cpu_is_known_without_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_cache.llvm, "host_cpu", lambda: "asked LLVM")
    known = "\n".join(compile_cache.cpu())
    assert "asked LLVM" not in known
    assert "MHz" not in known
    assert "processor" not in known


def test_llvm_names_a_cpu_that_linux_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compile_cache, "_CPUINFO", tmp_path / "none")
    assert compile_cache.llvm.host_cpu() in compile_cache.cpu()
    (tmp_path / "cpuinfo").write_text("processor : 0\nmodel name : a CPU\n\nprocessor : 1\n")
    monkeypatch.setattr(compile_cache, "_CPUINFO", tmp_path / "cpuinfo")
    assert {"model name: a CPU", compile_cache.llvm.host_features()} & set(compile_cache.cpu())


def test_the_first_processor_alone_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flags = "flags : " + "sse2 " * 4000
    (tmp_path / "cpuinfo").write_text(f"{flags}\nmodel : 1\n\nmodel : 2\n")
    monkeypatch.setattr(compile_cache, "_CPUINFO", tmp_path / "cpuinfo")
    assert compile_cache.cpu()[1:] == [flags.replace(" :", ":").strip(), "model: 1"]


def test_a_distribution_is_known_by_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distribution = compile_cache.distribution.__wrapped__
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    library = tmp_path / "some_dsl" / "inner" / "_mlir_libs" / "_mlir.so"
    library.parent.mkdir(parents=True)
    seen = {distribution("some_dsl.inner"), distribution("nowhere.inner")}
    assert len(seen) == 1  # nothing is known of either
    for text in ("one", "two", "three"):
        library.write_text(text)
        os.utime(library, ns=(0, len(seen)))
        seen.add(distribution("some_dsl.inner"))
    assert len(seen) == 4
    assert "some_dsl" not in sys.modules
