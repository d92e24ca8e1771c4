"""docs/extending.md: its diff applies to the package, touches no more files than it says, and works."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ffi_builder import support
from tests.docs.blocks import FENCE
from tests.docs.test_docs import CC
from tools.support import COMPILER

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "extending.md"
GIT = shutil.which("git")

DIFF = "".join(match[2] for match in FENCE.finditer(PAGE.read_text()) if match[1] == "diff")
MOST_FILES = 6
"""How many files of the package a kind with a check may touch."""


def test_an_extension_touches_few_files():
    files = set(re.findall(r"^\+\+\+ b/(ffi_builder/\S+)$", DIFF, re.MULTILINE))
    said = re.search(r"^Files: (\d+)\.", PAGE.read_text(), re.MULTILINE)
    assert said is not None
    assert int(said[1]) == len(files) <= MOST_FILES


def make_support(root: Path) -> None:
    """Do what `make support` does, in a copy."""
    subprocess.run([sys.executable, "-m", "tools.support"], cwd=root, check=True, timeout=600)
    library = root / support.library().relative_to(ROOT)
    code = library.with_name(f"{platform.machine()}.o")
    subprocess.run([*CC, "-shared", "-o", str(library), str(code)], check=True, timeout=600)


@pytest.mark.slow
@pytest.mark.skipif(GIT is None, reason="needs git to apply the diff")
@pytest.mark.skipif(
    shutil.which(COMPILER) is None or not Path("/usr/aarch64-linux-gnu/include").exists(),
    reason=f"needs {COMPILER} and libc6-dev-arm64-cross for the check",
)
def test_the_extension_works(tmp_path: Path):
    for folder in ("ffi_builder", "tests/docs", "tools"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    shutil.copy(ROOT / "tests" / "__init__.py", tmp_path / "tests")
    assert GIT is not None
    done = subprocess.run(
        [GIT, "apply", "--unidiff-zero", "-"],
        input=DIFF,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    make_support(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "tests.docs.blocks", "--all", str(PAGE)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
