"""Reads tensors of any rank where a provider knows their rank.

The fast path keeps nothing of what is read here: the rank is known in one branch alone.
"""

from __future__ import annotations

from ffi_builder import abi
from ffi_builder.builder.fast_path.context import DL, FastPath
from ffi_builder.builder.fast_path.state import Position
from ffi_builder.ir import Value, call_support


def shape(fast: FastPath, position: Position, ndim: int) -> list[Value]:
    """Load the dimensions of a tensor that is there, as i64s."""
    b, t = fast.b, fast.b.types
    if not ndim:
        return []
    pointer = b.field(t.ptr, fast.tensor(position).object, DL + abi.DLTENSOR_SHAPE)
    return [b.field(t.i64, pointer, 8 * axis) for axis in range(ndim)]


def strides(fast: FastPath, position: Position, ndim: int, order: str | None) -> list[Value]:
    """Return the strides: those of an order, which a check has found, or else loaded ones."""
    b, t = fast.b, fast.b.types
    if not ndim:
        return []
    if order is None:
        space = b.alloca(t.i64, ndim)
        tensor = fast.tensor(position).object
        given = b.field(t.ptr, tensor, DL + abi.DLTENSOR_STRIDES)
        found, absent = b.new_block(t.ptr), b.new_block(cold=True)
        b.cond_br(b.ne(given, b.null()), found, absent, (given,), likely=True)
        b.block = absent
        b.br(found, call_support(b, "row_major_strides", [tensor, space]))
        b.block = found
        return [b.field(t.i64, found.arguments[0], 8 * axis) for axis in range(ndim)]
    dims = shape(fast, position, ndim)
    inner = dims[:-1] if order == "F" else dims[:0:-1]
    products: list[Value] = [b.i64(1)]
    for dim in inner:
        products.append(b.mul(products[-1], dim) if len(products) > 1 else dim)
    return products if order == "F" else products[::-1]
