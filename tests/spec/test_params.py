"""Shapes, streams, pointers, tuples and constants."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable

import pytest

from ffi_builder import SpecError
from ffi_builder.spec import (
    ConstBool,
    ConstFloat,
    ConstInt,
    ConstNone,
    DataPointer,
    EnvStream,
    Param,
    Shape,
    Stream,
    Tensor,
    TupleParam,
    Var,
    dims,
)

n, k = dims("n k")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Shape("s", []),
        lambda: Shape("s", (n, 0, n * 2)),
        lambda: Stream("s"),
        lambda: EnvStream("s"),
        lambda: DataPointer("p"),
        lambda: DataPointer("p", address_space=3),
        lambda: DataPointer("p", default=None, kw_only=True, doc="scratch"),
        lambda: ConstNone("c"),
        lambda: ConstInt("c", -(2**63)),
        lambda: ConstBool("c", False),
        lambda: ConstFloat("c", -0.5),
        lambda: TupleParam("t", []),
        lambda: TupleParam("t", (n, TupleParam("u", [n]))),
    ],
)
def test_accepted(make: Callable[[], Param]):
    assert make() == make()
    assert hash(make()) == hash(make())


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Shape("s", [-1]), r"Shape 's': shape\[0\]: expected a non-negative int but got -1"),
        (lambda: Shape("s", [None]), r"Shape 's': shape\[0\]: expected an int, .* got None"),  # pyright: ignore
        (lambda: Shape("s", 3), "Shape 's': shape: expected a list or tuple .* got 3"),  # pyright: ignore
        (lambda: Shape("", [1]), "Shape name: expected a name .* but got ''"),
        (lambda: Stream("a b"), "Stream name: expected a name .* but got 'a b'"),
        (lambda: EnvStream(None), "EnvStream name: expected a name .* but got None"),  # pyright: ignore
        (lambda: DataPointer("p", address_space=-1), "DataPointer 'p': address_space: expected a non-neg"),
        (lambda: DataPointer("p", address_space="1"), "DataPointer 'p': address_space: expected an int"),  # pyright: ignore
        (lambda: DataPointer("p", address_space=2**24), "DataPointer 'p': address_space: expected less than 16777216"),
        (lambda: ConstInt("c", True), r"ConstInt 'c': value: expected an int but got True \(bool\)"),
        (lambda: ConstInt("c", 2**63), "ConstInt 'c': value: expected an int that fits int64"),
        (lambda: ConstInt("c", 1.0), r"ConstInt 'c': value: expected an int but got 1.0 \(float\)"),  # pyright: ignore
        (lambda: ConstBool("c", 1), "ConstBool 'c': value: expected True or False but got 1"),  # pyright: ignore
        (lambda: ConstFloat("c", True), "ConstFloat 'c': value: expected a float but got True"),
        (lambda: ConstFloat("c", "1"), "ConstFloat 'c': value: expected a float but got '1'"),  # pyright: ignore
        (lambda: ConstFloat("c", 10**400), "ConstFloat 'c': value: expected a value within float64"),
        (lambda: ConstNone("c", kw_only=None), "ConstNone 'c': kw_only: expected True or False"),  # pyright: ignore
        (lambda: TupleParam("t", n), "TupleParam 't': params: expected a list of parameters but got Var"),  # pyright: ignore
        (lambda: TupleParam("t", [3]), r"TupleParam 't': params\[0\]: expected a parameter such as"),  # pyright: ignore
        (lambda: TupleParam("t", [n, k, n]), "TupleParam 't': params: two parameters are named 'n', "
                                             "at 0 and 2; names must differ"),
        (lambda: TupleParam("t", [EnvStream("s")]), "TupleParam 't': EnvStream 's' is not an argument, so it "
                                                    "cannot be an element of a tuple; put it into the"),
        (lambda: Shape("s", [1, ...]), r"Shape 's': shape\[1\]: \.\.\. is the whole shape of a Tensor"),  # pyright: ignore
        (lambda: Shape("s", ...), "Shape 's': shape: expected a list or tuple .* got Ellipsis"),  # pyright: ignore
    ],
)  # fmt: skip
def test_refused(make: Callable[[], Param], words: str):
    with pytest.raises(SpecError, match=words):
        make()


def test_a_const_float_is_a_float():
    assert type(ConstFloat("c", 3).value) is float
    assert ConstFloat("c", 3) == ConstFloat("c", 3.0)


def test_const_floats_are_equal_as_values_are():
    assert ConstFloat("c", math.nan) == ConstFloat("c", float("nan"))
    assert hash(ConstFloat("c", math.nan)) == hash(ConstFloat("c", float("nan")))
    assert ConstFloat("c", 0.0) == ConstFloat("c", -0.0)
    assert ConstFloat("c", 1.0) != ConstFloat("c", 2.0)
    assert ConstFloat("c", 1.0) != ConstFloat("d", 1.0)


def test_kinds_with_the_same_fields_differ():
    assert Stream("s") != EnvStream("s")
    assert ConstInt("c", 1) != ConstBool("c", True)
    assert ConstInt("c", 1) != ConstFloat("c", 1.0)


def test_a_symbol_and_a_parameter_have_a_namespace_each():
    assert TupleParam("n", [Var("n", "int32")]).params == (Var("n", "int32"),)


@pytest.mark.parametrize(
    ("make", "argument", "meant"),
    [
        (Tensor, "device", ", did you mean 'device_type'?"),
        (Tensor, "alignment", ", did you mean 'data_alignment'?"),
        (Tensor, "order", ", did you mean 'strides'?"),
        (Var, "divisible_by", ", did you mean 'divisibility'?"),
        (Var, "defualt", ", did you mean 'default'?"),
        (Stream, "zzz", ""),
    ],
)
def test_an_argument_that_is_not_there(make: type, argument: str, meant: str) -> None:
    with pytest.raises(TypeError) as raised:
        make("x", **{argument: 1})
    assert str(raised.value) == f"{make.__name__}() has no argument {argument!r}{meant}"


def test_copies_and_pickles_are_equal() -> None:
    x = Tensor("x", [1], "int8", device_type="cpu", doc="the first")
    for other in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert (other, other.doc) == (x, "the first")


def test_a_subclass_may_have_arguments_of_its_own() -> None:
    class Aligned(Tensor):
        def __init__(self, name: str, *, bytes_: int) -> None:
            super().__init__(name, [1], "int8", device_type="cpu", data_alignment=bytes_)

    assert Aligned("x", bytes_=16).data_alignment == 16
