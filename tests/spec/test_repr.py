"""The ``repr`` of a spec is code that makes it again."""

from __future__ import annotations

import copy
import math
import pickle
from contextlib import suppress

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
from tests.spec.strategies import NAMED, params

n, k = dims("n k")


def pasted(value: object) -> object:
    return eval(repr(value), dict(vars(spec)))


@given(params())
def test_a_parameter_reads_back(param: spec.Param):
    values: list[object] = [param]
    with suppress(SpecError):  # a symbol that nothing binds
        values.append(Signature("f", [param], doc="does f"))
    for value in values:
        with DefaultConfig(device_type="webgpu"):  # it is for what says no device
            again = pasted(value)
        for other in (again, copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
            assert other == value
            assert hash(other) == hash(value)
            # Fields that equality ignores must come back too.
            assert repr(other) == repr(value)
            assert str(other) == str(value)
    assert [kind for kind in NAMED if kind(param.name) == param and kind is not type(param)] == []


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
