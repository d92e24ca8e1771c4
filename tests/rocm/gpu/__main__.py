"""Run cases on the HIP library that the loader finds: all, or those that are named."""

from __future__ import annotations

import subprocess
import sys

from tests.rocm.gpu.cases import CASES
from tests.rocm.gpu.device import Gpu, Skipped


def run(name: str) -> int:
    """0 if it passes, 2 if it was skipped; prints why."""
    try:
        gpu = Gpu.of_this_process()
        CASES[name](gpu)
    except Skipped as skipped:
        print(skipped)
        return 2
    return 0


def run_all() -> int:
    """Each in a process of its own. 1 if a case fails, or all are skipped: there is no GPU."""
    failed = skipped = 0
    for name in CASES:
        status = subprocess.run([sys.executable, "-m", "tests.rocm.gpu", name], check=False)
        word = {0: "passed", 2: "skipped"}.get(status.returncode, "FAILED")
        print(f"{name}: {word}", flush=True)
        failed += word == "FAILED"
        skipped += word == "skipped"
    print(f"{len(CASES) - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return int(failed > 0 or skipped == len(CASES))


if __name__ == "__main__":
    sys.exit(run(sys.argv[1]) if len(sys.argv) > 1 else run_all())
