# pyright: basic, reportMissingImports=false, reportInvalidTypeForm=false, reportAttributeAccessIssue=false
"""Exports a kernel of FlyDSL to the folder that is given: add.o and add.h."""

import sys

import flydsl.compiler as flyc
import flydsl.expr as fx
import torch


@flyc.kernel
def add_kernel(x: fx.Tensor, y: fx.Tensor, out: fx.Tensor, block: fx.Constexpr[int]):
    """Add two vectors."""
    at = fx.block_idx.x * block + fx.thread_idx.x
    out[at] = x[at] + y[at]


@flyc.jit
def add(
    x: fx.Tensor,
    y: fx.Tensor,
    out: fx.Tensor,
    n: fx.Int32,
    block: fx.Constexpr[int],
    stream: fx.Stream = fx.Stream(None),  # noqa: B008 # FlyDSL reads the default
):
    """Launch it in blocks of a size that divides n."""
    add_kernel(x, y, out, block).launch(grid=(n // block, 1, 1), block=[block, 1, 1], stream=stream)


tensor = torch.zeros(1024)
flyc.compile(add, tensor, tensor, tensor, 1024, 128).export_to_c(sys.argv[1], "add", "add")
