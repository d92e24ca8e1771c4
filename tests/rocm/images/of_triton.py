# pyright: basic, reportMissingImports=false
"""A kernel in Triton's language. Triton reads it from this file."""

from __future__ import annotations

import triton
import triton.language as tl

TYPES = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}
PROMISES = {(index,): [["tt.divisibility", 16]] for index in range(3)}


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):  # type: ignore
    """Add two vectors."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(x + at, at < n) + tl.load(y + at, at < n)
    tl.store(out + at, total, at < n)
