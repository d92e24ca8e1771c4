"""The functions in C that wrappers call, compiled for sanitizers and called from another process.

They are compared with short models in Python, on tensors of many dtypes and strides, and the
diagnosis with the oracle.
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
from tests.support_code import diagnosis_checks
from tests.support_code.checks import CHECKS
from tools import plan_header

CORE: Final = Path(support.__file__).parent
ROOT: Final = Path(__file__).parents[2]
WARNINGS: Final = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion")
FLAGS: Final = (
    *("-std=c11", "-O1", "-g", "-fwrapv", "-ffp-contract=off", "-fPIC", "-shared"),
    *("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
)
# tvm-ffi would import PyTorch, which takes more memory than `LITTLE` allows.
WITHOUT_TORCH: Final = """
import runpy, sys
sys.modules["torch"] = None
runpy.run_module(sys.argv.pop(1), run_name="__main__")
"""
LITTLE: Final = "detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=1"
TIMEOUT: Final = 300
"""Seconds; going through all pairs of long lists takes longer."""


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


def check(
    module: str, name: str, library: Path, sanitizer: str, *more: str, **options: str
) -> None:
    """Run checks of a module in a process with the sanitizers."""
    given = {
        "LD_PRELOAD": sanitizer,
        # Python keeps memory until the end.
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",  # so that a sanitizer sees each block
    }
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, module, str(library), name, *more],
        env={**os.environ, **given, **options},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert done.returncode == 0, done.stderr[-5000:]


@pytest.fixture(scope="module")
def library(sanitizer: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The functions of the core."""
    assert sanitizer
    return compiled(CORE, tmp_path_factory.mktemp("support") / "support.so")


@pytest.mark.slow
@pytest.mark.hypothesis  # `make fuzz` draws all
def test_as_the_model(library: Path, sanitizer: str) -> None:
    first, *more = CHECKS
    check("tests.support_code.checks", first, library, sanitizer, *more)


@pytest.mark.slow
@pytest.mark.hypothesis
def test_the_diagnosis(library: Path, sanitizer: str) -> None:
    """On calls of every kind and at its limits."""
    first, *more = diagnosis_checks.CHECKS
    module = diagnosis_checks.__name__
    check(module, first, library, sanitizer, *more, PYTHONMALLOC="")
    check(module, "no_memory", library, sanitizer, PYTHONMALLOC="", ASAN_OPTIONS=LITTLE)


def test_the_header_is_that_of_the_table() -> None:
    """``make support`` writes it."""
    assert (CORE / "plan.h").read_text() == plan_header.text()
