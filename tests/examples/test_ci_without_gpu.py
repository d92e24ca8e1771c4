"""examples/ci_without_gpu: its tests pass, and fail for mistakes in code that launches."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ffi_builder import addons
from tests.examples.running import EXAMPLES, ROOT
from tests.fakecuda import missing

pytestmark = [
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.skipif(addons.absent("ptx") is not None, reason="needs the add-on ptx"),
]

FOLDER = EXAMPLES / "ci_without_gpu"
LAUNCH, REFUSED, RANDOM = (
    "test_the_launch",
    "test_a_wrong_argument_is_refused",
    "test_random_arguments_give_what_numpy_gives",
)


def outcomes(folder: Path) -> dict[str, str]:
    """Run the tests of a copy of the example, as its author does; return the result of each."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "pytest", "-v", "-p", "no:cacheprovider"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.findall(r"^(test_\w+\.py::\w+) ([A-Z]+)", done.stdout, re.MULTILINE)
    assert found, done.stdout + done.stderr
    return dict(found)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    shutil.copytree(FOLDER, tmp_path / "copied", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "copied"


def test_it_passes(copied: Path):
    found = outcomes(copied)
    assert len(found) == 6
    assert {*found.values()} == {"PASSED"}


@pytest.mark.parametrize(
    ("file", "old", "new", "failing"),
    [
        ("test_triton.py", "ceildiv(n, {BLOCK})", "n // {BLOCK}", {LAUNCH, RANDOM}),
        ("test_triton.py", '["x", "y", "n", "a"]', '["y", "x", "n", "a"]', {LAUNCH, RANDOM}),
        ("test_triton.py", '"y: Tensor([n]', '"y: Tensor([m]', {REFUSED, RANDOM}),
        ("test_tilelang.py", 'grid=SAVED["grid"]', 'grid="m // 4"', {LAUNCH, RANDOM}),
        ("test_tilelang.py", 'block=SAVED["block"]', "block=64", {LAUNCH, RANDOM}),
    ],
    ids=["grid", "args", "shape", "grid in TileLang", "block"],
)
def test_a_mistake_fails(copied: Path, file: str, old: str, new: str, failing: set[str]):
    text = (copied / file).read_text()
    assert old in text
    (copied / file).write_text(text.replace(old, new))
    results = outcomes(copied)
    failed = {name.partition("::")[2] for name, result in results.items() if result != "PASSED"}
    assert failed == failing
    assert all(name.startswith(file) for name, result in results.items() if result != "PASSED")
