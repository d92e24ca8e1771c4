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


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"dtype": "int31"}, "Var 'n': dtype: expected one of int8, int16, .* but got 'int31'"),
        ({"dtype": "int31"}, "did you mean 'int"),
        ({"dtype": "float8_e4m3fn"}, "Var 'n': dtype: expected one of int8.* 'float8_e4m3fn'"),
        ({"dtype": 32}, "Var 'n': dtype: expected one of int8.* but got 32"),
        ({"min": 5, "max": 7, "divisibility": 4}, "Var 'n': no multiple of 4 is between 5 and 7"),
        ({"divisibility": 0}, "Var 'n': divisibility: expected a positive int but got 0"),
        ({"divisibility": -16}, "Var 'n': divisibility: expected a positive int but got -16"),
        ({"divisibility": 1.5}, r"divisibility: expected an int but got 1.5 \(float\)"),
        ({"divisibility": True}, r"divisibility: expected an int but got True \(bool\)"),
        ({"divisibility": 2**63}, "divisibility: expected an int that fits int64 but got 92"),
        ({"min": "3"}, r"Var 'n': min: expected an int but got '3' \(str\)"),
        ({"min": False}, r"Var 'n': min: expected an int but got False \(bool\)"),
        ({"min": -(2**31) - 1}, r"min: -2147483649 does not fit int32 \(-2147483648 to 2147"),
        ({"max": 2**31}, "Var 'n': max: 2147483648 does not fit int32"),
        ({"dtype": "uint8", "min": -1}, r"min: -1 does not fit uint8 \(0 to 255\)"),
        ({"min": 5, "max": 4}, "Var 'n': min 5 is greater than max 4"),
        ({"dtype": "float32", "min": 1}, "Var 'n': min is for integer symbols.* is float32"),
        ({"dtype": "bool", "max": 1}, "Var 'n': max is for integer symbols.* is bool"),
        ({"dtype": "handle", "divisibility": 16}, "divisibility is for integer.* is handle"),
        ({"kw_only": 1}, "Var 'n': kw_only: expected True or False but got 1"),
        ({"doc": 7}, r"Var 'n': doc: expected a str but got 7 \(int\)"),
        (
            {"doc": "a\ud800"},
            r"Var 'n': doc: .* UTF-8 can encode but got 'a\\ud800', which has a lone surrogate at index 1",
        ),
    ],
)
def test_refused(fields: dict[str, Any], words: str):
    fields = {"dtype": "int32", **fields}
    with pytest.raises(SpecError, match=words):
        Var("n", **fields)


@pytest.mark.parametrize("name", ["", "2n", "a b", "a.b", "größe", "n-1", None, 3, b"n"])
def test_names_that_are_none(name: Any):
    with pytest.raises(SpecError) as caught:
        Var(name, "int32")
    assert str(caught.value) == (
        "Var name: expected a name of ASCII letters, digits and underscores that does not start "
        f"with a digit but got {name!r}"
    )


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
