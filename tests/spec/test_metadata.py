"""The metadata of a wrapper: tvm-ffi's types of its arguments and results."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from ffi_builder import spec
from ffi_builder.spec import Optional, Signature, Struct, Tensor, TupleParam, Var

ANY: Final = {"type": "Any"}
X: Final = Tensor("x", [None], "float32", device_type="cpu")
TENSOR: Final = {"type": "ffi.Tensor"}
PARAMS: Final[list[tuple[spec.Param, dict[str, Any]]]] = [
    (X, TENSOR),
    (Var("a", "int32"), {"type": "int"}),
    (Var("a", "uint64"), {"type": "int"}),
    (Var("a", "bool"), {"type": "bool"}),
    (Var("a", "handle"), {"type": "void*"}),
    (Var("a", "float16"), {"type": "float"}),
    (Var("a", "float64"), {"type": "float"}),
    (spec.Shape("s", [2]), {"type": "ffi.Shape"}),
    (spec.Stream("s"), {"type": "void*"}),
    (spec.DataPointer("p"), {"type": "void*"}),
    (spec.ConstNone("c"), {"type": "None"}),
    (spec.ConstInt("c", 1), {"type": "int"}),
    (spec.ConstBool("c", True), {"type": "bool"}),
    (spec.ConstFloat("c", 1.0), {"type": "float"}),
    (spec.Choice("c", {"relu": 1}), {"type": "ffi.String"}),
    (spec.String("s"), {"type": "ffi.String"}),
    (spec.Bytes("b"), {"type": "ffi.Bytes"}),
    (spec.DType("d"), {"type": "DataType"}),
    (spec.Device("d"), {"type": "Device"}),
    (spec.Function("f"), {"type": "ffi.Function"}),
    (spec.Array("a"), {"type": "ffi.Array", "args": [ANY]}),
    (spec.Any("a"), ANY),
    (spec.Map("m"), {"type": "ffi.Map", "args": [ANY, ANY]}),
    (spec.Object("o"), {"type": "ffi.Object"}),
    (spec.Object("o", "ffi.Module"), {"type": "ffi.Module"}),
    (Optional(X), {"type": "Optional", "args": [TENSOR]}),
    (TupleParam("t", [X, Var("a", "int8")]), {"type": "Tuple", "args": [TENSOR, {"type": "int"}]}),
    (Struct("t", [spec.String("s")]), {"type": "Tuple", "args": [{"type": "ffi.String"}]}),
]


def schema(signature: Signature) -> dict[str, Any]:
    """The types that tvm-ffi's tools read."""
    type_schema = json.loads(signature.metadata())["type_schema"]
    assert type_schema["type"] == "ffi.Function"
    return type_schema["named_args"]


@pytest.mark.parametrize(("param", "expected"), PARAMS, ids=str)
def test_the_type_of_an_argument(param: spec.Param, expected: dict[str, Any]) -> None:
    assert schema(Signature("f", [param])) == {"return": [{"type": "None"}], "params": [expected]}


Y: Final = Tensor("y", [2], "float32", device_type="cpu")
FLAG: Final = Var("flag", "bool")


@pytest.mark.parametrize(
    ("returns", "expected"),
    [
        (None, {"type": "None"}),
        (Y, TENSOR),
        ([Y], {"type": "Tuple", "args": [TENSOR]}),
        (FLAG, {"type": "bool"}),
        ([FLAG], {"type": "Tuple", "args": [{"type": "bool"}]}),
        ([FLAG, Y], {"type": "Tuple", "args": [{"type": "bool"}, TENSOR]}),
    ],
    ids=str,
)
def test_the_type_of_what_is_returned(returns: Any, expected: dict[str, Any]) -> None:
    """A list of one result is returned as a tuple of one, a result alone as it is."""
    assert schema(Signature("f", [], returns)) == {"return": [expected], "params": []}


GPU: Final = Tensor("gpu", [None], "float32", device_type="cuda")
KINDS: Final[list[tuple[spec.Param, dict[str, Any]]]] = [
    (X, {"type": "Tensor([None], float32, device_type=cpu)", "kind": "Tensor"}),
    (Var("a", "uint64"), {"type": "uint64", "kind": "uint64"}),
    (spec.String("a"), {"type": "String", "kind": "String"}),
    (spec.ConstNone("a"), {"type": "None", "kind": "None", "value": None}),
    (spec.ConstBool("a", True), {"type": "Literal[True]", "kind": "Literal", "value": True}),
    (
        spec.ConstFloat("a", float("inf")),
        {"type": "Literal[inf]", "kind": "Literal", "value": {"float": "inf"}},
    ),
    (
        Optional(spec.Choice("a", {"x, y": 1, "z": 2})),
        {
            "type": "Optional(Choice({'x, y': 1, 'z': 2}))",
            "kind": "Choice",
            "choices": ["x, y", "z"],
            "optional": True,
        },
    ),
    (
        Struct("a", [Optional(Var("b", "int8")), TupleParam("c", [Var("d", "bool")])]),
        {
            "type": "Struct(b: Optional(int8), c: Tuple(d: bool))",
            "kind": "Struct",
            "elements": [
                {"name": "b", "kind": "int8", "optional": True},
                {"name": "c", "kind": "Tuple", "elements": [{"name": "d", "kind": "bool"}]},
            ],
        },
    ),
    (spec.EnvStream("a"), {"type": "EnvStream", "kind": "EnvStream", "hidden": True}),
]


@pytest.mark.parametrize(("param", "expected"), KINDS, ids=str)
def test_how_an_argument_is_described(param: spec.Param, expected: dict[str, Any]) -> None:
    written = json.loads(Signature("f", [GPU, param]).metadata())["ffi_builder"]
    assert written["params"][-1] == {"name": param.name, **expected}


@pytest.mark.parametrize(("length", "shown"), [(80, "x" * 80), (81, "x" * 80 + "…")])
def test_a_default_that_cannot_be_written_is_shown_up_to_80_characters(
    length: int, shown: str
) -> None:
    class Shown:
        def __repr__(self) -> str:
            return "x" * length

    assert default(Shown()) == {"repr": shown}


def default(value: object) -> object:
    """A default as it is written."""
    # An Array takes elements of all kinds.
    text = Signature("f", [spec.Array("a", default=[value])]).metadata()
    (param,) = json.loads(text)["ffi_builder"]["params"]
    (written,) = param["default"]
    return written


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (3, 3),
        (2**64 - 1, 2**64 - 1),
        (-(2**64) + 1, -(2**64) + 1),
        (2**64, {"repr": "0x10000000000000000"}),
        (True, True),
        (None, None),
        (0.5, 0.5),
        (float("inf"), {"float": "inf"}),
        (b"\x00\xff", {"bytes": "00ff"}),
        ("text", "text"),
        ([1, (2, "x")], [1, {"tuple": [2, "x"]}]),
        ({"a": 1.0, 2: None}, {"dict": [["a", 1.0], [2, None]]}),
    ],
    ids=repr,
)
def test_how_defaults_are_written(value: object, written: object) -> None:
    found = default(value)
    assert repr(found) == repr(written)  # 1 is not True, nor 1.0
