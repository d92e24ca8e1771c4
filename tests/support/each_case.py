"""Runs cases that need a GPU, each in a process of its own: one that fails leaves it broken."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Collection


def run_each(module: str, cases: Collection[str]) -> int:
    """Run ``python -m module case`` for each case; 2 says that it was skipped.

    Returns 1 if a case fails, or all are skipped because there is no GPU.
    """
    failed = skipped = 0
    for name in cases:
        status = subprocess.run([sys.executable, "-m", module, name], check=False)
        word = {0: "passed", 2: "skipped"}.get(status.returncode, "FAILED")
        print(f"{name}: {word}", flush=True)
        failed += word == "FAILED"
        skipped += word == "skipped"
    print(f"{len(cases) - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return int(failed > 0 or skipped == len(cases))
