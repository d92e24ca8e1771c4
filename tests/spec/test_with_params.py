"""Signatures with some of their parameters changed."""

from __future__ import annotations

import pytest

from ffi_builder.errors import SpecError
from ffi_builder.spec import Optional, Signature, Tensor, Var

F = Signature.parse(
    "f(A: Tensor([n], float32), k: int32) -> (y: Tensor([n], float32), s: float32)", device="cpu"
)


def test_fields_of_parameters_and_results() -> None:
    changed = F.with_params(
        A={"intent": "in", "data_alignment": 16}, k={"min": 1}, y={"name": "z", "dtype": "float16"}
    )
    assert changed == Signature.parse(
        "f(A: Tensor([n], float32, data_alignment=16, intent=in), k: int32) "
        "-> (z: Tensor([n], float16), s: float32) where 1 <= k",
        device="cpu",
    )
    assert F.with_params() == F


def test_another_parameter_in_its_place() -> None:
    mask = Optional(Tensor("mask", [None], "int8", device_type="cpu"))
    assert F.with_params(k=mask).params == (F.params[0], mask)


def test_none_leaves_out() -> None:
    text = "f(A: Tensor([k], float32), k: int32) -> (y: Tensor([k], float32), s: float32)"
    changed = Signature.parse(text, device="cpu").with_params(k=None, y=None)
    assert str(changed.canonical(device="cpu")) == (
        "f(A: Tensor([k], float32)) -> (s: float32) where k: int32"
    )
    assert F.with_params(y=None, s=None).returns is None
    alone = Signature("f", F.params, Var("s", "float32"))
    assert alone.with_params(s=None).returns is None
    with pytest.raises(SpecError, match="expected one of A, k, y, s but got 'm'"):
        F.with_params(m=None)


@pytest.mark.parametrize("returns", [None, Var("s", "float32")])
def test_a_signature_of_one_result_or_none(returns: Var | None) -> None:
    f = Signature("f", F.params, returns, doc="what it does")
    changed = f.with_params(A={"data_alignment": 8})
    assert changed.returns == returns
    assert changed.doc == f.doc


def test_what_is_refused() -> None:
    with pytest.raises(
        SpecError,
        match=r"^Signature 'f': with_params: expected one of A, k, y, s but got 'a', did you mean 'A'\?$",
    ):
        F.with_params(a={"intent": "in"})
    with pytest.raises(TypeError, match="Tensor\\(\\) has no argument 'intnt', did you mean"):
        F.with_params(A={"intnt": "in"})
    with pytest.raises(SpecError, match="two meanings"):
        F.with_params(A={"shape": [Var("n", "int32")]})
