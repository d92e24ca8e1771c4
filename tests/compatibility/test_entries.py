"""Entries of the compile cache that older versions wrote are not found, and not read wrongly."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import ffi_builder
from ffi_builder import runtime
from ffi_builder.runtime.compiler import cache as compile_cache
from tests.compatibility.make import FILES, KEY
from tests.runtime.samples import llvm_entry

SAVED = sorted(
    path for path in FILES.glob("*/*.ffib") if path.parent.name != ffi_builder.__version__
)
"""Those of this version would be found, until a source changes."""


def built(folder: Path) -> bool:
    """Look up the key of the saved entries; return whether it had to be built."""
    calls: list[int] = []
    compiled = runtime.compile_cached(
        KEY, lambda: calls.append(1) or llvm_entry("other"), cache_dir=folder
    )
    # Not `small`, which the saved entries have.
    assert compiled.functions == ("other",)
    assert compiled["other"](41) == 42
    return bool(calls)


def with_checksum(body: bytes, version: int) -> bytes:
    """A file whose length and checksum are right."""
    header = compile_cache._HEADER  # pyright: ignore[reportPrivateUsage]
    digest = hashlib.sha256(body).digest()
    return header.pack(b"ffi_bldr", version, header.size + len(body), digest) + body


@pytest.fixture
def entry(tmp_path: Path) -> Path:
    """An entry of this version in a folder of its own."""
    folder = tmp_path / "of this version"
    assert built(folder)
    (made,) = folder.iterdir()
    return made


def test_there_are_entries() -> None:
    assert SAVED


@pytest.mark.parametrize("saved", SAVED, ids=lambda path: path.parent.name)
def test_entries_of_other_versions_are_not_found(saved: Path, tmp_path: Path) -> None:
    shutil.copy(saved, tmp_path)
    assert built(tmp_path)
    assert not built(tmp_path)
    assert len([*tmp_path.iterdir()]) == 2


@pytest.mark.parametrize("saved", SAVED, ids=lambda path: path.parent.name)
def test_entries_under_a_name_of_this_version_are_built_again(saved: Path, entry: Path) -> None:
    shutil.copy(saved, entry)
    assert built(entry.parent)
    assert not built(entry.parent)


CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "cut off": lambda data: data[: len(data) // 2],
    "cut off in the header": lambda data: data[:20],
    "one bit damaged": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    "empty": lambda data: b"",
    "an older version": lambda data: with_checksum(data[52:], 1),
    "a later version": lambda data: with_checksum(data[52:], 99),
    "parts of another layout": lambda data: with_checksum(b"\1" + data[53:], 2),
    "more than the parts": lambda data: with_checksum(data[52:] + b"more", 2),
    "an index of another layout": lambda data: with_checksum(
        data[52:].replace(b'"made_of"', b'"made-of"'), 2
    ),
    "a form that there is not": lambda data: with_checksum(
        data[52:].replace(b'"form": "llvm"', b'"form": "lava"'), 2
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_other_layouts_are_built_again(change: str, entry: Path) -> None:
    data = entry.read_bytes()
    changed = CHANGES[change](data)
    assert changed != data
    entry.write_bytes(changed)
    assert built(entry.parent)
    assert not built(entry.parent)


def test_the_header_is_the_one_that_these_tests_change(entry: Path) -> None:
    """`with_checksum` writes what is read: else every change above would be refused for it."""
    entry.write_bytes(with_checksum(entry.read_bytes()[52:], 2))
    assert not built(entry.parent)


def test_versions_and_sources_are_in_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = compile_cache.of_name(KEY, None, 3, [])
    assert "ffi_builder" in json.loads(before.decode().rpartition("\n")[0])
    monkeypatch.setattr(compile_cache, "environment", lambda: '{"ffi_builder": "0.0.9 ab"}')
    assert compile_cache.of_name(KEY, None, 3, []) != before


EDIT_EACH = """
from pathlib import Path
import sys
from ffi_builder.runtime.compiler import cache as compile_cache
environment, package = compile_cache.environment.__wrapped__, Path(sys.argv[1])
assert compile_cache.__file__.startswith(f"{package}/")
seen = [environment(), environment()]
folders = sorted({path.parent for path in package.rglob("*.py")})
for folder in folders:
    source = max(folder.glob("*.py"), key=lambda path: path.stat().st_size)
    source.write_bytes(source.read_bytes()[::-1])
    seen.append(environment())
print(len(folders), len(set(seen)) - 1)
"""
"""Edits a file of each folder of a package; prints how many there are, and how many were seen."""


@pytest.mark.slow
def test_an_edit_in_any_folder_of_the_package_is_in_the_key(tmp_path: Path) -> None:
    package = tmp_path / "ffi_builder"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(ffi_builder.__file__).parent, package, ignore=ignored)
    done = subprocess.run(
        [sys.executable, "-c", EDIT_EACH, str(package)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    folders, noticed = map(int, done.stdout.split())
    assert folders == noticed > 20
