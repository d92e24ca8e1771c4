"""Finds values of a symbol near which a relation begins or ceases to hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ffi_builder import spec
from ffi_builder.testing.evaluate import exact

_UNKNOWN = 2
"""The value that symbols are taken to have while they have none."""


def boundaries(
    relation: spec.Relation, var: spec.Var, values: Mapping[spec.Var, float]
) -> Iterator[int]:
    """Yield the values next to those with which the two sides are equal.

    They are found where the difference of the sides only rises or only falls with the symbol, from
    0 on or up to 0.

    Args:
        relation: the relation, which has the symbol.
        var: the symbol.
        values: values of other symbols.
    """
    low, high = spec.INT_RANGES[var.dtype]
    halves = [(0, high)] if low == 0 else [(0, high), (low, 0)]
    targets = relation.rhs if isinstance(relation.rhs, tuple) else (relation.rhs,)

    def difference(target: spec.Dim, value: int) -> int:
        def of(other: spec.Var) -> float:
            return value if other == var else values.get(other, _UNKNOWN)

        return exact(relation.lhs, of) - exact(target, of)

    for least, greatest in halves:
        for target in targets:
            found = _root(lambda value, to=target: difference(to, value), least, greatest)
            yield from (found, found + 1, found - 1)


def _root(difference: Callable[[int], int], least: int, greatest: int) -> int:
    """Return the least value that does not lie before the root of a monotonous function."""
    sign = 1 if difference(least) <= difference(greatest) else -1
    while least < greatest:
        middle = (least + greatest) // 2
        if sign * difference(middle) >= 0:
            greatest = middle
        else:
            least = middle + 1
    return least
