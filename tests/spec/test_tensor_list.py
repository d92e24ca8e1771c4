"""Lists of tensors: their text, their metadata, and where their symbols may be used."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given, settings

from ffi_builder import spec
from ffi_builder.errors import SpecError
from ffi_builder.spec import (
    MISSING,
    DefaultConfig,
    Optional,
    Shape,
    Signature,
    Struct,
    Tensor,
    TensorList,
    Var,
    dims,
)
from ffi_builder.spec.composite import parts_of
from ffi_builder.spec.expr import Relation
from ffi_builder.spec.places import occurrences, symbols_of_elements
from tests.differential.signatures import signatures
from tests.differential.strategies import LARGE
from tests.support.drawn import drawn

g, m, n, k, s = dims("g m n k s")


def cpu(name: str, *shape: Any, **options: Any) -> Tensor:
    fields: dict[str, Any] = {"device_type": "cpu", **options}
    return Tensor(name, list(shape), "float32", **fields)


GROUPED: Final = [
    TensorList(cpu("As", m, k), length=g, each=[m]),
    TensorList(cpu("Bs", k, n), length=g, each=[n]),
    TensorList(cpu("Cs", m, n, intent="out"), length=g, each=[n, m]),
]


def test_the_name_is_that_of_the_tensor() -> None:
    xs = TensorList(cpu("xs", n, doc="inputs", kw_only=True))
    assert (xs.name, xs.doc, xs.kw_only, xs.default) == ("xs", "inputs", True, MISSING)
    own = TensorList(cpu("xs", n, doc="inputs"), doc="mine", default=[])
    assert (own.doc, own.default) == ("mine", [])
    assert parts_of(xs) == ("pointers", "shapes", "strides", "length")
    assert parts_of(Optional(xs))[0] == "present"


def test_the_order_of_each_is_that_of_the_tensor() -> None:
    assert GROUPED[2].each == (m, n)
    assert GROUPED[2] == TensorList(cpu("Cs", m, n, intent="out"), length=g, each=[m, n])


@pytest.mark.parametrize(
    ("length", "never_empty"),
    [(None, False), (0, False), (2, True), (g, False), (Var("g", "int8", min=1), True)],
)
def test_lists_that_are_never_empty(length: Any, never_empty: bool) -> None:
    assert TensorList(cpu("xs", n), length=length).never_empty is never_empty


def test_other_texts_of_the_same() -> None:
    text = "f(xs:TensorList( Tensor([m,],float32,),each=[m,],length=g,),)"
    wanted = Signature("f", [TensorList(cpu("xs", m), length=g, each=[m])])
    assert Signature.parse(text, device="cpu") == wanted


@settings(max_examples=drawn(150), deadline=None, suppress_health_check=LARGE)
@given(signatures())
def test_any_signature_is_read_back(signature: Signature) -> None:
    assert Signature.parse(signature.canonical()) == signature
    if all(isinstance(each, Relation) for each in signature.where):  # others have no such repr
        assert eval(repr(signature), dict(vars(spec))) == signature


def test_the_symbols_of_elements() -> None:
    assert symbols_of_elements(GROUPED) == {m: "As", n: "Bs"}
    found = list(occurrences(GROUPED))
    assert found[:3] == [("length of As", g), ("As[i].device_id", None), ("As[i].shape[0]", m)]
    assert [path for path, _ in occurrences(GROUPED, elements=False)] == [
        f"length of {name}s" for name in "ABC"
    ]


ACCEPTED: Final[dict[str, list[Any]]] = {
    "grouped": GROUPED,
    "in a struct": [Struct("cfg", GROUPED)],
    "an int for the length": [replace(each, length=3) for each in GROUPED],
    "expressions of symbols of each": [
        TensorList(cpu("xs", m, m * 2), length=g, each=[m]),
        TensorList(cpu("ys", m * 2 + 1), length=g, each=[m]),
    ],
    "a stride of each": [TensorList(cpu("xs", None, 4, strides=[s, 1]), each=[s])],
    "a scalar before": [k, TensorList(cpu("xs", k * 2))],
    "the own length": [TensorList(cpu("xs", g * 2), length=g)],
    "a symbol that an earlier list of this length binds": [
        TensorList(cpu("xs", k), length=g),
        TensorList(cpu("ys", k * 2), length=g),
    ],
    "a symbol that a list binds which is never empty": [
        TensorList(cpu("xs", k), length=2),
        TensorList(cpu("ys", k * 2)),
        Shape("dims", [k * 3]),
    ],
    "two lists apart": [TensorList(cpu("xs", m), each=[m]), TensorList(cpu("ys", n), each=[n])],
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_where_symbols_may_be_used(name: str) -> None:
    signature = Signature("f", ACCEPTED[name])
    assert Signature.parse(str(signature)) == signature


def test_results_may_need_what_a_list_binds_for_certain() -> None:
    lists = [TensorList(cpu("xs", k), length=2), TensorList(cpu("ys", n), length=g)]
    assert Signature("f", lists, cpu("z", k, g)).results
    with pytest.raises(SpecError, match="needs symbol 'n', which only lists or Optionals bind"):
        Signature("f", lists, cpu("z", n))


def test_defaults() -> None:
    assert Signature("f", [TensorList(cpu("xs", n), default=[])])
    assert Signature("f", [Optional(TensorList(cpu("xs", n)), default=None)])
    with pytest.raises(SpecError, match="'xs': default: expected a list of tensors but got 3"):
        Signature("f", [TensorList(cpu("xs", n), default=3)])


@pytest.mark.parametrize("length", [None, 0, Var("g", "int32"), Var("g", "int32", max=1)])
def test_defaults_of_a_right_length(length: int | Var | None) -> None:
    assert Signature("f", [TensorList(cpu("xs", n), length=length, default=[])])


def test_metadata() -> None:
    found = json.loads(Signature("f", [GROUPED[2]]).metadata())
    assert found["type_schema"]["named_args"]["params"] == [
        {"type": "ffi.Array", "args": [{"type": "ffi.Tensor"}]}
    ]
    [param] = found["ffi_builder"]["params"]
    assert (param["kind"], param["intent"]) == ("TensorList", "out")


def test_the_default_device_is_that_of_the_tensor() -> None:
    with DefaultConfig(device_type="cuda"):
        assert TensorList(Tensor("xs", [n], "int8")).tensor.device == "cuda"
