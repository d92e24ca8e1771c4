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


# The file, what is replaced by what, and the tests that fail.
MISTAKES = {
    "grid": ("test_triton.py", "ceildiv(n, {BLOCK})", "n // {BLOCK}", {LAUNCH, RANDOM}),
    "args": ("test_triton.py", '["x", "y", "n", "a"]', '["y", "x", "n", "a"]', {LAUNCH, RANDOM}),
    "shape": ("test_triton.py", '"y: Tensor([n]', '"y: Tensor([m]', {REFUSED, RANDOM}),
    "tilelang": ("test_tilelang.py", 'grid=SAVED["grid"]', 'grid="m // 4"', {LAUNCH, RANDOM}),
    "block": ("test_tilelang.py", 'block=SAVED["block"]', "block=64", {LAUNCH, RANDOM}),
}


@pytest.fixture(scope="module")
def with_mistakes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The results of copies that have one mistake each, and of the files, run at once."""
    folder = tmp_path_factory.mktemp("mistakes") / "copied"
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name, (file, old, new, _) in MISTAKES.items():
        text = (folder / file).read_text()
        assert old in text
        (folder / f"test_with_{name}.py").write_text(text.replace(old, new))
    return outcomes(folder)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_fails(name: str, with_mistakes: dict[str, str]):
    found = {
        test.partition("::")[2]: result
        for test, result in with_mistakes.items()
        if test.startswith(f"test_with_{name}.py")
    }
    assert len(found) == 3
    assert {test for test, result in found.items() if result != "PASSED"} == MISTAKES[name][3]


def test_it_passes_without_mistakes(with_mistakes: dict[str, str]):
    files = ("test_triton.py", "test_tilelang.py")
    others = [result for test, result in with_mistakes.items() if test.startswith(files)]
    assert others == ["PASSED"] * 6
