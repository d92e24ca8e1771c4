"""Refuse systems that compiled functions do not run on, before anything else is imported."""

from __future__ import annotations

import sys

if sys.platform != "linux":
    raise ImportError(
        f"ffi_builder.runtime needs Linux, and this is {sys.platform}: it compiles to ELF objects, "
        "and keeps faults of LLVM in child processes of POSIX. ffi_builder.spec, plan and "
        "explain work on every system, testing.check on macOS too, and builder where there are "
        "MLIR bindings (docs/systems.md)"
    )
