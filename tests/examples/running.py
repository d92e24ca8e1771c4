"""Runs an example, and reads what it prints."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.absent import ABSENT

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
CC = shlex.split(os.environ.get("CC", "cc"))[0]
CXX = shlex.split(os.environ.get("CXX", "c++"))[0]


def run(example: str, *args: str) -> str:
    """Return the output of an example; skip the test of one that went with an absent add-on."""
    if ABSENT and not (EXAMPLES / example).exists():
        pytest.skip(f"needs the add-on {ABSENT[0].name}")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / example), *args],
        capture_output=True,
        text=True,
        env=environment,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


def sections(output: str) -> dict[str, str]:
    """Return the text below each ``==== heading``."""
    parts = re.split(r"^==== (.*)\n", output, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def differences(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"largest difference .*: (\S+)", text)]
