"""Calls that random ones seldom are: limits of int64, provisional symbols, malformed memory."""

from __future__ import annotations

from typing import Final

from ffi_builder.spec import (
    Dim,
    Shape,
    TupleParam,
    Var,
    ceildiv,
)
from tests.differential.description import (
    array,
    of_int,
    shape,
)
from tests.differential.strategies import Case
from tests.differential.tricky.made import (
    MAX,
    MIN,
    PROVISIONAL,
    SOLVED,
    Tensor,
    case,
    f32,
    k,
    n,
    one_by_one,
    s,
    two_strides,
)


def nested(depth: int) -> Dim:
    """``n - (n + (n - …))``: that many values have to be kept while it is evaluated."""
    expression: Dim = n
    for level in range(depth - 1):
        expression = n - expression if level % 2 else n + expression
    return expression


BOUNDED: Final = Var("n", "int32", min=2, max=8, divisibility=2)

CASES: Final[dict[str, Case]] = {
    "two strides of a symbol": two_strides([*PROVISIONAL]),
    "two strides that are solved": two_strides([*SOLVED]),
    "strides, then a dimension": case(
        [Tensor("A", [None], strides=[s]), Tensor("Y", [s * 2]), Tensor("B", [s]), Shape("d", [s])],
        (f32(1, strides=(7,)), f32(8), f32(4), shape(4)),
        (f32(5, strides=(7,)), f32(8), f32(4), shape(4)),
        (f32(5, strides=(4,)), f32(8), f32(4), shape(5)),
        (f32(5, strides=(4,)), f32(9), f32(4), shape(4)),
    ),
    "a solved stride, then a dimension": case(
        [Tensor("A", [None], strides=[s * 2]), Tensor("B", [s * 3]), Tensor("C", [s + 1])],
        *(
            (f32(a, strides=(x,)), f32(9), f32(c))
            for a in (1, 5)
            for x in (5, 6, 8)
            for c in (4, 5)
        ),
    ),
    "a symbol of strides alone, waited for": case(
        [Tensor("X", [s * 2]), *PROVISIONAL],
        *((f32(14), f32(a, strides=(7,)), f32(b, strides=(8,))) for a in (1, 2) for b in (1, 2)),
    ),
    "a free stride that fits nothing": case(
        [Tensor("A", [None], strides=[Var("s", "int8") * 2]), Var("b", "uint8")],
        *((f32(a, strides=(x,)), of_int(1)) for a in (1, 2) for x in (5, 6, 300, 301, MIN)),
    ),
    "solving beyond int64": one_by_one(
        [Tensor("A", [n * 2 + (MIN + 2), None], strides=[None, None])],
        *(f32(x, 0) for x in (0, 1, 2**62, MAX, MAX - 1)),
    ),
    "solving with scale -1": one_by_one(
        [Tensor("A", [None], strides=[0 - n])], *(f32(2, strides=(x,)) for x in (5, MAX, MIN))
    ),
    "bounds of a symbol": one_by_one(
        [Tensor("A", [BOUNDED])], *(f32(size) for size in (0, 1, 2, 3, 4, 8, 9, 10))
    ),
    "bounds of a solved symbol": case(
        [Tensor("A", [BOUNDED * 3 + 1]), Tensor("B", [2 - BOUNDED + 20])],
        *((f32(a), f32(b)) for a in (1, 4, 7, 10, 13, 25, 28, 31) for b in (20, 18, 22 - 8)),
    ),
    "expressions at the limits": case(
        [n, Tensor("A", [None], strides=[n * 2 // 2]), Tensor("B", [None], strides=[0 - n + 1])],
        *(
            (of_int(x), f32(2, strides=(a,)), f32(2, strides=(b,)))
            for x in (2**62, 2**62 - 1, MIN, MAX, -(2**62))
            for a in (x, -x % 2**63)
            for b in (1 - x, 0)
            if -(2**63) <= b <= MAX
        ),
    ),
    "rounding of expressions": case(
        [
            Tensor("A", [None] * 4, strides=[n // 4, n % 4, ceildiv(n, 4), ceildiv(n, 1)]),
            n,
        ],
        *(
            (f32(2, 2, 2, 2, strides=(x // 4, x % 4, -(-x // 4), x)), of_int(x))
            for x in (-9, -8, -7, -1, 0, 1, 7, 8, MIN, MAX, MIN + 1, MAX - 1)
        ),
    ),
    "deep expressions": case(
        [n, Tensor("A", [None] * 2, strides=[nested(9), nested(64)])],
        *(
            (of_int(x), f32(2, 2, strides=(x * a, x * b)))
            for x in (0, 3, -5)
            for a in (1, 2)
            for b in (0, 1, 2)
        ),
        *((of_int(x), f32(2, 2, strides=(x, x))) for x in (MAX, MIN, 2**62)),
    ),
    "large constants of expressions": case(
        [
            n,
            Tensor("A", [None] * 3, strides=[n // MAX, n % MAX, ceildiv(n, 2**62)]),
            Tensor("B", [None] * 2, strides=[n - MIN, n * MIN]),
        ],
        *(
            (
                of_int(x),
                f32(2, 2, 2, strides=(x // MAX, x % MAX, -(-x // 2**62) + wrong)),
                f32(2, 2, strides=tuple(y if MIN <= y <= MAX else 0 for y in (x - MIN, x * MIN))),
            )
            for x in (0, 1, -1, MAX, MIN, MIN + 1, MAX - 1, 2**62, -(2**62))
            for wrong in (0, 1)
        ),
    ),
    "solving with large constants": one_by_one(
        [Tensor("A", [None] * 3, strides=[n + MIN, k * MAX, s * -(2**62) - 1])],
        *(
            f32(2, 2, 2, strides=(x, y, z))
            for x in (0, -1, -2, MIN)
            for y in (0, MAX, -MAX, MIN)
            for z in (-1, MIN, MAX, 2**62 - 1, -(2**62) - 1)
        ),
        *(f32(1, 0, 1, strides=(x, x, x)) for x in (0, -1, MAX, MIN)),
    ),
    "large divisors of symbols": case(
        [
            Var("n", "int64", divisibility=MAX),
            TupleParam("t", [Var("k", "uint64", divisibility=2**62 + 1)]),
            Tensor("A", [None], strides=[Var("m", "int64", divisibility=2**62)]),
        ],
        *(
            (of_int(x), array(of_int(y)), f32(2, strides=(z,)))
            for x in (0, MAX, -MAX, MIN, 1)
            for y in (0, 2**62 + 1, 2**63 + 2, 2**64 - 1)
            for z in (0, 2**62, MIN, MAX)
        ),
    ),
    "uint64 in expressions": case(
        [Var("n", "uint64"), Tensor("A", [Var("n", "uint64") // 2])],
        *((of_int(x), f32(y)) for x, y in ((2**63, 2**62), (MAX, 2**62 - 1), (2**64 - 1, MAX))),
    ),
    "strides are shown as int64 behind a uint64": case(
        [Tensor("A", [Var("n", "uint64"), Var("n", "uint64")]), Tensor("B", [Var("n", "uint64")])],
        *(
            (f32(2, 2, strides=strides), f32(2, strides=other))
            for strides in (None, (-4, 1), (2, 1), (2, MIN))
            for other in (None, (-1,), (1,))
        ),
    ),
}
