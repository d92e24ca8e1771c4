"""The tests in suite/ with each distribution that is installed; docs/systems.md has the outcome."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.distributions.known import KNOWN, REPORT, VARIABLE, Known
from tests.distributions.page import identity, is_written, row, rows, write

SUITE = Path(__file__).parent / "suite"


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.root)
def test_distribution(known: Known, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    installed = known.installed
    if installed is None:
        pytest.skip(known.needs)
    report = tmp_path / "notes.json"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", str(SUITE), "-q", "-p", "no:cacheprovider"],
        env={**os.environ, VARIABLE: known.root, REPORT: str(report)},
        cwd=SUITE.parents[2],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    line = row(known, installed, json.loads(report.read_text()))
    if request.config.getoption("--update-distributions"):
        write({**rows(), known.root: line})
    written = rows().get(known.root, "")
    # Lines of other versions than the page's are not compared: their tests just pass.
    if identity(line) == identity(written):
        assert line == written, "pytest tests/distributions --update-distributions writes it anew"


def test_the_page() -> None:
    """Every distribution has a line, also those that are not installed here."""
    assert set(rows()) == {known.root for known in KNOWN}
    assert is_written(rows()), "pytest tests/distributions --update-distributions writes it anew"
