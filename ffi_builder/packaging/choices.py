"""Lists the CPUs, frameworks and layouts of packages, also for the command line, without LLVM."""

from __future__ import annotations

from typing import Final

from ffi_builder.packaging.template import _load

BASELINE: Final = "baseline"
CPUS: Final = (BASELINE, *reversed(_load.LEVELS))
FRAMEWORKS: Final = ("torch", "jax")
LAYOUTS: Final = ("wheel", "hub")
