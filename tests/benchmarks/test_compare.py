"""benchmarks/compare.py runs where no peer can be installed, and says so."""

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

COMPARE: Final = Path(__file__).parents[2] / "benchmarks" / "compare.py"
CC: Final = shlex.split(os.environ.get("CC", "cc"))[0]
# pip reports the first of these as not found.
PEERS: Final = {
    "NVIDIA": "nvidia-cutlass-dsl",
    "TVM": "apache-tvm",
    "C++": "ninja",
    "torch": "torch",
}

pytestmark = pytest.mark.skipif(shutil.which(CC) is None, reason=f"needs a C compiler: no {CC}")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The output of a quick run without a package index, and the folder that it writes."""
    folder = tmp_path_factory.mktemp("compare")
    command = [sys.executable, str(COMPARE), "--quick"]
    command += ["--environments", str(folder / "environments"), "--output", str(folder / "output")]
    offline = {**os.environ, "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}
    offline.pop("PIP_FIND_LINKS", None)
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=offline)
    assert done.returncode == 0, done.stderr
    return done.stdout, folder / "output"


@pytest.mark.parametrize("peer", PEERS)
def test_who_cannot_be_installed_is_named_with_the_error(peer: str, run: tuple[str, Path]):
    (line,) = [line for line in run[0].splitlines() if line.startswith(f"- {peer} is ")]
    assert "**missing**: pip: ERROR: " in line
    assert PEERS[peer] in line


def test_what_needs_no_peer_is_measured(run: tuple[str, Path]):
    figures = json.loads((run[1] / "results.json").read_text())
    for case in ("scalar", "mm", "t8_strided", "nested", "ptrs"):
        for how in ("nop", "direct", "pointers", "structs"):
            calls = figures[f"C call / {case} / {how}"]
            assert set(calls) == {"ours", "by_hand", "unchecked"}
            assert len({len(values) for values in calls.values()}) == 1  # one each a round
        assert min(figures[f"attach new / {case} / pointers"]["ours"]) > 0
    assert figures["first error"]["ours"]


def test_goals_without_the_peer_are_not_measured_and_the_others_are(run: tuple[str, Path]):
    goals = run[0].partition("## Goals")[2].partition("\n## ")[0].splitlines()
    rows = {line.split(" | ")[0].strip("| "): line for line in goals if line.startswith("| ")}
    assert rows["attach, new / NVIDIA, matmul"].endswith("| not measured |")
    assert rows["C call / C by hand, matmul"].rstrip(" |").endswith(("yes", "**no**"))


def test_the_files_are_the_table_and_a_picture(run: tuple[str, Path]):
    assert (run[1] / "results.md").read_text() + "\n" == run[0]
    picture = ElementTree.parse(run[1] / "results.svg").getroot()
    shown = {element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert {"ffi_builder", "C by hand", "8 x rank 4"} <= shown
