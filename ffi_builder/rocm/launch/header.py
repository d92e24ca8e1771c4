"""Makes ``rocm/support/numbers.h``, for ``tools.support``."""

from __future__ import annotations

from ffi_builder.cuda.launch import header
from ffi_builder.rocm.launch.vendor import ROCM


def text() -> str:
    """Return the header."""
    return header.text(ROCM)
