"""Computes the shape, strides and memory of a tensor from the values of symbols."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from ffi_builder import spec
from ffi_builder.testing.evaluate import evaluate

LIMIT: Final = 2**30
"""Greatest size of a tensor, in bytes. Larger ones are nearly always a mistake."""

_UNSAID: Final = 2
"""Size of a dimension that may be anything."""
_ANY_RANK: Final = (2, 3)
"""Shape of a tensor that may have any rank."""


def layout_of(
    tensor: spec.Tensor, symbols: Mapping[spec.Var, int | float]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return shape and strides in elements of ``dtype``, as the spec counts them.

    A stride that may be anything, or whose symbols have no values yet, is chosen so that elements
    do not overlap. Entries that do not fit int64 become 0; the caller refuses them.
    """
    axis_of_packed = tensor.packed_axis
    dims = _ANY_RANK if tensor.any_rank else tensor.dims
    shape = [
        _entry(entry, symbols, tensor.packing * _UNSAID if axis == axis_of_packed else _UNSAID)
        for axis, entry in enumerate(dims)
    ]
    if tensor.order is not None:
        return tuple(shape), _contiguous(shape, tensor.order)
    entries = (None,) * len(shape) if tensor.any_rank else tensor.stride_entries or ()
    known = [_known(entry, symbols) for entry in entries]
    for axis in reversed(range(len(shape))):
        if known[axis] is None:
            pairs = zip(shape, known, strict=True)
            extent = max([dim * abs(stride) for dim, stride in pairs if stride is not None] + [1])
            known[axis] = -(-extent // tensor.packing) * tensor.packing
    return tuple(shape), tuple(stride or 0 for stride in known)


def stored(
    tensor: spec.Tensor, shape: Sequence[int], strides: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return shape and strides as stored, in elements of the storage dtype."""
    axis, packing = tensor.packed_axis, tensor.packing
    if axis is None:
        return tuple(shape), tuple(strides)
    dims = tuple(dim // packing if i == axis else dim for i, dim in enumerate(shape))
    if tensor.order is not None:
        return dims, _contiguous(dims, tensor.order)
    return dims, tuple(s if i == axis else s // packing for i, s in enumerate(strides))


def reach(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, int]:
    """Count the elements that lie before the first one in memory, and those from it on."""
    if 0 in shape:
        return 0, 0
    steps = [(dim - 1) * stride for dim, stride in zip(shape, strides, strict=True)]
    return -sum(min(step, 0) for step in steps), 1 + sum(max(step, 0) for step in steps)


def room_for(tensor: spec.Tensor, shape: Sequence[int], strides: Sequence[int]) -> int:
    """Count the bytes that the tensor and its alignment need."""
    bits = spec.parse_dtype(tensor.element_dtypes[0]).total_bits
    elements = sum(reach(*stored(tensor, shape, strides)))
    return -(-elements * bits // 8) + (tensor.data_alignment or 0 if elements else 0)


def is_row_major(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Compare the strides with those of a C array, including strides that may be anything."""
    return tuple(strides) == _contiguous(shape, "C")


def _contiguous(shape: Sequence[int], order: str) -> tuple[int, ...]:
    axes = range(len(shape))
    return tuple(math.prod(shape[i + 1 :] if order == "C" else shape[:i]) for i in axes)


def _entry(entry: spec.Dim | None, symbols: Mapping[spec.Var, int | float], unsaid: int) -> int:
    return unsaid if entry is None else evaluate(entry, lambda var: symbols[var]) or 0


def _known(entry: spec.Dim | None, symbols: Mapping[spec.Var, int | float]) -> int | None:
    if entry is None or any(var not in symbols for var in spec.variables(entry)):
        return None
    return evaluate(entry, lambda var: symbols[var]) or 0
