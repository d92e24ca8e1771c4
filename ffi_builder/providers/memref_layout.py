"""Strides of a Tensor as products of numbers and symbols, to see whether it is row-major."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from ffi_builder import spec

Product: TypeAlias = "tuple[int, tuple[str, ...]]"
"""A number, and the sorted symbols (or other expressions) by which it is multiplied."""


def only_value(dim: spec.Dim | None) -> int | None:
    """Return the only value that an entry of a shape or of strides can have, or None."""
    if isinstance(dim, int):
        return dim
    if isinstance(dim, spec.Var) and dim.min is not None and dim.min == dim.max:
        return dim.min
    if isinstance(dim, spec.Expr) and dim.op == "*":
        number, symbols = _product(dim)
        return None if symbols else number
    return None


def row_major(tensor: spec.Tensor, axis: int) -> Product:
    """Return the row-major stride of a dimension: the product of the later dimensions."""
    return _product_of(tensor, range(axis + 1, tensor.ndim))


def given_strides(tensor: spec.Tensor) -> list[Product | None]:
    """Return the strides that the spec requires; None for one that may be anything."""
    axes = range(tensor.ndim)
    entries = tensor.stride_entries
    if entries is not None:
        return [None if entry is None else _product(entry) for entry in entries]
    if tensor.order == "F":
        return [_product_of(tensor, range(axis)) for axis in axes]
    return [row_major(tensor, axis) for axis in axes]


def show_product(product: Product) -> str:
    """Format a product: ``4``, ``n`` or ``4 * n * m``."""
    number, symbols = product
    factors = [str(number)] if number != 1 or not symbols else []
    return " * ".join([*factors, *symbols])


def _product_of(tensor: spec.Tensor, axes: Sequence[int]) -> Product:
    dims = tensor.dims
    # A dimension that is not checked is like a symbol that occurs nowhere else.
    factors = [
        (1, (f"shape[{axis}]",)) if dim is None else _product(dim)
        for axis, dim in enumerate(dims)
        if axis in axes
    ]
    return _multiplied(factors)


def _product(dim: spec.Dim) -> Product:
    if isinstance(dim, spec.Expr) and dim.op == "*":
        return _multiplied([_product(dim.lhs), _product(dim.rhs)])
    value = only_value(dim)
    return (1, (str(dim),)) if value is None else (value, ())


def _multiplied(factors: Sequence[Product]) -> Product:
    number, symbols = 1, list[str]()
    for factor, others in factors:
        number *= factor
        symbols += others
    return number, tuple(sorted(symbols))
