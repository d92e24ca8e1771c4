"""What only our tests compile beside the fake driver."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from ffi_builder.fakecuda import build

WARNINGS: Final = ("-Wall", "-Wextra", "-Werror")


def missing() -> str | None:
    """Return what building the driver lacks; None if nothing."""
    found = build.missing()
    return found and str(found)


@cache
def scratch() -> Path:
    """A folder that goes when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="fake-cuda-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def compile_c(*arguments: str | Path) -> None:
    """Run the C compiler with cuda.h and fake_control.h at hand."""
    include = build.headers()
    assert include is not None, missing()
    options = ("-std=gnu11", *WARNINGS, f"-I{include}", f"-I{build.SOURCES}")
    subprocess.run([*build.CC, *options, *map(str, arguments)], check=True)


@cache
def no_driver() -> Path:
    """A file of the library's name that cannot be loaded: what LD_LIBRARY_PATH finds first."""
    target = Path(tempfile.mkdtemp(dir=scratch())) / build.SONAME
    target.write_text("no library\n")
    return target


@cache
def older(without: str, file: Path | None = None) -> Path:
    """Return the fake driver, or another library, where a function has another name."""
    found, name = file or build.library(), f"\0{without}\0"
    data = found.read_bytes()
    assert name.encode() in data
    target = Path(tempfile.mkdtemp(dir=scratch())) / found.name
    target.write_bytes(data.replace(name.encode(), name.upper().encode()))
    return target
