"""Compiles the fake HIP library, with HIP's header where there is one."""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from ffi_builder.fakecuda import build
from ffi_builder.fakecuda.build import built

SONAME: Final = "libamdhip64.so.7"
_C: Final = Path(__file__).parent / "c"
_HEADER: Final = "hip/hip_runtime_api.h"


def missing() -> Exception | None:
    """Return an error that says what building the library lacks; None if nothing."""
    error = build.missing()
    if error is None:
        return None
    return type(error)(f"FakeHip is built from the sources of FakeCuda. {error}")


@cache
def header() -> Path | None:
    """Return HIP's header: that of ROCm, or of Triton's package; None if there is none.

    With it the compiler compares declarations, numbers and layouts.
    """
    folders = [Path(os.environ.get("ROCM_PATH") or "/opt/rocm", "include")]
    triton = find_spec("triton")
    if triton is not None and triton.origin is not None:
        folders.append(Path(triton.origin).parent / "backends" / "amd" / "include")
    return next((folder / _HEADER for folder in folders if (folder / _HEADER).exists()), None)


@cache
def library() -> Path:
    """Return the library, as :func:`ffi_builder.fakecuda.build.library` does.

    Raises:
        FileNotFoundError: there is no C compiler.
        ModuleNotFoundError: there is no cuda.h.
        OSError: the system is not Linux.
        RuntimeError: the compiler fails.
    """
    if error := missing():
        raise error
    include, hip_header = build.headers(), header()
    assert include is not None
    options = ["-std=gnu11", "-O1", "-g", "-fPIC", f"-I{include}", f"-I{build.SOURCES}"]
    if hip_header is not None:
        options += ["-DFAKE_HIP_HEADER", f"-isystem{hip_header.parent.parent}"]
    return built(
        SONAME,
        _C,
        tuple(options),
        exports="global: hip*; fake_*; local: *;",
        # Both fakes may be in one process, and have functions of the same names.
        ends=("-Wl,-Bsymbolic", f"-Wl,-soname,{SONAME}", "-ldl", "-lpthread"),
        inputs=(include / "cuda.h", *sorted(build.SOURCES.iterdir()), *filter(None, [hip_header])),
    )
