"""Run cases on the libcuda.so.1 that the loader finds."""

from __future__ import annotations

import sys

from ffi_builder.fakecuda.build import SONAME
from tests.cuda.gpu import cases, frameworks, watched
from tests.cuda.gpu.device import Gpu, Skipped
from tests.cuda.gpu.emulation import emulate
from tests.fakecuda import FakeDriver
from tests.support.each_case import run_each

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


if __name__ == "__main__":
    module = "tests.cuda.gpu"
    sys.exit(run(sys.argv[1]) if len(sys.argv) > 1 else run_each(module, CASES))
