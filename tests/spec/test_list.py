"""Lists of numbers as specs: fields, texts, defaults, metadata."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ffi_builder import SpecError, spec
from ffi_builder.spec import List, Optional, Shape, Signature, Tensor, Var, dims

(n,) = dims("n")


def test_rows_have_the_name_of_the_whole() -> None:
    groups = List("groups", List("row", "int64", 3), n)
    assert groups == List("groups", List("groups", "int64", 3), n)
    assert groups.element == List("groups", "int64", 3)
    found = json.loads(Signature("f", [groups]).metadata())["ffi_builder"]["params"]
    assert found == [
        {
            "name": "groups",
            "type": "List(List(int64, 3), n)",
            "kind": "List",
            "dtype": "List(int64, 3)",
        }
    ]


def test_fields() -> None:
    pages = List("pages", np.int32, n + 1, doc="pages of the cache")
    assert (pages.dtype, str(pages.length), pages.doc) == ("int32", "n + 1", "pages of the cache")
    assert pages.element == Var("pages", "int32")
    assert List("pages", "int64") == List("pages", "int64", None)
    assert repr(List("w", "float16", 4)) == "List('w', 'float16', length=4)"


def test_other_texts_of_the_same() -> None:
    wanted = Signature("f", [List("x", "int64")])
    for text in (
        "f(x: List(int64,))",
        "f( x : List ( int64 , None ) )",
        "f(x: List(int64, None,))",
    ):
        assert Signature.parse(text) == wanted


@pytest.mark.parametrize(
    "made",
    [
        List("x", "int64", default=[]),
        List("x", "int64", default=(1, -2)),
        List("x", "float32", n, default=[1, 0.5, True]),
        List("x", "bool", 2, default=[True, 0]),
        Optional(List("x", "int8", default=None)),
        List("x", "String", default=["a", ""]),
        List("x", "Bytes", default=[b"a"]),
        List("x", List("x", "int64", 2), default=[(1, 2), [3, 4]]),
    ],
)
def test_defaults(made: spec.Param) -> None:
    assert Signature("f", [made]).params[0].default == made.default


def test_a_result_may_have_its_length() -> None:
    x = Tensor("y", [n], "float32", device_type="cpu")
    assert Signature("f", [List("x", "int64", n)], x).results == (x,)
    with pytest.raises(SpecError, match="only Optionals bind"):
        Signature("f", [Optional(List("x", "int64", n))], Shape("s", [n]))


def test_metadata() -> None:
    found = json.loads(Signature("f", [Optional(List("w", "float16", n))]).metadata())
    array = {"type": "ffi.Array", "args": [{"type": "float"}]}
    [schema] = found["type_schema"]["named_args"]["params"]
    assert schema == {"type": "Optional", "args": [array]}
    [param] = found["ffi_builder"]["params"]
    assert param == {
        "name": "w",
        "type": "Optional(List(float16, n))",
        "kind": "List",
        "optional": True,
        "dtype": "float16",
    }
