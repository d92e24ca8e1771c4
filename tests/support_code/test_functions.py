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

from ffi_builder import support
from tests.support_code.checks import CHECKS

CORE: Final = Path(support.__file__).parent
ROOT: Final = Path(__file__).parents[2]
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


def compiled(bundle: Path, path: Path) -> Path:
    """Compile the functions of a folder to a library, without a warning."""
    tvm_ffi = Path(libinfo.find_libtvm_ffi())
    includes = [f"-I{CORE}", *(f"-isystem{folder}" for folder in libinfo.include_paths())]
    linked = [str(tvm_ffi), f"-Wl,-rpath,{tvm_ffi.parent}"]
    sources = [str(bundle / "support.c"), *linked]
    command = ["gcc", *FLAGS, *WARNINGS, *includes, *sources, "-o", str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return path


def check(module: str, name: str, library: Path, sanitizer: str) -> None:
    """Run a check of a module in a process with the sanitizers."""
    options = {
        "LD_PRELOAD": sanitizer,
        # Python keeps memory until the end, and a sanitizer has to see each block.
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTHONMALLOC": "malloc",
    }
    command = [sys.executable, "-m", module, str(library), name]
    done = subprocess.run(
        command, env={**os.environ, **options}, cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def library(sanitizer: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The functions of the core."""
    assert sanitizer
    return compiled(CORE, tmp_path_factory.mktemp("support") / "support.so")


@pytest.mark.slow
@pytest.mark.hypothesis  # `make fuzz` draws all
@pytest.mark.parametrize("name", CHECKS)
def test_as_the_model(name: str, library: Path, sanitizer: str) -> None:
    check("tests.support_code.checks", name, library, sanitizer)
