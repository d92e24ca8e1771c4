"""Replacing parts of the provider, and of the C code that it calls, for one test."""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tvm_ffi.libinfo import find_libtvm_ffi, include_paths

from ffi_builder import support
from ffi_builder.cuda.launch import driver
from tests.fakecuda.building import compile_c, scratch

Replace = Callable[[pytest.MonkeyPatch], None]

BUNDLE = next(bundle for bundle in support.bundles() if bundle.name == "cuda")
"""The support code that launches."""


@dataclass(frozen=True)
class Breakage:
    """A rule of ``ffi_builder.fakecuda.rules`` to break, the scenario, and how it ends there."""

    rule: str
    name: str
    scenario: Callable[..., None]
    ends: str
    """A regular expression: for the failure, or for the name of a violation."""
    replace: Replace


def code(file: str, *changes: tuple[str, str]) -> Replace:
    """Other C code: in a file of ``ffi_builder/cuda/support``, each text stands for another one."""

    def replace(patch: pytest.MonkeyPatch) -> None:
        text = (BUNDLE.folder / file).read_text()
        for old, new in changes:
            assert text.count(old) == 1, f"{file}: {old}"
            text = text.replace(old, new)
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        # What modules call has to stay: a function of theirs may be called when they are collected.
        ctypes.CDLL(str(_compiled(file, text, digest)), ctypes.RTLD_GLOBAL)
        real = support.symbol

        def symbol(name: str) -> str:
            return real(name).replace(BUNDLE.digest, digest)

        patch.setattr(support, "symbol", symbol)

    return replace


def _compiled(file: str, text: str, digest: str) -> Path:
    """The support code that launches, with another text of one file, as a library."""
    folder = Path(tempfile.mkdtemp(dir=scratch()))
    for source in (*BUNDLE.folder.glob("*.[ch]"), Path(support.__file__).with_name("support.h")):
        shutil.copy(source, folder)
    (folder / file).write_text(text)
    target = folder / "broken.so"
    compile_c(
        *("-w", "-O1", "-fPIC", "-shared"),
        *(f"-DFFI_BUILDER_DIGEST={digest}", *(f"-isystem{path}" for path in include_paths())),
        *(folder / "support.c", find_libtvm_ffi(), "-ldl", "-o", target),
    )
    return target


def part(where: Any, name: str, instead: Any) -> Replace:
    """Another function, constant or attribute of a module or class."""
    return lambda patch: patch.setattr(where, name, instead)


def number(name: str, instead: object) -> Replace:
    """Another constant of the driver."""
    return part(driver, name, instead)
