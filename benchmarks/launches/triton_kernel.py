# pyright: basic, reportMissingImports=false
"""The kernel in Triton, in a file because Triton reads its source; once by tensor descriptors."""

import triton
import triton.language as tl


@triton.jit
def saxpy(a, x, y, n, BLOCK: tl.constexpr):  # type: ignore
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    old = tl.load(y + at, mask=inside)
    tl.store(y + at, a * tl.load(x + at, mask=inside) + old, mask=inside)


@triton.jit
def described(a, x, y, BLOCK: tl.constexpr):  # type: ignore
    at = tl.program_id(0) * BLOCK
    y.store([at], a * x.load([at]) + y.load([at]))
