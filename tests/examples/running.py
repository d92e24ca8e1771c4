"""Runs an example, and reads what it prints."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.support.absent import ABSENT

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
CC = shlex.split(os.environ.get("CC", "cc"))[0]
CXX = shlex.split(os.environ.get("CXX", "c++"))[0]


IN_ONE_PROCESS: Final = """
import runpy, sys
from ffi_builder.runtime.isolate import worker

def refuse(kind, failure, message):
    raise AssertionError("a child process was asked: " + failure)

worker._request = refuse
sys.argv = sys.argv[1:]
sys.path[0] = sys.argv[0].rpartition("/")[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs an example, whose kernels must be compiled in its own process."""


def run(example: str, *args: str, in_one_process: bool = False) -> str:
    """Return the output of an example; skip the test of one that went with an absent add-on."""
    if ABSENT and not (EXAMPLES / example).exists():
        pytest.skip(f"needs the add-on {ABSENT[0].name}")
    program = ["-c", IN_ONE_PROCESS] if in_one_process else []
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-W", "error", *program, str(EXAMPLES / example), *args],
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
