"""Expressions that reach an end of int64 where a part of them does, or go one too far.

Whether such an expression is checked for overflow depends on the range of that part alone, and a
check that is missing lets pass what is wrapped around. Random calls hardly meet an end exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from ffi_builder.spec import Dim, Var, ceildiv
from ffi_builder.spec.expr import Expr
from tests.differential.description import of_int
from tests.differential.strategies import Case
from tests.differential.tricky.made import MAX, MIN, Tensor, case, f32

RANGES: Final = ((-2, 12), (-9, -2), (0, 11), (3, 14))
PARTS: Final[tuple[tuple[Callable[[Var], Dim], Callable[[int], int]], ...]] = (
    *((lambda x, d=d: x // d, lambda value, d=d: value // d) for d in (1, 4, 5)),
    *((lambda x, d=d: x % d, lambda value, d=d: value % d) for d in (1, 4, 5)),
    *((lambda x, d=d: ceildiv(x, d), lambda value, d=d: -(-value // d)) for d in (1, 4, 5)),
    (lambda x: x // 2 % 3, lambda value: value // 2 % 3),
    (lambda x: ceildiv(x // 2, 3), lambda value: -(-(value // 2) // 3)),
    (lambda x: x * -3, lambda value: value * -3),
    (lambda x: 7 - x, lambda value: 7 - value),
)
"""A part, and its exact value."""


def ends(x: Var, part: Expr, values: dict[int, int]) -> Iterator[tuple[str, Case]]:
    """Four strides: at both ends, exactly and one too far; what is passed is wrapped around."""
    low, high = min(values.values()), max(values.values())
    for where, change in (
        ("the least", MIN - low),
        ("one below", MIN - low - 1),
        ("the greatest", MAX - high),
        ("one above", MAX - high + 1),
    ):
        first = change // 2  # in two steps, as one number may not fit int64
        expression = part + first + (change - first)
        calls = (
            (of_int(given), f32(2, strides=(value + change,))) for given, value in values.items()
        )
        yield (
            f"{part} of {x.min} to {x.max} at {where}",
            case([x, Tensor("A", [None], strides=[expression])], *calls),
        )


def every_end() -> Iterator[tuple[str, Case]]:
    for low, high in RANGES:
        x = Var("x", "int64", min=low, max=high)
        for part, value_of in PARTS:
            values = {given: value_of(given) for given in range(low, high + 1)}
            expression = part(x)
            assert isinstance(expression, Expr)
            yield from ends(x, expression, values)


CASES: Final[dict[str, Case]] = dict(every_end())
