"""The same cases on the fake driver, and on the real one where there is a GPU."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.cuda.gpu import cases, frameworks, watched
from tests.cuda.gpu.cases import KEPT
from tests.cuda.gpu.device import Gpu, Skipped
from tests.cuda.gpu.emulation import emulate
from tests.fakecuda import FakeDriver, environment, library, missing

CASES = {**cases.CASES, **watched.CASES}
ROOT = Path(__file__).parents[2]
PROBE = "import sys, ctypes; sys.exit(ctypes.CDLL('libcuda.so.1').cuInit(0))"


@pytest.mark.parametrize("name", CASES)
def test_on_the_fake_driver(driver: FakeDriver, name: str):
    emulate(driver)
    driver.init()
    try:
        CASES[name](Gpu(driver.cuda))
    except Skipped as skipped:
        pytest.fail(f"the fake has all that a case needs: {skipped}")
    assert driver.stack_depth == 0
    KEPT.clear()


def test_a_process_on_the_fake_driver():
    """As the tests below are run, with another libcuda.so.1."""
    if reason := missing():
        pytest.skip(reason)
    done = run("exit_with_all_of_it_alive", environment(library()))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@cache
def no_gpu() -> str:
    """Why the real driver cannot be used; in a process that has not loaded the fake."""
    command = [sys.executable, "-c", PROBE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    why = done.stderr.strip().splitlines()[-1:] or [f"cuInit: {done.returncode}"]
    return "" if done.returncode == 0 else f"needs a GPU: {why[0]}"


def run(name: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """One case in a process of its own."""
    command = [sys.executable, "-m", "tests.cuda.gpu", name]
    return subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.gpu
@pytest.mark.parametrize("name", [*CASES, *frameworks.CASES])
def test_on_a_gpu(name: str):
    if reason := no_gpu():
        pytest.skip(reason)
    done = run(name)
    if done.returncode == 2:
        pytest.skip(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
