"""Variants: their text, and what they may hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from ffi_builder import SpecError
from ffi_builder.spec import (
    Any as AnyValue,
)
from ffi_builder.spec import (
    Device,
    Optional,
    Signature,
    String,
    Tensor,
    Var,
    Variant,
    Workspace,
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


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Variant(Var("x", "int8")), "Variant: expected a list of parameters but got Var"),  # pyright: ignore
        (lambda: Variant([]), "Variant: expected two or more parameters but got 0"),
        (lambda: Variant([String("x")]), "'x': expected two or more parameters but got 1"),
        (lambda: Variant([String("x"), Var("y", "int8")]), "'x': expected one name but got 'x' and 'y'|'y'"),
        (lambda: Variant([Var("x", "int32"), Var("x", "int64")]), "'x': int32 and int64 are both of type int, so a call cannot tell them apart"),
        (lambda: Variant([Var("x", "float16"), Var("x", "bfloat16")]), "float16 and bfloat16 are both of type float"),
        (lambda: Variant([X, X]), "'x': Tensor and Tensor are both of type Tensor"),
        (lambda: Variant([Optional(X), String("x")]), "but got Optional.*; an Optional goes around the Variant"),  # pyright: ignore
        (lambda: Variant([AnyValue("x"), String("x")]), "Variant: expected numbers, Tensors, .* but got Any"),  # pyright: ignore
        (lambda: Variant([String("x"), Workspace("x", [n], "int8", device_type="cpu")]), "'x': expected numbers, .* but got Workspace"),
        (lambda: Variant([String("x"), Var("x", "handle")]), "'x': a handle takes None"),
        (lambda: Variant([String("x"), Var("x", "int8", min=1)]), "has limits, and a number in a Variant is no symbol"),
        (lambda: Variant([String("x"), Tensor("x", [n], "y.dtype", device_type="cpu")]), "a tensor in a Variant takes nothing from 'y.dtype'"),
        (lambda: Signature("f", [SCALE], X), "x.shape\\[0\\] = n of a result needs symbol 'n'"),
        (lambda: Signature("f", [SCALE], Tensor("y", "scale.tensor.shape", "int8", device_type="cpu")), "scale.tensor may be absent"),
        (lambda: Signature("f", [Variant([Var("x", "int8"), String("x")], default=0.5)]), "'x': default: expected an int or a str but got 0.5"),
        (lambda: Signature("f", [Variant([Var("x", "int8"), String("x")], default=300)]), "'x': default: 300 does not fit int8"),
    ],
)  # fmt: skip
def test_refused(make: Callable[[], Any], words: str):
    with pytest.raises(SpecError, match=words):
        make()


def test_defaults():
    for default in (1, "a", True):
        Signature("f", [Variant([Var("x", "int8"), String("x")], default=default)])
    Signature("f", [Variant([Var("x", "int8"), Var("x", "float32")], default=300.0)])
