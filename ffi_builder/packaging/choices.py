"""What a wheel of kernels may be made for. The command line reads it without loading LLVM."""

from __future__ import annotations

from typing import Final

from ffi_builder.packaging.template import _load

BASELINE: Final = "baseline"
CPUS: Final = (BASELINE, *reversed(_load.LEVELS))
FRAMEWORKS: Final = ("torch", "jax")
