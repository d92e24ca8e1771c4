"""Relations at the limits of int64, of provisional symbols, and of absent ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ffi_builder.spec import (
    Optional,
    Param,
    Shape,
    Signature,
    Struct,
    Var,
    ceildiv,
    equal,
    maximum,
    minimum,
    not_equal,
    one_of,
)
from ffi_builder.spec.expr import Condition, Expr
from tests.differential.description import NONE, Arguments, Value, array, of_int, shape
from tests.differential.strategies import Case
from tests.differential.tricky.made import MAX, MIN, Tensor, f32, k, m, n, s

LIMITS: Final = (MIN, MIN + 1, -(2**32), -3, -1, 0, 1, 2, 3, 4, 7, 2**31, 2**32, MAX - 1, MAX)
BIG: Final = Var("b", "uint64")


def keeping(params: Sequence[Param], where: Sequence[Condition], *calls: tuple[Value, ...]) -> Case:
    return Case(Signature("f", params, where=where), tuple(map(Arguments, calls)))


def pairs(*where: Condition) -> Case:
    calls = ((of_int(x), of_int(y)) for x in LIMITS for y in LIMITS)
    return keeping([n, m], where, *calls)


def deep(depth: int) -> Expr:
    """An expression of that many levels."""
    found: Expr = n + 0
    for level in range(depth - 1):
        found = maximum(n + level, found) if level % 2 else minimum(found, m - level)
    return found


CASES: Final[dict[str, Case]] = {
    "relations: comparisons": pairs(
        n <= m, n + 1 < m + 3, m * 2 >= n, m > n - 9, not_equal(n, m), equal(n + m, m + n + m - n)
    ),
    "relations: equal": pairs(equal(n, m)),
    "relations: not equal": pairs(not_equal(n, m)),
    "relations: greater": pairs(n > m),
    "relations: at least": pairs(n >= m),
    "relations: less": pairs(n < m),
    "relations: products": pairs(n * m <= 2**31 - 1, n * m >= -(2**33)),
    "relations: sets": pairs(
        one_of(n, [MIN, 3, 4, MAX]), one_of(n * m, [MIN, 0, 12, MAX - 1, MAX])
    ),
    "relations: an int": pairs(not_equal(n, 0), equal(m, MAX), n + m > MIN),
    "relations: rounding": pairs(
        one_of(n % 4, [0, 1, 3]), n // 2 <= ceildiv(m, 3), not_equal(m % 7, n % 7)
    ),
    "relations: max": pairs(maximum(n, m) <= MAX - 1, maximum(n, 3) < maximum(m, 4) + 1),
    "relations: min": pairs(minimum(n, m) >= MIN + 1, minimum(0 - n, m) <= 2**31),
    "relations: deep": pairs(deep(30) <= m, n <= deep(22)),
    "conditions: relations": pairs(
        (n * m <= 12) | (n + 1 > m), ~(n * n >= 9) | one_of(m, [1, 3]), ~((n < m) & (m * m < 4))
    ),
    "conditions: absent": keeping(
        [Optional(n), Optional(m), BIG],
        [~(n <= 3) | (m > BIG), (n > m) | ~(n < BIG + 1)],
        *(
            (x, y, of_int(b))
            for x in (NONE, of_int(1), of_int(5))
            for y in (NONE, of_int(2), of_int(MAX))
            for b in (0, 3, MAX)
        ),
    ),
    "conditions: overflows beside what is absent": keeping(
        [Optional(k), n, m],
        [
            (k < n) & ((n * n <= 8) | (m < 2)),
            ~(k < n) & ~((n * n > 8) & (m < 2)),
            ~((k < n) | ~((n * n <= 8) | (m < 2))) | (m > 3),
            ~(~((k < n) | (n * n <= 8)) | (m < 2)),
        ],
        *(
            (x, of_int(y), of_int(z))
            for x in (NONE, of_int(1), of_int(9))
            for y in (2, 5, 2**40)
            for z in (1, 3, 5)
        ),
    ),
    "relations: uint64": keeping(
        [BIG, n],
        [n <= BIG, maximum(n, 0) < BIG],
        *((of_int(x), of_int(y)) for x in (0, 1, 5, MAX) for y in LIMITS),
    ),
    "relations: absent": keeping(
        [Optional(n), m, Optional(Struct("cfg", [k, Shape("d", [n, m])]))],
        [n <= m, k < m, one_of(n * k, [0, 6, 12])],
        *(
            (x, of_int(4), cfg)
            for x in (NONE, *map(of_int, (3, 4, 5, MAX)))
            for cfg in (
                NONE,
                *(array(of_int(y), shape(z, 4)) for y in (2, 3, 4) for z in (3, 4, 5)),
            )
        ),
    ),
    "relations: provisional": keeping(
        [
            Tensor("A", [None], strides=[s]),
            Tensor("B", [None], strides=[s]),
            Tensor("C", [n * 2]),
            Tensor("D", [None], strides=[k]),
        ],
        [s <= n, k < n, not_equal(k, s)],
        *(
            (f32(a, strides=(x,)), f32(b, strides=(y,)), f32(c), f32(d, strides=(z,)))
            for a in (1, 2)
            for b in (1, 2)
            for c in (6, 20)
            for d in (1, 2)
            for x in (3, 9)
            for y in (3, 9)
            for z in (3, 8, 9)
        ),
    ),
    "relations: behind what waits": keeping(
        [Tensor("A", [n * m]), m, Tensor("B", [n])],
        [n <= m],
        *((f32(a), of_int(y), f32(x)) for a in (6, 12) for y in (2, 3, 4) for x in (2, 3, 4)),
    ),
}
