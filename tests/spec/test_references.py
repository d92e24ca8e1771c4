"""Results that take their shape, dtype and device from an argument."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence

import pytest

from ffi_builder import SpecError
from ffi_builder.spec import (
    Optional,
    Param,
    Signature,
    Struct,
    Tensor,
    TensorList,
    TupleParam,
    Var,
    Workspace,
    dims,
    required,
)
from ffi_builder.spec.composite import elements
from ffi_builder.spec.results import Result

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


@pytest.mark.parametrize(
    ("params", "result", "words"),
    [
        ([X], tensor("y", dtype="z.dtype"), "Tensor 'y': dtype: z.dtype: expected a Tensor among the arguments: x"),
        ([n], tensor("y", shape="n.shape"), "Tensor 'y': shape: n.shape: expected a Tensor among the arguments: none"),
        ([Optional(X)], LIKE_X, "Tensor 'y': shape: x.shape: x may be absent; expected a Tensor that is always there"),
        ([Optional(TupleParam("t", [X]))], tensor("y", dtype="t[0].dtype"), "Tensor 'y': dtype: t[0].dtype: t[0] may be absent; expected a Tensor that is always there"),
        ([Struct("s", [Optional(X)])], tensor("y", dtype="s.x.dtype"), "Tensor 'y': dtype: s.x.dtype: s.x may be absent; expected a Tensor that is always there"),
        ([tensor("x", dtype="float4_e2m1fn", storage_dtype="float4_e2m1fnx2")], tensor("y", dtype="x.dtype"), "Tensor 'y': dtype: x.dtype: x has a storage_dtype, so its dtype is not the one that came; say it yourself"),
        ([X, TupleParam("t", [tensor("z", shape="x.shape")])], None, "t[0]: shape: x.shape is for results and Workspaces, and this is an argument, which may take a dtype only; name the sizes of both, as in Tensor([n, m], …), or let the kernel compare shapes of any rank"),
        ([X, Z, tensor("w", device_type="x.device_type")], None, "w: device_type: x.device_type is for results and Workspaces, and this is an argument, which may take a dtype only"),
        ([Z, X], None, "z: dtype: x.dtype: x is not checked before z; swap the two, or let x take z.dtype"),
        ([tensor("z", dtype="z.dtype")], None, "z: dtype: z.dtype: z is not checked before z; name another tensor, or say its dtypes"),
        ([X, tensor("z", dtype="X.dtype")], None, "z: dtype: X.dtype: expected a Tensor among the arguments before it: x, did you mean 'x'?"),
        ([n, tensor("z", dtype="n.dtype")], None, "z: dtype: n.dtype: expected a Tensor among the arguments before it: none"),
        ([Optional(X), Z], None, "z: dtype: x.dtype: x may be absent; expected a Tensor that is always there"),
        ([Optional(TupleParam("t", [X, tensor("z", dtype="t[0].dtype")]))], None, "t[1]: dtype: t[0].dtype: t[0] may be absent; expected a Tensor that is always there"),
        ([Workspace("w", [4], "int8", device_type="cpu"), tensor("z", dtype="w.dtype")], None, "z: dtype: w.dtype: expected a Tensor among the arguments before it: none"),
        ([TensorList(tensor("x")), Z], None, "z: dtype: x.dtype: expected a Tensor among the arguments before it: none"),
        ([tensor("x", dtype="float4_e2m1fn", storage_dtype="float4_e2m1fnx2"), Z], None, "z: dtype: x.dtype: x has a storage_dtype, so its dtype is not the one that came; say it yourself"),
    ],
)  # fmt: skip
def test_what_is_refused(params: Sequence[Param], result: Result | None, words: str) -> None:
    with pytest.raises(SpecError) as raised:
        Signature("f", params, result)
    assert str(raised.value) == f"Signature 'f': {words}"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"shape": "x.y.shape."}, "shape: expected a list or tuple with one entry a dimension"),
        ({"shape": "-.shape"}, "shape: expected the shape of a parameter, such as 'x.shape', but"),
        ({"device_type": ".device_type"}, "device_type: expected the device_type of a parameter"),
        (
            {"shape": "x.shape", "storage_dtype": "int8x2"},
            "storage_dtype: expected None, as a tens",
        ),
        (
            {"dtype": "x.dtype", "storage_dtype": "int8x2"},
            "storage_dtype: expected None, as a tensor that takes fields from another is not packed",
        ),
    ],
)
def test_fields_that_are_refused(fields: dict[str, str], words: str) -> None:
    with pytest.raises(SpecError) as raised:
        tensor("y", **fields)
    assert str(raised.value).startswith(f"Tensor 'y': {words}")


def test_strides_need_a_shape_of_its_own() -> None:
    with pytest.raises(SpecError, match=r"as the shape is x\.shape, but got"):
        Tensor("y", "x.shape", "int8", device_type="cpu", strides=[1])
