"""Results that take their shape, dtype and device from an argument."""

from __future__ import annotations

import copy
import pickle

import pytest

from ffi_builder import SpecError
from ffi_builder.spec import (
    Optional,
    Signature,
    Struct,
    Tensor,
    TupleParam,
    Var,
    dims,
    required,
)
from ffi_builder.spec.composite import elements

n: Var
(n,) = dims("n")
X = Tensor("x", [n, None], ["float16", "float32"], device_type="any")
LIKE_X = Tensor("y", "x.shape", "x.dtype", device_type="x.device_type")


def test_as_text_and_back() -> None:
    made = Signature("f", [X], LIKE_X)
    assert str(made) == (
        "f(x: Tensor([n, None], float16 | float32, device_type=any)) -> "
        "y: Tensor(x.shape, x.dtype, device_type=x.device_type)"
    )
    assert Signature.parse(str(made)) == made
    assert eval(repr(made)) == made


def test_the_signatures_result_knows_the_fields() -> None:
    for made in (Signature("f", [X], LIKE_X), Signature("f", [X], [LIKE_X])):
        for each in (made, copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
            [y] = each.result_tensors
            assert (y.dims, y.dtypes, y.device) == ((n, None), ("float16", "float32"), "any")
            assert y == LIKE_X
            assert not y.any_rank
    of_any = Tensor("x", ..., "int8", device_type="cpu")
    assert Signature("f", [of_any], LIKE_X).result_tensors[0].any_rank
    changed = Signature("f", [X], LIKE_X).with_params(x={"dtype": "int8"})
    assert changed.result_tensors[0].dtypes == ("int8",)


def test_elements_of_tuples_and_structs() -> None:
    text = (
        "f(p: Tuple(a: Struct(x: Tensor([n], int8)))) -> (y: Tensor(p[0].x.shape, p[0].x.dtype), "
        "z: Tensor([n * 2], p[0].x.dtype))"
    )
    made = Signature.parse(text, device="cpu")
    assert made.canonical(device="cpu") == text
    assert [y.dims for y in made.result_tensors] == [(n,), (n * 2,)]


def tensor(name: str, **fields: str) -> Tensor:
    given = {"device_type": "cpu", **fields}
    return Tensor(name, given.pop("shape", [4]), given.pop("dtype", "int8"), **given)  # pyright: ignore


Z = tensor("z", dtype="x.dtype")


def test_arguments_as_text_and_back() -> None:
    inner = Struct("s", [Optional(tensor("a", dtype="z.dtype")), TupleParam("t", [Z])])
    last = tensor("last", dtype="s.t[0].dtype")
    made = Signature("f", [X, Z, inner, last])
    assert made.canonical(device="cpu") == (
        "f(x: Tensor([n, None], float16 | float32, device_type=any), z: Tensor([4], x.dtype), "
        "s: Struct(a: Optional(Tensor([4], z.dtype)), t: Tuple(z: Tensor([4], x.dtype))), "
        "last: Tensor([4], s.t[0].dtype))"
    )
    assert Signature.parse(str(made)) == made
    assert eval(repr(made)) == made


def test_the_signatures_arguments_know_their_dtypes() -> None:
    inner = Struct("s", [Optional(tensor("a", dtype="z.dtype"))])
    made = Signature("f", [X, Z, inner], tensor("y", dtype="z.dtype"))
    for each in (made, copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        x, z, s = each.params
        a = required(next(iter(elements(s, "s")))[1])
        for known in (z, a, *each.result_tensors):
            assert isinstance(known, Tensor)
            assert known.dtypes == known.element_dtypes == ("float16", "float32")
            assert known.source("dtype") == x
        assert (z, s) == (Z, inner)
    with pytest.raises(SpecError, match=r"^Tensor 'z': dtype is x\.dtype, which only a Signature"):
        _ = Z.dtypes


def test_parameters_without_references_stay_the_same_objects() -> None:
    t = TupleParam("t", [tensor("u")])
    made = Signature("f", [X, t, Z])
    assert made.params[0] is X
    assert made.params[1] is t
