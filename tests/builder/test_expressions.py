"""An expression is checked for overflow where one of its parts can leave int64, and only there."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Final

import pytest

from ffi_builder import runtime
from ffi_builder.spec import Tensor, Var, ceildiv
from ffi_builder.spec.expr import Expr
from tests.differential.description import DLTensor, of_int, tensor
from tests.support.printed import printed_wrapper
from tests.support.wrapping import RawWrapper, attached

LEAST, GREATEST = -(2**63), 2**63 - 1
BOTH: Final = Var("a", "int64", min=-10, max=21)
POSITIVE: Final = Var("b", "int64", min=3, max=17)
NEGATIVE: Final = Var("c", "int64", min=-9, max=-2)
SYMBOLS: Final = (BOTH, POSITIVE, NEGATIVE)
OPERATORS: Final[dict[str, Callable[[int, int], int]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": lambda x, y: x // y,
    "%": operator.mod,
    "ceildiv": lambda x, y: -(-x // y),
}
PARTS: Final[list[Expr]] = [
    *(x + y for x, y in itertools.combinations(SYMBOLS, 2)),
    *(x - y for x, y in itertools.permutations(SYMBOLS, 2)),
    *(x * y for x, y in itertools.combinations(SYMBOLS, 2)),
    *(x // 4 for x in SYMBOLS),
    *(x % 4 for x in SYMBOLS),
    *(ceildiv(x, 4) for x in SYMBOLS),
    BOTH % 1,
    BOTH // 1,
    NEGATIVE // 2 % 3,
    NEGATIVE // 2 // 2,
    BOTH // 3 * 5,
    ceildiv(NEGATIVE % 4 - 2, 2),
]
"""Each takes every value from its least to its greatest, or at least these two."""


def value_of(part: Expr | Var | int, values: dict[Var, int]) -> int:
    """A second reading of expressions, exact."""
    match part:
        case int():
            return part
        case Var():
            return values[part]
        case Expr(op, lhs, rhs):
            return OPERATORS[op](value_of(lhs, values), value_of(rhs, values))


def choices() -> list[dict[Var, int]]:
    """All values of all symbols that are near an end of their range or near zero."""
    near: list[list[int]] = []
    for var in SYMBOLS:
        assert var.min is not None
        assert var.max is not None
        steps = range(var.min, var.max + 1)
        near.append([x for x in steps if min(x - var.min, var.max - x, abs(x)) < 4])
    return [dict(zip(SYMBOLS, values, strict=True)) for values in itertools.product(*near)]


def call(wrapper: RawWrapper, values: dict[Var, int], stride: int) -> tuple[str, str] | None:
    """Call it with a tensor of that stride."""
    return wrapper(*map(of_int, values.values()), tensor(DLTensor((2,), (stride,))))


@pytest.mark.parametrize("part", PARTS, ids=str)
def test_the_range_of_a_part_is_known_exactly(part: Expr) -> None:
    given = {value_of(part, values): values for values in choices()}
    low, high = min(given), max(given)
    cases = [
        (part - high + GREATEST, None),
        (part - (high - 1) + GREATEST, high),
        (part - low + LEAST, None),
        (part - (low + 1) + LEAST, low),
    ]
    for expression, overflows_at in cases:
        stride = Tensor("x", [None], "float32", device_type="cpu", strides=[expression])
        module = attached([*SYMBOLS, stride])
        assert ("sadd.with.overflow" in printed_wrapper(module)) == (overflows_at is not None)
        wrapper = RawWrapper(runtime.compile(module), "f")
        for value, values in given.items():
            right = value_of(expression, values)
            if value == overflows_at:
                wrapped = LEAST if right > 0 else GREATEST
                error = call(wrapper, values, wrapped)
                assert error is not None
                assert f"expected {expression} within int64, with" in error[1]
                continue
            assert call(wrapper, values, right) is None
            error = call(wrapper, values, right - 1 if right > 0 else right + 1)
            assert error is not None
            assert f"expected {right} ({expression} with" in error[1]


@pytest.mark.parametrize("most", [2**63 - 1, 2**63, None])
def test_a_uint64_beyond_int64_is_no_part_of_an_expression(most: int | None) -> None:
    n = Var("n", "uint64", max=most)
    stride = Tensor("x", [None], "float32", device_type="cpu", strides=[n // 2])
    wrapper = RawWrapper(runtime.compile(attached([n, stride])), "f")
    assert wrapper(of_int(2**63 - 1), tensor(DLTensor((2,), (2**62 - 1,)))) is None
    error = wrapper(of_int(2**63), tensor(DLTensor((2,), (2**62,))))
    assert error is not None
    assert ("within int64" if most != 2**63 - 1 else "expected at most") in error[1]
