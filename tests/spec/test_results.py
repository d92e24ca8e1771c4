"""Results that signatures accept and refuse, as objects and as text."""

from __future__ import annotations

from typing import Any

import pytest

from ffi_builder import SpecError
from ffi_builder.spec import (
    Optional,
    Shape,
    Signature,
    Struct,
    Tensor,
    TupleParam,
    Var,
    dims,
)

n, m = dims("n m")
X = Tensor("x", [n, m], "float32", device_type="cpu")
TOTAL = Var("total", "int64")


def tensor(name: str, *entries: Any, dtype: Any = "float32", **fields: Any) -> Tensor:
    fields.setdefault("device_type", "cpu")
    return Tensor(name, entries, dtype, **fields)


def test_nothing_one_or_several() -> None:
    y = tensor("y", n, m * 2)
    assert Signature("f", [X]).returns is None
    assert Signature("f", [X]).results == ()
    assert Signature("f", [X], TOTAL).returns == TOTAL
    assert Signature("f", [X], y).results == (y,)
    assert Signature("f", [X], [y, TOTAL]).returns == (y, TOTAL)
    assert Signature("f", [X], [y]).returns == (y,) != Signature("f", [X], y).returns
    assert Signature("f", [X], [y]) != Signature("f", [X], y)


def test_constraints_stand_behind_the_results() -> None:
    wide = Var("n", "int32", divisibility=4)
    made = Signature("f", [tensor("x", wide)], tensor("y", wide * 2))
    assert str(made).endswith(", device_type=cpu) where n: int32, n % 4 == 0")
    assert Signature.parse(str(made)) == made


ONLY_OPTIONAL = {
    "y.shape[0] = n": (Optional(X), tensor("y", n)),
    "y.shape[0] = n * 2": (Optional(Shape("s", [n])), tensor("y", n * 2)),
    "y.shape[1] = n": (Optional(n), tensor("y", 4, n)),
    "y.device_id = n": (Optional(n), tensor("y", 3, device_id=n)),
    "y.shape[0] = n - 1": (Struct("c", [Optional(X)]), tensor("y", n - 1)),
}


@pytest.mark.parametrize("place", ONLY_OPTIONAL)
def test_a_size_that_only_optionals_bind(place: str) -> None:
    param, result = ONLY_OPTIONAL[place]
    words = f"{place} of a result needs symbol 'n', which only Optionals bind, and would be 0"
    for params in ([param], [param, Optional(tensor("z", n))]):
        with pytest.raises(SpecError) as raised:
            Signature("f", params, result)
        assert str(raised.value).startswith(f"Signature 'f': {words} where they are None; bind it")
    inside = TupleParam("t", [Shape("entries", [n])])
    for another in (tensor("w", n * 2 + 1), Var("n", "int64"), inside):
        assert Signature("f", [param, another] if param.name != another.name else [another], result)


def test_a_scalar_result_needs_nothing_of_an_optional() -> None:
    assert Signature("f", [Optional(X)], Var("total", "int64"))
