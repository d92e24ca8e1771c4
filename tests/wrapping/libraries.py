"""Libraries of the system, which tests wrap where they are installed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from ffi_builder.wrapping.c_types import Prototype
from ffi_builder.wrapping.prototype import Header


def read(
    given: str | Path,
    function: str | None,
    default: str,
    include: Sequence[str] = (),
    target: str | None = None,
) -> Prototype:
    """Return the prototype of a function."""
    return Header(given, include, target).read(function, default)


def needs_header(name: str) -> pytest.MarkDecorator:
    """Skip a test where the C compiler finds no such header."""
    found = (
        shutil.which("cc")
        and not subprocess.run(
            ["cc", "-E", "-xc", "-", "-o", "/dev/null"],
            input=f"#include <{name}>\n",
            text=True,
            check=False,
            stderr=subprocess.DEVNULL,
        ).returncode
    )
    return pytest.mark.skipif(not found, reason=f"needs {name}")


def shared(folder: Path, source: str) -> Path:
    """Compile C to a shared library."""
    path = folder / "libmade.so"
    command = ["cc", "-O1", "-fPIC", "-shared", "-include", "stdint.h", "-xc", "-", "-o", path]
    subprocess.run(command, input=source, text=True, check=True)
    return path
