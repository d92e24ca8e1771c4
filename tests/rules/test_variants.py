"""*A Variant* of docs/checks.md."""

from __future__ import annotations

from typing import Final, cast

import pytest

from ffi_builder.abi import TypeIndex
from ffi_builder.spec import (
    Bytes,
    Device,
    DType,
    Optional,
    Param,
    String,
    Tensor,
    TupleParam,
    Var,
    Variant,
    dims,
)
from ffi_builder.spec.variant import Alternative
from tests.differential.description import (
    NONE,
    Moved,
    Object,
    Plain,
    Value,
    array,
    bytes_,
    of_bool,
    of_float,
    of_int,
    str_,
)
from tests.rules.calls import accepted, f32, fault

n, k = dims("n k")
SCALES: Final = Tensor("scale", [n], "float32", device_type="cpu")
X: Final = Tensor("x", [n], "float32", device_type="cpu")


def variant(*types: str | Alternative) -> Variant:
    return Variant([Var("scale", each) if isinstance(each, str) else each for each in types])


TENSOR: Final = cast("Object", f32(3))
STR: Final = str_(b"a longer str")
SCALE: Final = variant("float64", SCALES)


def which(param: Param, value: Value) -> object:
    return accepted([param], value).singles["scale"]


def test_the_type_decides():
    found = accepted([X, SCALE], f32(3), of_float(0.5))
    assert found.singles["scale"] == 0
    assert found.elements["scale.float"] == [0.5]
    assert "scale.tensor" not in found.tensors
    found = accepted([X, SCALE], f32(3), f32(3))
    assert found.singles["scale"] == 1
    assert found.tensors["scale.tensor"].shape == (3,)
    assert which(variant(String("scale"), Bytes("scale")), bytes_(b"longer bytes")) == 1
    assert which(variant(DType("scale"), Device("scale")), Plain(TypeIndex.DEVICE, 1)) == 1


@pytest.mark.parametrize(
    ("types", "value", "number"),
    [
        (("int64", "float64"), of_int(3), 0),
        (("float64", "int64"), of_int(3), 1),
        (("float64", "int64"), of_float(3), 0),
        (("float64", "bool"), of_int(1), 0),  # the first that converts it
        (("bool", "float64"), of_int(1), 0),
        (("float64", "int64"), of_bool(True), 0),
        (("int64", "float64"), of_bool(True), 0),
        (("int64", "float64", "bool"), of_bool(True), 2),
        (("float64", "uint64"), of_int(2**63), 1),
    ],
)
def test_the_own_type_wins_then_the_first_that_converts(
    types: tuple[str, ...], value: Value, number: int
):
    assert which(variant(*types), value) == number


def test_other_types():
    assert fault([X, SCALE], f32(3), str_(b"0.5")) == (
        "TypeError #1 type of scale: float or Tensor | str"
    )
    assert fault([X, Optional(SCALE)], f32(3), array()) == (
        "TypeError #1 type of scale: float or Tensor or None | list"
    )
    assert fault([variant("int8", "bool", SCALES)], NONE) == (
        "TypeError #0 type of scale: int, bool or Tensor | None"
    )
    assert fault([variant("float64", SCALES)], of_int(2**70)) == (
        "TypeError #0 type of scale: float or Tensor | int beyond int64"
    )


def test_moved_objects():
    assert which(SCALE, Moved(TENSOR)) == 1
    assert which(variant(Bytes("scale"), String("scale")), Moved(STR)) == 1
    wrong = "TypeError #0 type of scale: {} | {}"
    assert fault([SCALE], Moved(Object(TypeIndex.MODULE))) == wrong.format(
        "float or Tensor", "ffi.Module"
    )
    assert fault([SCALE], Moved(None)) == wrong.format("float or Tensor", "moved object")
    numbers = variant("int64", "float64")
    assert fault([numbers], Moved(TENSOR)) == wrong.format("int or float", "moved object")


def test_what_came_is_checked_as_its_parameter():
    assert fault([X, SCALE], f32(3), f32(4)) == (
        "ValueError #1 scale.tensor.shape[0]: 3 (n = x.shape[0]) | 4"
    )
    assert fault([variant("int8", SCALES)], of_int(300)) == (
        "ValueError #0 scale.int: a value that fits int8 (-128 to 127) | 300"
    )
    assert fault([variant("bool", SCALES)], of_int(2)) == (
        "ValueError #0 scale.bool: True, False, 0 or 1 | 2"
    )
    assert fault([SCALE], Plain(TypeIndex.TENSOR, 0)) == (
        "ValueError #0 scale.tensor: a non-NULL object | NULL"
    )


def test_what_it_binds_is_bound_as_in_an_optional():
    given = [SCALE, X]
    assert accepted(given, of_int(2), f32(3)).values == {"n": 3}
    assert fault(given, f32(2), f32(3)) == (
        "ValueError #1 x.shape[0]: 2 (n = scale.tensor.shape[0]) | 3"
    )
    assert accepted([SCALE], of_int(2)).values == {"n": 0}


def test_in_a_tuple():
    pair: list[Param] = [TupleParam("t", [k, Optional(SCALE)])]
    assert accepted(pair, array(of_int(1), NONE)).present == {
        "t[1]": False,
        "t[1].tensor": False,
    }
    assert fault(pair, array(of_int(1), str_(b"a"))) == (
        "TypeError #0 type of t[1]: float or Tensor or None | str"
    )
