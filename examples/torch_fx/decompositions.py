"""Operators of PyTorch as simpler ones, where torch-mlir is wrong or incomplete."""

# pyright: basic, reportMissingImports=false
import math

import torch
from torch_mlir.extras.fx_decomp_util import get_decomposition_table


def floor_division(x, y, *, rounding_mode=None):
    """Divide integers without floats, by which torch-mlir does it."""
    if rounding_mode != "floor" or torch.result_type(x, y).is_floating_point:
        return NotImplemented
    return torch.div(x - torch.remainder(x, y), y, rounding_mode="trunc")


def view(x, sizes):
    """Compute the size that is given as -1, which torch-mlir does for some views only."""
    known = [size for size in sizes if not is_left_out(size)]
    if len(known) == len(sizes):
        return NotImplemented
    left = x.numel() // math.prod(known)
    return x.view([left if is_left_out(size) else size for size in sizes])


def is_left_out(size):
    return isinstance(size, int) and size == -1  # a symbol is no int


DECOMPOSITIONS = {
    **get_decomposition_table(),
    torch.ops.aten.div.Tensor_mode: floor_division,
    torch.ops.aten.view.default: view,
}
