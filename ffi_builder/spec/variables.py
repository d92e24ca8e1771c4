"""The symbols in an expression or relation."""

from __future__ import annotations

from collections.abc import Iterator

from ffi_builder.spec.expr import Expr, Relation, Var


def variables(value: object) -> Iterator[Var]:
    """Yield every Var in an expression or relation, left to right, with repeats.

    There is none in an int, a tuple of ints and None.

    Examples:
        >>> from ffi_builder import spec
        >>> n, k = spec.dims("n k")
        >>> [var.name for var in spec.variables(n * k + n)]
        ['n', 'k', 'n']
    """
    match value:
        case Var():
            yield value
        case Expr(_, lhs, rhs) | Relation(_, lhs, rhs):
            yield from variables(lhs)
            yield from variables(rhs)
        case _:
            return
