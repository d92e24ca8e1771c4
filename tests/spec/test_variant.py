"""Variants: their text, and what they may hold."""

from __future__ import annotations

import json

import pytest

from ffi_builder import SpecError
from ffi_builder.spec import (
    Device,
    Optional,
    Signature,
    String,
    Tensor,
    Var,
    Variant,
    dims,
    with_paths,
)
from ffi_builder.spec.composite import parts_of

(n,) = dims("n")
X = Tensor("x", [n], "float32", device_type="cpu")
SCALE = Variant([Var("scale", "float64"), Tensor("scale", [n], "float32", device_type="cpu")])
TEXT = "f(x: Tensor([n], float32), scale: Variant(float64, Tensor([n], float32)))"


def test_text_and_repr():
    signature = Signature.parse(TEXT, device="cpu")
    assert signature == Signature("f", [X, SCALE])
    assert signature.canonical(device="cpu") == TEXT
    assert repr(SCALE) == (
        "Variant([Var('scale', 'float64'), "
        "Tensor('scale', [Var('n', 'int64')], 'float32', device_type='cpu')])"
    )


def test_numbers_are_no_symbols():
    text = "f(a: Variant(int64, float32), b: Variant(int8, String), c: Tensor([a], int8))"
    signature = Signature.parse(text, device="cpu")
    assert signature.canonical(device="cpu") == text
    assert [path for path, _ in with_paths(signature.params)] == ["a", "b", "b.str", "c"]
    with pytest.raises(SpecError, match="mentions a symbol 'b'"):
        Signature.parse("f(b: Variant(int8, String)) where b <= 4")


def test_parts():
    assert parts_of(SCALE) == ("which", "float")
    assert parts_of(Optional(SCALE)) == ("present", "which", "float")
    assert [*SCALE.parts] == ["float", "tensor"]


def test_fields_of_the_first_parameter_that_has_them():
    made = Variant([Var("x", "int8", doc="the x"), String("x", default="a", kw_only=True)])
    assert (made.default, made.kw_only, made.doc) == ("a", True, "the x")


def test_metadata():
    params = json.loads(
        Signature(
            "f", [SCALE, Optional(SCALE.__class__([Var("o", "bool"), Device("o")]))]
        ).metadata()
    )
    assert params["type_schema"]["named_args"]["params"] == [
        {"type": "Variant", "args": [{"type": "float"}, {"type": "ffi.Tensor"}]},
        {
            "type": "Optional",
            "args": [{"type": "Variant", "args": [{"type": "bool"}, {"type": "Device"}]}],
        },
    ]
    assert params["ffi_builder"]["params"][1]["kinds"] == ["bool", "Device"]


def test_defaults():
    for default in (1, "a", True):
        Signature("f", [Variant([Var("x", "int8"), String("x")], default=default)])
    Signature("f", [Variant([Var("x", "int8"), Var("x", "float32")], default=300.0)])
