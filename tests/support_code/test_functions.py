"""The functions in C that wrappers call, compiled for sanitizers and called from another process.

They are compared with short models in Python, on tensors of many dtypes and strides.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from tvm_ffi import libinfo

from tests.support_code.checks import CHECKS

SOURCE: Final = Path(__file__).parents[2] / "ffi_builder" / "support" / "support.c"
WARNINGS: Final = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion")
FLAGS: Final = (
    *("-std=c11", "-O1", "-g", "-fwrapv", "-ffp-contract=off", "-fPIC", "-shared"),
    *("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
)


@pytest.fixture(scope="module")
def sanitizer() -> str:
    """The library that a process loads first whose code is compiled for the sanitizers."""
    if shutil.which("gcc") is None:
        pytest.skip("no C compiler")
    command = ["gcc", "-print-file-name=libasan.so"]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    if not Path(found).exists():
        pytest.skip("no libasan")
    return found


@pytest.fixture(scope="module")
def library(sanitizer: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The functions, which are compiled without a warning."""
    assert sanitizer
    path = tmp_path_factory.mktemp("support") / "support.so"
    tvm_ffi = Path(libinfo.find_libtvm_ffi())
    includes = [f"-isystem{folder}" for folder in libinfo.include_paths()]
    linked = [str(tvm_ffi), f"-Wl,-rpath,{tvm_ffi.parent}"]
    command = ["gcc", *FLAGS, *WARNINGS, *includes, str(SOURCE), *linked, "-o", str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKS)
def test_as_the_model(name: str, library: Path, sanitizer: str) -> None:
    options = {
        "LD_PRELOAD": sanitizer,
        # Python keeps memory until the end, and a sanitizer has to see each block.
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTHONMALLOC": "malloc",
    }
    command = [sys.executable, "-m", "tests.support_code.checks", str(library), name]
    root = Path(__file__).parents[2]
    done = subprocess.run(
        command, env={**os.environ, **options}, cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
