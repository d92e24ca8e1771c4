from __future__ import annotations

from typing import Any

import pytest

from ffi_builder import SpecError
from ffi_builder.spec import Var, dims
from ffi_builder.spec.numbers import INT_RANGES, VAR_DTYPES


@pytest.mark.parametrize("dtype", VAR_DTYPES)
def test_dtypes(dtype: str):
    var = Var("n", dtype)
    assert str(var) == "n"
    assert var.is_integer == (dtype in INT_RANGES)


def test_bounds_that_just_hold():
    Var("n", "int8", min=-128, max=127, divisibility=1)
    Var("n", "int32", min=5, max=5)
    # uint64 goes past int64, and so may its bounds.
    assert Var("n", "uint64", max=2**64 - 1).max == 2**64 - 1


def test_equal_by_value():
    assert Var("n", "int64") == Var("n", "int64")
    assert hash(Var("n", "int64", min=1)) == hash(Var("n", "int64", min=1))
    assert len({Var("n", "int64"), Var("n", "int64"), Var("n", "int32")}) == 2
    for other in (Var("m", "int64"), Var("n", "int32"), Var("n", "int64", divisibility=2)):
        assert Var("n", "int64") != other


def test_what_python_callers_see_is_not_part_of_the_symbol():
    assert Var("n", "int64", default=3, doc="rows", kw_only=True) == Var("n", "int64")
    # Not even where it has no hash and no boolean ==.
    assert hash(Var("n", "int64", default=[])) == hash(Var("n", "int64"))


def test_frozen():
    with pytest.raises(AttributeError):
        Var("n", "int64").name = "m"  # pyright: ignore[reportAttributeAccessIssue]


def test_dims():
    assert dims("n k m") == (Var("n", "int64"), Var("k", "int64"), Var("m", "int64"))
    assert dims("n, k,m", dtype="int32") == tuple(Var(name, "int32") for name in "nkm")
    (n,) = dims("n")
    assert n == Var("n", "int64")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("",), "dims: expected names such as 'n k m' but got ''"),
        ((" , ",), "dims: expected names such as 'n k m' but got ' , '"),
        (("n 2k",), "Var name: .* but got '2k'"),
        (("n", "int"), "Var 'n': dtype: expected one of"),
        ((["n", "k"],), "dims: expected a str but got"),
    ],
)
def test_dims_refused(arguments: tuple[Any, ...], words: str):
    with pytest.raises(SpecError, match=words):
        dims(*arguments)
