"""Relations: what makes them, what a Signature takes, and their text."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import assume, given

from ffi_builder import SpecError, spec
from ffi_builder.spec import (
    Signature,
    Tensor,
    Var,
    dims,
    equal,
    maximum,
    minimum,
    not_equal,
    one_of,
    outline,
)
from ffi_builder.spec.expr import Relation
from ffi_builder.spec.functions import variables
from tests.spec.strategies import int_vars

n, m, k = dims("n m k")
NAMES: Final = dict(vars(spec))


def signature(*where: Relation, **fields: Any) -> Signature:
    x = Tensor("x", [n, k], "float32", device_type="cpu")
    return Signature("f", [x, m], where=where, **fields)


@pytest.mark.parametrize(
    ("relation", "text"),
    [
        (n <= m, "n <= m"),
        (n < m + 1, "n < m + 1"),
        (n >= m - k, "n >= m - k"),
        (n * 2 > m, "n * 2 > m"),
        (n * 2 >= 8, "n * 2 >= 8"),
        (n * 2 < 8, "n * 2 < 8"),
        (n * m <= 2**31 - 1, "n * m <= 2147483647"),
        (equal(n, m * 2), "n == m * 2"),
        (equal(8, n), "n == 8"),
        (not_equal(n % 4, 0), "n % 4 != 0"),
        (equal(n % 4, 1), "n % 4 == 1"),
        (equal(n * m % 4, 0), "n * m % 4 == 0"),
        (one_of(n, [128, 64]), "n in {64, 128}"),
        (one_of(n - m, {-1}), "n - m in {-1}"),
        (one_of(maximum(n, m), range(2)), "max(n, m) in {0, 1}"),
        (minimum(n, 4) <= maximum(m, minimum(k, 3)), "min(n, 4) <= max(m, min(k, 3))"),
    ],
)
def test_the_text(relation: Relation, text: str):
    assert str(relation) == text
    assert eval(repr(relation), NAMES) == relation
    made = signature(relation)
    assert made.canonical(device="cpu") == f"f(x: Tensor([n, k], float32), m: int64) where {text}"
    assert Signature.parse(made.canonical()) == made
    assert eval(repr(made), NAMES) == made
    assert hash(eval(repr(made), NAMES)) == hash(made)
    assert outline(made) == outline(signature())


def test_what_is_equal():
    assert (n <= m) == (m >= n) or (n <= m) != (m >= n)  # neither raises
    assert (n <= m) == (n <= m) != (n < m)
    assert (n * 2 >= 8) == (n * 2 >= 8)
    assert one_of(n, [2, 1]) == one_of(n, (1, 2)) == one_of(n, {1, 2})
    assert len({n <= m, n <= m, m >= n}) == 2
    assert signature(n <= m, n < k) != signature(n < k, n <= m)
    assert signature(n <= m) != signature()
    assert signature(n <= m).where == (n <= m,)


def test_vars_are_compared_as_before():
    assert n == Var("n", "int64")
    assert n != m
    assert n in [m, n]


def test_variables():
    assert [*variables(n + m <= n * 2)] == [n, m, n]
    assert [*variables(one_of(k, [1]))] == [k]


@pytest.mark.parametrize(
    "where",
    [
        "n <= m, k in {2, 1}, max(n, k) != 3, no_overlap(x, y)",
        "no_overlap(y), n<=m, no_overlap(x), k in {1,2,}, 3 != max(n,k)",
        "'n' <= ('m'), no_overlap(x, y), k in { 2 , 1 }, max ( n, k, ) != 3",
    ],
)
def test_other_ways_to_write_it(where: str):
    params = "x: Tensor([n], int8), y: Tensor([n, k], int8), m: uint8"
    made = Signature.parse(f"f({params}) where {where}", device="cpu")
    wanted = "f({}) where n <= m, k in {{1, 2}}, max(n, k) != 3, no_overlap(x, y)"
    assert made.canonical(device="cpu") == wanted.format(params)


@pytest.mark.parametrize(
    ("where", "limits"),
    [
        ("n <= 8", "n <= 8"),
        ("n < 8", "n <= 7"),
        ("8 > n", "n <= 7"),
        ("8 >= n, n > 1", "2 <= n <= 8"),
        ("1 < n", "2 <= n"),
        ("1 <= n <= 8", "1 <= n <= 8"),
        ("n % 4 == 0", "n % 4 == 0"),
        ("0 == n % 4", "n % 4 == 0"),
        ("(n) <= 8", "n <= 8"),
    ],
)
def test_limits_of_a_symbol_are_fields_of_it(where: str, limits: str):
    made = Signature.parse(f"f(n: int8) where {where}")
    assert made.where == ()
    assert str(made) == f"f(n: int8) where {limits}"


def test_limits_stand_before_relations():
    text = "f(n: int8, m: uint8) where n <= m, n % 2 == 0, n != 4, m < 9"
    assert str(Signature.parse(text)).endswith("where n % 2 == 0, m <= 8, n <= m, n != 4")


def test_symbols_may_have_the_names():
    text = (
        "f(max: int8, min: int8, in: int8) where in in {1}, max <= min, max(max, min) <= min(in, 3)"
    )
    assert str(Signature.parse(text)) == text


def test_it_stays_when_parameters_change():
    changed = signature(n <= m).with_params(x={"intent": "in"})
    assert changed.where == (n <= m,)


def test_a_symbol_of_a_result_alone_is_not_known():
    y = Tensor("y", [n + 1], "float32", device_type="cpu")
    assert signature(n <= m, returns=y).where == (n <= m,)
    with pytest.raises(SpecError, match="no parameter mentions a symbol 'y'"):
        signature(n <= Var("y", "int64"), returns=y)


@given(int_vars(), int_vars())
def test_a_relation_of_two_symbols(one: Var, other: Var):
    assume(one.name != other.name)
    for relation in (one <= other, one < other, one >= other, one > other):
        made = Signature("f", [one, other], where=[relation])
        assert Signature.parse(str(made)) == made
