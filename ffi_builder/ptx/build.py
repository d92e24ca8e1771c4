"""Compiles the interpreter, once for each version of its sources."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Final

from ffi_builder.fakecuda.build import built

SOURCES: Final = Path(__file__).parent / "c"
OPTIONS: Final = ("-std=gnu11", "-O2", "-ffp-contract=off", "-frounding-math", "-fPIC", "-w")


@cache
def interpreter() -> ctypes.CDLL:
    """Return the interpreter; it is built if needed, and kept as the fake driver is.

    Raises:
        RuntimeError: the compiler fails.
    """
    library = ctypes.CDLL(
        str(
            built(
                "ptx.so", SOURCES, OPTIONS, exports="global: op_*; ptx_*; local: *;", ends=("-lm",)
            )
        )
    )
    library.ptx_begin.restype = ctypes.c_void_p
    library.ptx_report.restype = ctypes.c_void_p
    for name in ("ptx_report", "ptx_end"):
        getattr(library, name).argtypes = [ctypes.c_void_p]
    library.ptx_run.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
    library.ptx_run.restype = None
    library.ptx_end.restype = None
    return library
