"""Run cases on the libcuda.so.1 that the loader finds."""

from __future__ import annotations

import subprocess
import sys

from ffi_builder.fakecuda.build import SONAME
from tests.cuda.gpu import cases, frameworks, watched
from tests.cuda.gpu.device import Gpu, Skipped
from tests.cuda.gpu.emulation import emulate
from tests.fakecuda import FakeDriver

CASES = {**cases.CASES, **watched.CASES, **frameworks.CASES}


def run(name: str) -> int:
    """0 if it passes, 1 if it does not, 2 if it was skipped; prints why."""
    try:
        gpu = Gpu.of_this_process()
        fake = FakeDriver(SONAME) if gpu.is_fake else None
        if fake is not None:
            emulate(fake)
        CASES[name](gpu)
    except Skipped as skipped:
        print(skipped)
        return 2
    return 0


def run_all() -> int:
    """Each in a process of its own: one that fails leaves its context broken.

    1 if a case fails, or all are skipped because there is no GPU.
    """
    failed = skipped = 0
    for name in CASES:
        status = subprocess.run([sys.executable, "-m", "tests.cuda.gpu", name], check=False)
        word = {0: "passed", 2: "skipped"}.get(status.returncode, "FAILED")
        print(f"{name}: {word}", flush=True)
        failed += word == "FAILED"
        skipped += word == "skipped"
    print(f"{len(CASES) - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return int(failed > 0 or skipped == len(CASES))


if __name__ == "__main__":
    sys.exit(run(sys.argv[1]) if len(sys.argv) > 1 else run_all())
