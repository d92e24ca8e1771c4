from __future__ import annotations

import keyword
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ffi_builder import spec
from ffi_builder.spec import Var, ceildiv, dims, maximum, minimum
from ffi_builder.spec.expr import Expr
from ffi_builder.spec.functions import linear, variables
from ffi_builder.spec.numbers import FUNCTIONS
from tests.oracle.symbols import linear_form
from tests.spec.strategies import exprs

n, k, m = dims("n k m")
NAMES = dict(vars(spec))


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (n * 2, "n * 2"),
        (2 * n, "2 * n"),
        (n + 1, "n + 1"),
        (1 + n, "1 + n"),
        (n - 1, "n - 1"),
        (8 - n, "8 - n"),
        (n // 16, "n // 16"),
        (n % 8, "n % 8"),
        (ceildiv(n, 4), "ceildiv(n, 4)"),
        (maximum(n, 4) * 2, "max(n, 4) * 2"),
        (minimum(3, n - k), "min(3, n - k)"),
        (maximum(n, maximum(k, m) + 1), "max(n, max(k, m) + 1)"),
        (n + k * m, "n + k * m"),
        ((n + k) * m, "(n + k) * m"),
        (n - (k - m), "n - (k - m)"),
        (n - k - m, "n - k - m"),
        (n * (k // 2), "n * (k // 2)"),
        (n * k // 2, "n * k // 2"),
        (n * (k * m), "n * (k * m)"),
        ((n + 1) // 2 % 3, "(n + 1) // 2 % 3"),
        (ceildiv(n + 1, 2) * 3, "ceildiv(n + 1, 2) * 3"),
        (n + -1, "n + -1"),
        (-1 * n, "-1 * n"),
    ],
)
def test_text(expr: Expr, text: str):
    assert str(expr) == text
    assert (
        eval(text, {"n": n, "k": k, "m": m, "ceildiv": ceildiv, "max": maximum, "min": minimum})
        == expr
    )


def as_python(expr: Expr) -> bool:
    """Tell whether Python can read the text: some names mean something else there."""
    return not any(keyword.iskeyword(var.name) or var.name in FUNCTIONS for var in variables(expr))


@given(exprs())
def test_text_and_repr_read_back(expr: Expr):
    symbols = {var.name: var for var in variables(expr)}
    if as_python(expr):
        names = {"ceildiv": ceildiv, "max": maximum, "min": minimum}
        assert eval(str(expr), {**names, **symbols}) == expr
    assert eval(repr(expr), NAMES) == expr
    assert hash(eval(repr(expr), NAMES)) == hash(expr)


def test_equal_by_structure():
    assert n * 2 == n * 2
    assert n * 2 != 2 * n
    assert n * 2 != n * 3
    assert n + 0 != n


def test_an_int_divided_is_an_int():
    assert [ceildiv(value, 4) for value in (-5, -4, 0, 1, 4, 5)] == [-1, -1, 0, 1, 1, 2]


def test_variables_from_left_to_right_with_repeats():
    assert list(variables((n + k) * n)) == [n, k, n]
    assert list(variables(n)) == [n]
    assert list(variables(4)) == list(variables(None)) == []


@pytest.mark.parametrize(
    ("expr", "form"),
    [
        (n * 2, (2, n, 0)),
        (2 * n + 1, (2, n, 1)),
        (1 - n, (-1, n, 1)),
        ((n + 1) * 3, (3, n, 3)),
        (n + n, (2, n, 0)),
        (n * 3 - n, (2, n, 0)),
        (-2 * (n - 5) * 3, (-6, n, 30)),
        (n - n, None),
        (n * 0, None),
        (n * n, None),
        (n * k, None),
        (n + k, None),
        (n + k - k, None),
        (n // 2, None),
        (n % 2, None),
        (ceildiv(n, 2), None),
        (maximum(n, 2), None),
        (n * 2**62 * 4, None),
        ((n + 2**62) * 4, None),
        (n * 2 + 2**62 + 2**62, None),
        (n * 2 - 2**62 - 2**62, (2, n, -(2**63))),
        (n * 2 + 2**62 + 2**62 - 1, (2, n, 2**63 - 1)),
    ],
)
def test_linear(expr: Expr, form: tuple[int, Var, int] | None):
    assert linear(expr) == form


def value_of(dim: Any, symbols: dict[str, int]) -> int:
    divide: Callable[[int, int], int] = lambda a, b: -(-a // b)  # noqa: E731
    return eval(str(dim), {"ceildiv": divide, "max": max, "min": min, **symbols})


@given(exprs(), st.integers(-(10**6), 10**6))
def test_a_linear_form_has_the_value_of_the_expression(expr: Expr, value: int):
    form = linear(expr)
    if form is not None:
        scale, var, offset = form
        assume(as_python(expr))
        assert value_of(expr, {var.name: value}) == scale * value + offset


@given(exprs())
def test_linear_is_what_the_rules_call_so(expr: Expr):
    assert linear(expr) == linear_form(expr)
