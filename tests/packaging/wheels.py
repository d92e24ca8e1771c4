"""Wheels for tests, and what is in them."""

from __future__ import annotations

import platform
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import package
from tests.packaging.kernels import scale

PROJECT = {"name": "my-kernels", "version": "1.0", "description": "Kernels for tests."}
ON_X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="is about x86-64")


def made(folder: Path, modules: Any = None, **options: Any) -> Path:
    given: Any = {"project": PROJECT} | options
    return package(scale() if modules is None else modules, folder, **given)


def content(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def metadata(wheel: Path) -> str:
    return next(data for name, data in content(wheel).items() if name.endswith("METADATA")).decode()
