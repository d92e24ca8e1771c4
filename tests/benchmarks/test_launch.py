"""benchmarks/launch.py: on the driver that does nothing, and on one that has the kernel run."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

import pytest

from tests.fakecuda import environment, library, missing

BENCHMARKS: Final = Path(__file__).parents[2] / "benchmarks"
CC: Final = shlex.split(os.environ.get("CC", "cc"))[0]
OURS: Final = {
    "C": {
        "cuLaunchKernelEx",
        "ffi_builder",
        "ffi_builder, the stream an argument",
        "ffi_builder, the NULL stream",
    },
    "Python": {"ffi_builder, tvm_ffi tensors"},
}
NEED_A_GPU: Final = ("torch", "Triton", "CuPy RawKernel")

pytestmark = pytest.mark.skipif(shutil.which(CC) is None, reason=f"needs a C compiler: no {CC}")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The output of a quick run, and the folder that it writes."""
    folder = tmp_path_factory.mktemp("launch")
    command = [sys.executable, str(BENCHMARKS / "launch.py"), "--quick", "--null"]
    command += ["--output", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, folder


def test_it_says_what_was_measured_and_what_was_not(run: tuple[str, Path]):
    assert "On a null driver, which returns at once: --null was given." in run[0]
    for name in NEED_A_GPU:
        assert f"- {name} is **missing**: needs a GPU\n" in run[0]
    assert (run[1] / "launch.md").read_text() == run[0].removesuffix("\n")


def test_every_way_has_a_figure_for_each_round(run: tuple[str, Path]):
    figures = json.loads((run[1] / "launch.json").read_text())
    for caller, titles in OURS.items():
        assert titles <= set(figures[caller])
        assert {len(values) for values in figures[caller].values()} == {21}
        assert min(min(values) for values in figures[caller].values()) > 0
        for title in titles:
            assert f"\n| {title} | " in run[0]


def test_the_picture_has_a_bar_for_each(run: tuple[str, Path]):
    figures = json.loads((run[1] / "launch.json").read_text())
    root = ElementTree.parse(run[1] / "launch.svg").getroot()
    bars = root.findall("{http://www.w3.org/2000/svg}rect")
    assert len(bars) == sum(len(titles) for titles in figures.values())


ON_A_DRIVER: Final = """
import sys, tempfile
from pathlib import Path
from tests.fakecuda import FakeDriver
from tests.fakecuda.kernels import emulate_saxpy
fake = FakeDriver("libcuda.so.1")
sys.path.insert(0, sys.argv[1])
import launch
if sys.argv[2] == "computing":
    emulate_saxpy(fake)
with tempfile.TemporaryDirectory() as folder:
    driver, why = launch.open_driver(Path(folder), null=False)
    ways, missing = launch.find_ways(driver, launch.Loops(Path(folder)), Path(folder), null=False)
    print(why, *(way.title for way in ways), sep="|")
    launch.IN_A_QUEUE = 10
    samples = launch.measure(driver, ways, 3, null=False)
    assert "a driver of CUDA 13." in driver.name()
    text = launch.report(samples, ways)
    assert [way.title for way in ways if f"| {way.title} | " not in text] == []
    assert {each.grid for each in fake.launches()} == {(1, 1, 1)}
    assert {each.stream == driver.stream for each in fake.launches()} == {True, False}
    assert not fake.violations()
"""


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
@pytest.mark.parametrize("kernel", ["computing", "idle"])
def test_every_way_must_compute_where_there_is_a_gpu(kernel: str):
    """The fake driver for a real one: it refuses what that would, and runs the kernel."""
    done = subprocess.run(
        [sys.executable, "-c", ON_A_DRIVER, str(BENCHMARKS), kernel],
        cwd=BENCHMARKS.parent,
        env=environment(library()),
        capture_output=True,
        text=True,
        check=False,
    )
    if kernel == "idle":
        assert "AssertionError: cuLaunchKernelEx: 2 * 1 + 2 is {2.0}" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    why, *titles = done.stdout.strip().split("|")
    assert why == ""
    assert set(titles) >= OURS["C"] | OURS["Python"]
