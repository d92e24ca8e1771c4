"""Finds values of symbols with which relations may hold.

:func:`narrow` excludes what cannot be, for all relations and before the search. :func:`boundaries`
proposes values during the search, for one symbol at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from ffi_builder import spec
from ffi_builder.testing.evaluate import OPERATORS, exact

Span: TypeAlias = tuple[int, int]
"""The smallest and the largest value."""

_UNKNOWN: Final = 2
"""The value that symbols are taken to have while they have none."""
_ROUNDS: Final = 8
"""The number of times that all spans are narrowed: each round may help the next."""


def span_of(var: spec.Var, *, is_size: bool) -> Span:
    """Return the span of a symbol by its dtype, min and max. Sizes are not negative."""
    low, high = spec.INT_RANGES[var.dtype]
    low, high = low if var.min is None else var.min, high if var.max is None else var.max
    return max(low, 0) if is_size and high >= 0 else low, high


def narrow(relations: Sequence[spec.Relation], spans: dict[spec.Var, Span]) -> None:
    """Narrow the spans of symbols to values with which each relation alone is possible.

    A span is left as it is where a relation is not possible with any value of it.
    """
    for _ in range(_ROUNDS):
        before = dict(spans)
        for relation in relations:
            for var in dict.fromkeys(spec.variables(relation)):
                _narrow(relation, var, spans)
        if spans == before:
            return


def _narrow(relation: spec.Relation, var: spec.Var, spans: dict[spec.Var, Span]) -> None:
    """Cut the ends off the span of one symbol.

    A part of a span is possible if a smaller part is, so that both ends are found by halving.
    """

    def possible(low: int, high: int) -> bool:
        return _possible(relation, {**spans, var: (low, high)})

    least, greatest = spans[var]
    if possible(least, greatest):
        low = _first(lambda end: possible(least, end), least, greatest)
        high = -_first(lambda start: possible(-start, greatest), -greatest, -low)
        spans[var] = (low, high)


def _possible(relation: spec.Relation, spans: Mapping[spec.Var, Span]) -> bool:
    """Return False if no values in these spans keep the relation."""
    low, high = _span(relation.lhs, spans)
    if isinstance(relation.rhs, tuple):
        return any(low <= value <= high for value in relation.rhs)
    right_low, right_high = _span(relation.rhs, spans)
    match relation.op:
        case "<=":
            return low <= right_high
        case "<":
            return low < right_high
        case ">=":
            return high >= right_low
        case ">":
            return high > right_low
        case "==":
            return low <= right_high and high >= right_low
        case _:
            return not low == high == right_low == right_high


def _span(value: spec.Dim, spans: Mapping[spec.Var, Span]) -> Span:
    """Return a span that has all values of an expression, and perhaps more."""
    match value:
        case int():
            return value, value
        case spec.Var():
            return spans[value]
        case spec.Expr("%", lhs, int(divisor)):
            low, high = _span(lhs, spans)
            same = low // divisor == high // divisor
            return (low % divisor, high % divisor) if same else (0, divisor - 1)
        case spec.Expr(op, lhs, rhs):
            first, second = _span(lhs, spans), _span(rhs, spans)
            corners = [OPERATORS[op](x, y) for x in first for y in second]
            return min(corners), max(corners)


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
            rises = difference(target, least) <= difference(target, greatest)
            sign = 1 if rises else -1
            found = _first(
                lambda value, to=target, by=sign: by * difference(to, value) >= 0, least, greatest
            )
            yield from (found, found + 1, found - 1)


def _first(reached: Callable[[int], bool], least: int, greatest: int) -> int:
    """Return the least value for which ``reached`` is True, as it is for all greater ones."""
    while least < greatest:
        middle = (least + greatest) // 2
        if reached(middle):
            greatest = middle
        else:
            least = middle + 1
    return least
