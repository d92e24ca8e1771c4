"""tools/without.py deletes an add-on in a copy, and tests the rest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ffi_builder.addons import ADD_ONS
from tests.support.absent import whole

ROOT = Path(__file__).parents[2]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tools.without", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_it_lists_the_add_ons() -> None:
    assert run().stdout.split() == [each.name for each in ADD_ONS]


def test_what_is_no_add_on() -> None:
    done = run("spec")
    assert done.returncode == 2
    assert "choose from" in done.stderr


@whole
@pytest.mark.slow
def test_the_rest_passes_without_what_was_deleted() -> None:
    done = run("frameworks", "-q", "-n0", "tests/test_add_ons.py", "tests/test_public_names.py")
    assert done.returncode == 0, done.stdout + done.stderr
    for path in ("ffi_builder/frameworks", "tests/frameworks/jax", "docs/torch.md"):
        assert f"deleted {path}\n" in done.stdout
        assert not (ROOT / "build" / "without" / "frameworks" / path).exists()
        assert (ROOT / path).exists()
    assert "needs the add-on frameworks, torch, jax" in done.stdout
    assert "; skipped for want of an add-on: " in done.stdout


@whole
@pytest.mark.slow
def test_a_test_that_fails_there_fails(tmp_path: Path) -> None:
    failing = tmp_path / "test_failing.py"
    failing.write_text(
        "def test_it(): raise ImportError('is of the add-on cli, which is not here')"
    )
    assert run("jax", "-q", "-n0", str(failing)).returncode == 1
