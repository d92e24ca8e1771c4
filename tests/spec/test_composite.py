"""Structs, Optionals, parts of parameters, and walking through what is in one another."""

from __future__ import annotations

import ast
import copy
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import pytest

from ffi_builder import SpecError
from ffi_builder.spec import (
    MISSING,
    Array,
    Bytes,
    Choice,
    ConstBool,
    ConstFloat,
    ConstInt,
    Device,
    DType,
    EnvStream,
    Field,
    Function,
    Map,
    Object,
    Optional,
    Param,
    Shape,
    Signature,
    String,
    Struct,
    Tensor,
    TupleParam,
    Var,
    dims,
    required,
    with_paths,
)
from ffi_builder.spec.composite import elements, parts_of

n, k = dims("n k")
x = Tensor("x", [n], "float32", device_type="cpu")


class Point(NamedTuple):
    n: int
    k: int = 0


@dataclass
class Line:
    n: int
    k: int = field(default=0, kw_only=True)
    count: ClassVar[int] = 0


class Steep(Line):
    pass


class Swapped(NamedTuple):
    k: int
    n: int


@dataclass
class Empty:
    pass


class NoTuple:
    _fields = ("n", "k")


class TestStruct:
    def test_fields(self):
        made = Struct("s", [n, Optional(k)])
        assert made.fields == made.params == (n, Optional(k))
        assert made == Struct("s", (n, Optional(k)))
        assert hash(made) == hash(Struct("s", (n, Optional(k))))
        assert Struct("s", []).fields == ()

    def test_different(self):
        made = Struct("s", [n, k])
        others = [
            Struct("t", [n, k]),
            Struct("s", [k, n]),
            Struct("s", [n]),
            TupleParam("s", [n, k]),
        ]
        assert made not in others

    @pytest.mark.parametrize("cls", [Point, Line, Steep])
    def test_classes(self, cls: type):
        made = Struct("s", [n, Optional(k)], cls=cls)
        # The class is for Python callers; the ABI does not know it.
        assert made == Struct("s", [n, Optional(k)])
        assert hash(made) == hash(Struct("s", [n, Optional(k)]))
        assert str(Signature("f", [made])) == "f(s: Struct(n: int64, k: Optional(int64)))"

    def test_a_class_without_fields(self):
        assert Struct("s", [], cls=Empty).cls is Empty

    def test_copies_and_pickles_keep_the_class(self):
        made = Struct("s", [n, k], cls=Point)
        assert repr(made) == ("Struct('s', [Var('n', 'int64'), Var('k', 'int64')], cls=Point)")
        for again in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
            assert again == made
            assert again.cls is Point

    @pytest.mark.parametrize("cls", [dict, tuple, 3, "Point", Point(1), Line(1), NoTuple, ast.Name])
    def test_what_is_no_class_with_fields(self, cls: Any):
        with pytest.raises(SpecError) as caught:
            Struct("s", [n, k], cls=cls)
        assert str(caught.value) == (
            f"Struct 's': cls: expected a dataclass or a NamedTuple but got {cls!r}"
        )

    @pytest.mark.parametrize(
        ("fields", "cls", "words"),
        [
            ([n], Point, "Point has the fields n, k, but the Struct has n"),
            ([n, k], Swapped, "Swapped has the fields k, n, but the Struct has n, k"),
            ([n, Optional(x)], Line, "Line has the fields n, k, but the Struct has n, x"),
            ([], Line, "Line has the fields n, k, but the Struct has none"),
            ([n], Empty, "Empty has the fields none, but the Struct has n"),
        ],
    )
    def test_classes_with_other_fields(self, fields: list[Param], cls: type, words: str):
        with pytest.raises(SpecError) as caught:
            Struct("s", fields, cls=cls)
        assert str(caught.value) == f"Struct 's': cls: {words}"


WITHOUT_NONE: list[Param] = [
    *(Var("v", dtype) for dtype in ("int8", "uint64", "bool", "float16", "float64")),
    *(kind("v") for kind in (String, Bytes, DType, Device, Object, Function, Array, Map)),
    *(Object("v", "ffi.Module"), Choice("v", {"a": 1}), Shape("v", [n]), x),
    *(TupleParam("v", []), Struct("v", [Optional(n)])),
    *(ConstInt("v", 1), ConstBool("v", True), ConstFloat("v", 0.5)),
]


class TestOptional:
    @pytest.mark.parametrize("param", WITHOUT_NONE)
    def test_accepted(self, param: Param):
        made = Optional(param)
        assert made.name == param.name
        assert made.param is required(made) is param
        assert made == Optional(copy.deepcopy(param))
        assert hash(made) == hash(Optional(param))
        assert made != param

    def test_what_is_not_said_is_that_of_the_parameter(self):
        inner = Var("v", "int8", default=[3], kw_only=True, doc="inner")
        made = Optional(inner)
        assert (made.default, made.kw_only, made.doc) == ([3], True, "inner")
        made = Optional(inner, default=None, doc="outer")
        assert (made.default, made.kw_only, made.doc) == (None, True, "outer")
        made = Optional(Var("v", "int8"))
        assert (made.default, made.kw_only, made.doc) == (MISSING, False, "")
        made = Optional(Var("v", "int8"), default=0, kw_only=True)
        assert (made.default, made.kw_only, made.doc) == (0, True, "")

    def test_and_equality_does_not_see_it(self):
        assert Optional(n, default=None, doc="said") == Optional(Var("n", "int64", default=3))


TENSOR_PARTS = ("dtype", "device_type", "device_id", "ndim", "dltensor")


class TestField:
    @pytest.mark.parametrize(
        ("param", "parts"),
        [
            (x, TENSOR_PARTS),
            (Tensor("y", ..., ["int8", "bool"], device_type="any"), TENSOR_PARTS),
            (Optional(x), ("present", *TENSOR_PARTS)),
            (Optional(n), ("present",)),
            (Optional(Struct("s", [x])), ("present",)),
            (n, ()),
            (Struct("s", [x]), ()),
            (EnvStream("e"), ()),
        ],
    )
    def test_parts(self, param: Param, parts: tuple[str, ...]):
        assert parts_of(param) == parts
        for part in parts:
            made = Field(param, part)
            assert str(made) == f"{param.name}.{part}"
            assert made == Field(copy.deepcopy(param), part)
            assert hash(made) == hash(Field(param, part))


def test_elements():
    assert list(elements(TupleParam("t", [n, x]), "a.b")) == [("a.b[0]", n), ("a.b[1]", x)]
    assert list(elements(Struct("t", [n, x]), "a[0]")) == [("a[0].n", n), ("a[0].x", x)]
    assert list(elements(Optional(Struct("t", [n])), "t")) == [("t.n", n)]
    for param in (n, x, Optional(x), Shape("s", [n]), Array("a"), Struct("s", [])):
        assert list(elements(param, "p")) == []


def test_with_paths():
    inner = TupleParam("inner", [n, Optional(x)])
    outer = Optional(Struct("cfg", [Optional(inner), k]))
    assert list(with_paths([String("s"), outer, x])) == [
        ("s", String("s")),
        ("cfg", outer),
        ("cfg.inner", Optional(inner)),
        ("cfg.inner[0]", n),
        ("cfg.inner[1]", Optional(x)),
        ("cfg.k", k),
        ("x", x),
    ]


def nested(depth: int, make: Callable[[str, list[Param]], Param]) -> Param:
    param: Param = Var("a", "int32")
    for _ in range(depth):
        param = make("t", [param])
    return param


NESTING: list[Callable[[str, list[Param]], Param]] = [
    TupleParam,
    Struct,
    lambda name, params: Optional(TupleParam(name, params)),
]


@pytest.mark.parametrize("make", NESTING, ids=["tuple", "struct", "optional"])
class TestDepth:
    def test_as_deep_as_can_be(self, make: Callable[[str, list[Param]], Param]):
        signature = Signature("f", [nested(50, make)])
        assert Signature.parse(str(signature)) == signature

    @pytest.mark.parametrize("depth", [51, 200])
    def test_deeper(self, make: Callable[[str, list[Param]], Param], depth: int):
        with pytest.raises(SpecError) as caught:
            nested(depth, make)
        words = "'t': tuples and structs may be nested at most 50 deep; make fewer levels"
        assert str(caught.value).endswith(words)
