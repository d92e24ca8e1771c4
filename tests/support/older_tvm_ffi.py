"""What the oldest supported apache-tvm-ffi lacks: with it, tests that need this are skipped."""

from __future__ import annotations

from importlib.metadata import version
from typing import Final

import pytest

Version = tuple[int, ...]

INSTALLED: Final[Version] = tuple(map(int, version("apache-tvm-ffi").split(".")[:3]))

_LACKED: Final[dict[str, Version]] = {
    "Python int too large to convert to C long": (0, 1, 14),
    "`TVMFFIBigIntFromByteArray`": (0, 1, 14),
    "'tvm_ffi.core.Tensor' object has no attribute 'data_ptr'": (0, 1, 13),
    "'tvm_ffi.core.Tensor' object has no attribute 'numel'": (0, 1, 13),
    "module 'tvm_ffi' has no attribute 'VisitInterrupt'": (0, 1, 13),
}
"""How a test fails, and the first version with which it does not."""


def lacked(error: Exception) -> str:
    """Say what the installed version lacks, if the error is about that; empty if it is not."""
    words = str(error)
    return next((needs(since) for part, since in _LACKED.items() if part in words), "")


def needs(since: Version) -> str:
    """Say which version is needed; empty if the installed one is not older."""
    return f"needs apache-tvm-ffi {'.'.join(map(str, since))}" if since > INSTALLED else ""


def since(*first: int) -> pytest.MarkDecorator:
    """Return the mark of tests that need a version of apache-tvm-ffi."""
    return pytest.mark.skipif(first > INSTALLED, reason=needs(first))
