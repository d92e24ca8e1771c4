"""The same tests where no call is read in C."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")
HERE = Path(__file__).parent


@pytest.mark.slow
def test_without_the_extension() -> None:
    files = [str(HERE / f"test_{name}.py") for name in ("operators", "autograd", "private_names")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *files],
        env={**os.environ, "FFI_BUILDER_ENTRY": "python"},
        cwd=HERE.parents[2],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout
