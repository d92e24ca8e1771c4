"""Shapes, streams, pointers, tuples and constants."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable

import pytest

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

(n,) = dims("n")


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
