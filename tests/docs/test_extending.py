"""docs/extending.md: its diffs apply to the package, touch no more files than it says, and work."""

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

SECTIONS = [part for part in PAGE.read_text().split("\n## ")[1:] if "```diff" in part]
MOST_FILES = {"kind": 4, "kind with a check": 7, "check": 4, "provider": 2, "dtype": 2}
"""How many files of the package each kind of extension may touch."""


def diff(section: str) -> str:
    return "".join(match[2] for match in FENCE.finditer(section) if match[1] == "diff")


def title(section: str) -> str:
    return section.partition("\n")[0]


def touched(section: str) -> set[str]:
    return set(re.findall(r"^\+\+\+ b/(ffi_builder/\S+)$", diff(section), re.MULTILINE))


def test_every_extension_is_shown():
    assert [title(section).removeprefix("A new ") for section in SECTIONS] == list(MOST_FILES)


@pytest.mark.parametrize("section", SECTIONS, ids=title)
def test_an_extension_touches_few_files(section: str):
    files = touched(section)
    assert len(files) <= MOST_FILES[title(section).removeprefix("A new ")]
    said = re.search(r"^Files: (\d+)\.", section, re.MULTILINE)
    assert said is not None
    assert int(said[1]) == len(files)


def make_support(root: Path) -> None:
    """Do what `make support` does, in a copy."""
    subprocess.run([sys.executable, "-m", "tools.support"], cwd=root, check=True, timeout=600)
    library = root / support.library().relative_to(ROOT)
    code = library.with_name(f"{platform.machine()}.o")
    subprocess.run([*CC, "-shared", "-o", str(library), str(code)], check=True, timeout=600)


@pytest.mark.slow
@pytest.mark.skipif(GIT is None, reason="needs git to apply the diffs")
@pytest.mark.skipif(
    shutil.which(COMPILER) is None or not Path("/usr/aarch64-linux-gnu/include").exists(),
    reason=f"needs {COMPILER} and libc6-dev-arm64-cross for checks",
)
def test_the_extensions_work(tmp_path: Path):
    for folder in ("ffi_builder", "tests/docs", "tools"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    shutil.copy(ROOT / "tests" / "__init__.py", tmp_path / "tests")
    assert GIT is not None
    for section in SECTIONS:
        done = subprocess.run(
            [GIT, "apply", "--unidiff-zero", "-"],
            input=diff(section),
            capture_output=True,
            text=True,
            cwd=tmp_path,
            check=False,
        )
        assert done.returncode == 0, f"{title(section)}: {done.stderr}"
    make_support(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "tests.docs.blocks", str(PAGE)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
