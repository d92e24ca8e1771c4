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
    (INT, "x", "'p': default: expected an int but got 'x' (str)"),
    (INT, 1.0, "'p': default: expected an int but got 1.0 (float)"),
    (INT, None, "'p': default: expected an int but got None"),
    (INT, (1,), "'p': default: expected an int but got (1,) (tuple)"),
    (INT, 2**31, "'p': default: 2147483648 does not fit int32 (-2147483648 to 2147483647)"),
    (Var("p", "int8"), Number.MANY, "'p': default: 300 does not fit int8"),
    (INT, Act.odd, "'p': default: expected an int but got <Act.odd: 'gelu'> (Act)"),
    (STRICT, 0, "'p': default: expected at least 2 (min) but got 0 (int)"),
    (STRICT, 10, "'p': default: expected at most 8 (max) but got 10 (int)"),
    (STRICT, 3, "'p': default: expected a multiple of 2 (divisibility) but got 3 (int)"),
    (Var("p", "uint8"), -1, "'p': default: -1 does not fit uint8 (0 to 255)"),
    (INT, 10**5000, "'p': default: a value that is too large to be shown does not fit int32"),
    (Array("p"), 10**5000, "'p': default: expected a list but got a value that is too large"),
    (Var("p", "bool"), 2, "'p': default: expected True or False but got 2 (int)"),
    (Var("p", "bool"), "no", "'p': default: expected True or False but got 'no' (str)"),
    (Var("p", "float32"), "0.5", "'p': default: expected a float but got '0.5' (str)"),
    (Var("p", "float32"), None, "'p': default: expected a float but got None"),
    (Var("p", "handle"), 7, "'p': default: expected a pointer but got 7 (int)"),
    (Stream("p"), "x", "'p': default: expected an int, a pointer or None but got 'x' (str)"),
    (DataPointer("p"), -1, "'p': default: -1 does not fit an address (0 to 18446744073709551615)"),
    (TENSOR, None, "'p': default: expected a tensor but got None"),
    (TENSOR, 0.0, "'p': default: expected a tensor but got 0.0 (float)"),
    (TENSOR, [1.0], "'p': default: expected a tensor but got [1.0] (list)"),
    (Optional(TENSOR), 0, "'p': default: expected a tensor but got 0 (int)"),
    (Optional(INT), "x", "'p': default: expected an int but got 'x' (str)"),
    (Shape("p", [N]), 3, "'p': default: expected a tuple of ints but got 3 (int)"),
    (Shape("p", [N]), (1, 2), "'p': default: expected a length of 1 but got (1, 2) (tuple)"),
    (Shape("p", [N, 3]), (1, 4), "'p[1]': default: expected 3 but got 4 (int)"),
    (Shape("p", [N]), (1.5,), "'p[0]': default: expected an int but got 1.5 (float)"),
    (Shape("p", [3]), ("x",), "'p[0]': default: expected an int but got 'x' (str)"),
    (Shape("p", [N * 2]), (-2,), "'p[0]': default: expected a non-negative int but got -2"),
    (Shape("p", [N]), (-2,), "'p[0]': default: expected a non-negative int but got -2"),
    (PAIR, 1, "'p': default: expected a tuple but got 1 (int)"),
    (PAIR, (1,), "'p': default: expected a length of 2 but got (1,) (tuple)"),
    (PAIR, (300, None), "'p[0]': default: 300 does not fit int8 (-128 to 127)"),
    (PAIR, Record(1, "x"), "'p[1]': default: expected a float but got 'x' (str)"),
    (FIELDS, (1, (2,)), "'p.b[0]': default: expected a str but got 2 (int)"),
    (ConstNone("p"), 0, "'p': default: expected None but got 0 (int)"),
    (ConstInt("p", 3), 4, "'p': default: expected 3 but got 4 (int)"),
    (ConstInt("p", 1), True, "'p': default: expected 1 but got True"),
    (ConstBool("p", True), 1, "'p': default: expected True but got 1 (int)"),
    (ConstBool("p", True), False, "'p': default: expected True but got False"),
    (ConstFloat("p", 0.5), 0.25, "'p': default: expected 0.5 but got 0.25 (float)"),
    (ConstFloat("p", 0.5), math.nan, "'p': default: expected 0.5 but got nan (float)"),
    (ConstFloat("p", 0.5), None, "'p': default: expected 0.5 but got None"),
    (CHOICE, 5, "'p': default: expected a str but got 5 (int)"),
    (CHOICE, Act.tanh, "'p': default: expected one of 'relu', 'gelu' but got 'tanh' (str)"),
    (ConstInt("p", 3), 10**400, "'p': default: expected 3 but got 1000000"),
    (String("p"), b"x", "'p': default: expected a str but got b'x' (bytes)"),
    (Bytes("p"), "x", "'p': default: expected bytes but got 'x' (str)"),
    (DType("p"), "float32", "'p': default: expected a dtype but got 'float32' (str)"),
    (Device("p"), "cpu", "'p': default: expected a device but got 'cpu' (str)"),
    (Object("p"), 1, "'p': default: expected an object but got 1 (int)"),
    (Function("p"), None, "'p': default: expected a function but got None"),
    (Array("p"), {}, "'p': default: expected a list but got {} (dict)"),
    (Map("p"), [], "'p': default: expected a dict but got [] (list)"),
    (_typed("Array(int64)"), [1, "x"], "'p[1]': default: expected an int but got 'x' (str)"),
    (_typed("Array(Object)"), [5], "'p[0]': default: expected an object but got 5 (int)"),
    (_typed("Variant(int64, Array(int64))"), [None], "'p[0]': default: expected an int but got No"),
    (_typed("Map(String, int64)"), {1: 1}, "'p.keys[0]': default: expected a str but got 1 (int)"),
    (_typed("Map(String, Array(int64))"), {"a": ["x"]}, "'p.values[0][0]': default: expected an i"),
]


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
