"""The ``repr`` of a spec is code that makes it again."""

from __future__ import annotations

import copy
import math
import pickle

import pytest
from hypothesis import given
from hypothesis.vendor.pretty import pretty

from ffi_builder import SpecError, spec
from ffi_builder.spec import (
    Choice,
    ConstFloat,
    ConstInt,
    DefaultConfig,
    Field,
    Object,
    Optional,
    Signature,
    String,
    Struct,
    Tensor,
    TupleParam,
    Var,
    dims,
)
from tests.spec.strategies import params, tensors

n, k = dims("n k")


def pasted(value: object) -> object:
    return eval(repr(value), dict(vars(spec)))


@given(params())
def test_a_parameter_reads_back(param: spec.Param):
    again = pasted(param)
    assert again == param
    assert hash(again) == hash(param)
    # Fields that equality ignores must come back too.
    assert repr(again) == repr(param)


@given(params())
def test_copies_and_pickles_are_equal(param: spec.Param):
    for again in (copy.deepcopy(param), pickle.loads(pickle.dumps(param))):
        assert again == param
        assert repr(again) == repr(param)


@given(params(), params())
def test_equal_means_alike(one: spec.Param, other: spec.Param):
    if one == other:
        assert hash(one) == hash(other)
        assert type(one) is type(other)


@given(tensors())
def test_a_tensor_does_not_depend_on_the_default_it_was_made_with(tensor: Tensor):
    with DefaultConfig(device_type="webgpu"):
        assert pasted(tensor) == tensor


@given(params())
def test_a_signature_reads_back(param: spec.Param):
    try:
        signature = Signature("f", [param], doc="does f")
    except SpecError:  # a symbol that nothing binds
        return
    again = pasted(signature)
    assert again == signature
    assert hash(again) == hash(signature)
    assert repr(again) == repr(signature)
    assert str(again) == str(signature)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (n, "Var('n', 'int64')"),
        (Var("a", "int8", min=0, doc="x"), "Var('a', 'int8', doc='x', min=0)"),
        (
            Tensor("A", (n, k * 2, None, 4), "float32", device_type="cpu", intent="in"),
            "Tensor('A', [Var('n', 'int64'), Var('k', 'int64') * 2, None, 4], 'float32', "
            "device_type='cpu', intent='in')",
        ),
        (Tensor("A", [], "bool", device_type="cpu", strides="C"), "Tensor('A', [], 'bool', "
         "device_type='cpu')"),
        (TupleParam("t", [ConstInt("c", 1)]), "TupleParam('t', [ConstInt('c', 1)])"),
        (ConstFloat("c", math.inf), "ConstFloat('c', float('inf'))"),
        (ConstFloat("c", math.nan, default=None), "ConstFloat('c', float('nan'), default=None)"),
        (Var("a", "float32", default=(1, 2)), "Var('a', 'float32', default=(1, 2))"),
        (Var("a", "float32", default=math.inf), "Var('a', 'float32', default=float('inf'))"),
        (
            Tensor("A", ..., ["int8", "bool"], device_type="any", strides="F"),
            "Tensor('A', ..., ['int8', 'bool'], device_type='any', strides='F')",
        ),
        (Choice("c", {"a b": 1}), "Choice('c', {'a b': 1})"),
        (Choice("c", {"a": 1}, "int8"), "Choice('c', {'a': 1}, dtype='int8')"),
        (Object("o"), "Object('o')"),
        (Object("o", "ffi.Module"), "Object('o', type_key='ffi.Module')"),
        (Optional(String("s")), "Optional(String('s'))"),
        (
            Optional(Var("a", "int8", default=2), doc="x"),
            "Optional(Var('a', 'int8', default=2), default=2, doc='x')",
        ),
        (Struct("s", (n, Struct("t", ()))), "Struct('s', [Var('n', 'int64'), Struct('t', [])])"),
        (Field(Optional(n), "present"), "Field(param=Optional(Var('n', 'int64')), part='present', dtype='int64')"),
        (Signature("f", [n], doc="d"), "Signature('f', [Var('n', 'int64')], doc='d')"),
    ],
)  # fmt: skip
def test_text(value: object, text: str):
    assert repr(value) == text
    assert repr(pasted(value)) == text


@pytest.mark.parametrize(
    "shown",
    [
        spec.Var("n", "int32"),
        spec.Tensor("x", [spec.Var("n", "int64")], "float32", device_type="cpu"),
        spec.Optional(spec.Var("n", "int32")),
        spec.Signature("f", [spec.Var("n", "int32")]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_hypothesis_prints_failing_examples(shown: object) -> None:
    """It reads every attribute that a dataclass declares, those of the class too."""
    assert type(shown).__name__ in pretty(shown)
