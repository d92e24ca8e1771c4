"""Computes the shape, strides and memory of a tensor from the values of symbols."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ffi_builder import spec
from ffi_builder.testing.evaluate import evaluate


def layout_of(
    tensor: spec.Tensor, symbols: Mapping[spec.Var, int | float]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return shape and strides in elements of ``dtype``, as the spec counts them.

    Every dimension has an entry. A stride that may be anything, or whose symbols have no values
    yet, is chosen so that elements do not overlap. Entries that do not fit int64 become 0; the
    caller refuses them.
    """
    shape = [_known(entry, symbols) or 0 for entry in tensor.dims]
    if tensor.order is not None:
        return tuple(shape), contiguous(shape, tensor.order)
    strides = [_known(entry, symbols) for entry in tensor.stride_entries or ()]
    for axis in reversed(range(len(shape))):
        if strides[axis] is None:
            pairs = zip(shape, strides, strict=True)
            extent = max([dim * abs(stride) for dim, stride in pairs if stride is not None] + [1])
            strides[axis] = -(-extent // tensor.packing) * tensor.packing
    return tuple(shape), tuple(stride or 0 for stride in strides)


def stored(
    tensor: spec.Tensor, shape: Sequence[int], strides: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return shape and strides as stored, in elements of the storage dtype."""
    axis, packing = tensor.packed_axis, tensor.packing
    if axis is None:
        return tuple(shape), tuple(strides)
    dims = tuple(dim // packing if i == axis else dim for i, dim in enumerate(shape))
    if tensor.order is not None:
        return dims, contiguous(dims, tensor.order)
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


def contiguous(shape: Sequence[int], order: str) -> tuple[int, ...]:
    """Return the strides of a contiguous tensor, row-major (``"C"``) or column-major (``"F"``)."""
    axes = range(len(shape))
    return tuple(math.prod(shape[i + 1 :] if order == "C" else shape[:i]) for i in axes)


def _known(entry: spec.Dim | None, symbols: Mapping[spec.Var, int | float]) -> int | None:
    """Return the value of an entry; None if it may be anything, or is not known yet."""
    if entry is None or any(var not in symbols for var in spec.variables(entry)):
        return None
    return evaluate(entry, lambda var: symbols[var]) or 0
