"""Finds out whether a tensor is row-major contiguous, where a provider asks for it.

The rule is that of a Tensor without ``strides=``: a stride is right if it is the product of the
later dimensions, or if its dimension is 1. All strides of an empty tensor are right.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from ffi_builder import abi
from ffi_builder.builder.fast_path.context import DL, FastPath
from ffi_builder.builder.fast_path.state import Position
from ffi_builder.ir import CheckingBuilder, Value


def of_strides(b: CheckingBuilder, dims: Sequence[Value], strides: Sequence[Value]) -> Value:
    """Return an i1 for dimensions and strides, all i64s.

    The sizes of tensors are checked, so only that of an empty one is 0.
    """
    one = b.i64(1)
    size, right = one, list[Value]()
    for dim, stride in zip(reversed(dims), reversed(strides), strict=True):
        right.append(b.or_(b.eq(stride, size), b.eq(dim, one)))
        size = b.mul(size, dim) if len(right) > 1 else dim
    if not right:
        return b.i1(True)
    return b.or_(functools.reduce(b.and_, right), b.eq(size, b.i64(0)))


def of_any_rank(fast: FastPath, position: Position) -> Value:
    """Return an i1 for a tensor whose spec leaves the rank open; NULL strides are row-major."""
    b, t = fast.b, fast.b.types
    tensor = fast.object(position)
    is_null = b.is_null(b.field(t.ptr, tensor, DL + abi.DLTENSOR_STRIDES))
    given, found = b.new_block(), b.new_block(t.i1)
    b.cond_br(is_null, found, given, (is_null,))
    b.block = given
    b.br(found, fast.shared("contiguous", [tensor]))
    b.block = found
    return found.arguments[0]
