"""Narrows the values that symbols may have to those with which relations may hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from ffi_builder import spec
from ffi_builder.testing.evaluate import OPERATORS

Span: TypeAlias = tuple[int, int]
"""The smallest and the largest value."""
Spans: TypeAlias = dict[spec.Var, Span]

_ROUNDS: Final = 8
"""The number of times that all spans are narrowed: each round may help the next."""


def narrow(relations: Iterable[spec.Relation], spans: Spans) -> spec.Relation | None:
    """Narrow the spans of symbols to values with which each relation alone is possible.

    Returns a relation that is not possible with any of the values, if there is one.
    """
    for _ in range(_ROUNDS):
        before = dict(spans)
        for relation in relations:
            if not _possible(relation, spans):
                return relation
            for var in spec.variables(relation):
                if spans[var][0] < spans[var][1]:
                    spans[var] = _narrowed(relation, var, spans)
        if spans == before:
            break
    return None


def _narrowed(relation: spec.Relation, var: spec.Var, spans: Spans) -> Span:
    """Cut the ends off the span of one symbol.

    A part of a span is possible if a smaller part is, so that both ends are found by halving.
    """

    def possible(low: int, high: int) -> bool:
        return _possible(relation, {**spans, var: (low, high)})

    least, greatest = low, high = spans[var]
    if not possible(least, least):
        low = _first(lambda end: possible(least, end), least + 1, greatest)
    if not possible(greatest, greatest):
        high = -_first(lambda start: possible(-start, greatest), 1 - greatest, -low)
    return low, high


def _first(reached: Callable[[int], bool], least: int, greatest: int) -> int:
    """Return the least value for which ``reached`` is True, as it is for all greater ones."""
    while least < greatest:
        middle = (least + greatest) // 2
        if reached(middle):
            greatest = middle
        else:
            least = middle + 1
    return least


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
