"""Solves the shapes of arguments for symbols, and computes shapes of results from these.

Sizes are ints, or JAX's symbolic dimensions where a function is exported for many shapes. The
arithmetic is the same for both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

from ffi_builder import spec
from ffi_builder.testing.evaluate import OPERATORS

Size: TypeAlias = Any
"""An int, or a symbolic dimension of JAX."""


def row_major(shape: Sequence[Size]) -> list[Size]:
    """Return the strides of a contiguous array, in elements."""
    strides: list[Size] = []
    stride: Size = 1
    for size in reversed(shape):
        strides.insert(0, stride)
        stride = stride * size
    return strides


def entries_of(param: spec.Param, value: Any) -> Iterator[tuple[object, Size]]:
    """Yield each symbol, dimension and stride of a parameter beside the value that it has.

    ``value`` is the shape of a contiguous array for a Tensor, and the value itself for others. What
    has another type or length yields nothing, or less: the check of the arguments reports it.
    """
    match param:
        case spec.Var() if isinstance(value, int):
            yield param, value
        case spec.Shape() if isinstance(value, tuple):
            entries = cast("tuple[object, ...]", value)
            pairs = zip(param.shape, entries, strict=False)
            yield from (pair for pair in pairs if isinstance(pair[1], int))
        case spec.Tensor():
            yield from zip(param.dims, value, strict=False)
            yield from zip(param.stride_entries or (), row_major(value), strict=False)
        case _:
            return


def solve(entries: Iterable[tuple[object, Size]]) -> dict[spec.Var, Size]:
    """Return the symbols that the entries bind: those that stand alone, or in ``a * n + b``.

    The first value of a symbol counts. Whether later ones are equal, and whether an expression has
    an integer solution, is for the check of the arguments to say.
    """
    found: dict[spec.Var, Size] = {}
    for entry, value in entries:
        match entry:
            case spec.Var():
                found.setdefault(entry, value)
            case spec.Expr():
                form = spec.linear(entry)
                if form is not None:
                    scale, symbol, offset = form
                    found.setdefault(symbol, (value - offset) // scale)
            case _:
                pass
    return found


def evaluate(entry: spec.Dim, values: Mapping[spec.Var, Size]) -> Size:
    """Return the value of an int, a symbol or an expression.

    Raises:
        KeyError: a symbol has no value.
    """
    match entry:
        case int():
            return entry
        case spec.Var():
            return values[entry]
        case spec.Expr(op, lhs, rhs):
            return OPERATORS[op](evaluate(lhs, values), evaluate(rhs, values))
