"""A default that its parameter would refuse is an error when the signature is made."""

from __future__ import annotations

import ctypes
import enum
import math
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
import pytest

from ffi_builder import spec
from ffi_builder.errors import SpecError
from ffi_builder.spec import (
    Array,
    Bytes,
    Choice,
    ConstBool,
    ConstFloat,
    ConstInt,
    ConstNone,
    DataPointer,
    Device,
    DType,
    Function,
    Map,
    Object,
    Optional,
    Param,
    Shape,
    Signature,
    Stream,
    String,
    Struct,
    Tensor,
    TupleParam,
    Var,
)
from ffi_builder.spec.composite import PARAM_TYPES
from ffi_builder.spec.defaults import PLAIN_TYPES


class Number(enum.IntEnum):
    FEW = 3
    MANY = 300


class Act(enum.Enum):
    relu = 1
    tanh = 2
    odd = "gelu"


class Pair(NamedTuple):
    a: Any
    b: Any


@dataclass
class Record:
    a: Any
    b: Any


def _typed(text: str) -> Param:
    return Signature.parse(f"f(p: {text})").params[0]


INT: Final = Var("p", "int32")
N: Final = Var("n", "int64")
TENSOR: Final = Tensor("p", [N], "float32", device_type="cpu")
CHOICE: Final = Choice("p", {"relu": 5, "gelu": 6})
PAIR: Final = TupleParam("p", [Var("a", "int8"), Optional(Var("b", "float32"))])
FIELDS: Final = Struct("p", [Var("a", "int8"), TupleParam("b", [String("c")])])
STRICT: Final = Var("p", "int32", min=2, max=8, divisibility=2)

ACCEPTED: Final[list[tuple[Param, list[object]]]] = [
    (INT, [0, -1, True, 2**31 - 1, -(2**31), np.int64(4), Number.FEW]),
    (STRICT, [2, 8]),
    (Var("p", "uint64"), [2**64 - 1]),
    (Var("p", "bool"), [True, False, 0, 1]),
    (Var("p", "float16"), [1, 0.5, math.inf, math.nan, True, 10**400, np.float32(2)]),
    (Var("p", "handle"), [None, ctypes.c_void_p(7)]),
    (Stream("p"), [None, 7, object()]),
    (DataPointer("p"), [None, 0, 2**64 - 1]),
    (TENSOR, [np.zeros(3, "float32"), object()]),
    (Optional(TENSOR), [None, np.zeros(3)]),
    (Optional(INT), [None, 3]),
    (Shape("p", [N, 3]), [[2, 3], (0, 3), (True, 3), (object(), 3)]),
    (Shape("p", []), [()]),
    (PAIR, [(1, 0.5), [1, None], Pair(1, 2), Record(1, 2), (Number.FEW, None), object()]),
    (FIELDS, [(1, ("x",)), Record(1, ["x"])]),
    (ConstNone("p"), [None]),
    (ConstInt("p", 3), [3, Number.FEW]),
    (ConstBool("p", True), [True]),
    (ConstFloat("p", 3.0), [3.0, 3]),
    (ConstFloat("p", math.nan), [math.nan]),
    (CHOICE, ["relu", Act.relu, Act.odd]),
    (String("p"), ["", "x"]),
    (Bytes("p"), [b"", bytearray(b"x")]),
    (DType("p"), [np.dtype("float32"), object()]),
    (Device("p"), [object()]),
    (Object("p"), [[], {}, object()]),
    (Function("p"), [print, object()]),
    (Array("p"), [(), [1, "x"]]),
    (Map("p"), [{}, {1: 2}]),
    (_typed("Array(Optional(int64))"), [[], [None, 1]]),
    (_typed("Array(Any)"), [[None, 1, "a"]]),
    (_typed("Map(String, Array(int64))"), [{}, {"a": [1]}]),
    (spec.Any("p"), [None, 1, 0.5, "x", b"x", [1], {1: 2}, object()]),
]


@pytest.mark.parametrize(
    ("param", "value"), [(param, value) for param, values in ACCEPTED for value in values]
)
def test_accepted(param: Param, value: Any) -> None:
    signature = Signature("f", [replace(param, default=value)])
    assert signature.params[0].default is value


REJECTED: Final[list[tuple[Param, object, str]]] = [
    (Var("p", "int8"), Number.MANY, "'p': default: 300 does not fit int8"),
    (INT, Act.odd, "'p': default: expected an int but got <Act.odd: 'gelu'> (Act)"),
    (PAIR, Record(1, "x"), "'p[1]': default: expected a float but got 'x' (str)"),
    (CHOICE, Act.tanh, "'p': default: expected one of 'relu', 'gelu' but got 'tanh' (str)"),
]
"""Values of classes of one's own; refused_calls.txt has others."""


@pytest.mark.parametrize(("param", "value", "words"), REJECTED, ids=range(len(REJECTED)))
def test_rejected(param: Param, value: Any, words: str) -> None:
    wrong = replace(param, default=value)  # it may yet become an Optional's
    with pytest.raises(SpecError) as raised:
        Signature("f", [wrong])
    assert str(raised.value).startswith(f"Signature 'f': {words}")


@pytest.mark.parametrize("value", [None, False])
def test_the_type_of_none_and_of_a_bool_is_not_named(value: object) -> None:
    with pytest.raises(SpecError, match=f"expected a tensor but got {value}$"):
        Signature("f", [replace(TENSOR, default=value)])


def test_an_optional_has_a_default_of_its_own() -> None:
    inner = replace(INT, default="x")
    assert Signature("f", [Optional(inner, default=None)])
    with pytest.raises(SpecError, match="'p': default: expected an int but got 'x'"):
        Signature("f", [Optional(inner)])


def test_keyword_only_defaults_are_looked_at() -> None:
    with pytest.raises(SpecError, match="'p': default: expected an int"):
        Signature("f", [replace(INT, default="x", kw_only=True), Var("b", "int32")])


def test_every_kind_says_which_plain_values_it_accepts() -> None:
    for kind in set(PARAM_TYPES) - {Optional, Var}:  # these depend on their parameter and dtype
        assert kind.accepts.words
        assert set(kind.accepts.types) <= PLAIN_TYPES.keys()
