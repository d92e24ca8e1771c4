"""Run cases on the HIP library that the loader finds: all, or those that are named."""

from __future__ import annotations

import sys

from tests.rocm.gpu.cases import CASES
from tests.rocm.gpu.device import Gpu, Skipped
from tests.support.each_case import run_each


def run(name: str) -> int:
    """0 if it passes, 2 if it was skipped; prints why."""
    try:
        gpu = Gpu.of_this_process()
        CASES[name](gpu)
    except Skipped as skipped:
        print(skipped)
        return 2
    return 0


if __name__ == "__main__":
    module = "tests.rocm.gpu"
    sys.exit(run(sys.argv[1]) if len(sys.argv) > 1 else run_each(module, CASES))
