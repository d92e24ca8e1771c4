"""Lists of numbers: what comes, each dtype's ends, lengths, Shapes, Optionals."""

from __future__ import annotations

import itertools
from typing import Final

from ffi_builder.abi import TypeIndex
from ffi_builder.spec import List, Optional, Struct, Var
from ffi_builder.spec.numbers import NUMBER_DTYPES
from tests.differential.description import (
    NONE,
    Elements,
    Ints,
    Moved,
    Object,
    Plain,
    Value,
    array,
    bytes_,
    list_,
    of_bool,
    of_float,
    of_int,
    of_pointer,
    shape,
    small,
    str_,
)
from tests.differential.strategies import Case
from tests.differential.tricky.made import MAX, MIN, Tensor, case, f32, k, n, one_by_one

NUMBERS: Final[tuple[Value, ...]] = (
    *(of_int(value) for value in (0, 1, 2, -1, 127, 128, 255, 256, -129, 65504, 2**31, 2**32 - 1)),
    *(of_int(value) for value in (MAX, MIN, 2**63, 2**64 - 1, 2**64, MIN - 1, 2**24 + 1)),
    *(of_bool(True), of_bool(False), Plain(TypeIndex.BOOL, 2), Plain(TypeIndex.BOOL, -1)),
    *(of_float(value) for value in (0.1, -0.0, 1e300, 65520.0, float("nan"), float("-inf"))),
    *(NONE, of_pointer(0), str_(b"1"), shape(1), array(), f32(1), Plain(TypeIndex.BIG_INT)),
    *(Plain(TypeIndex.INT, 3, padding=7), Moved(shape(1))),
)
TEXTS: Final[tuple[Value, ...]] = (
    *(make(content) for make in (str_, bytes_) for content in (b"", b"a\0b", b"a longer one" * 9)),
    *(small(kind, b"ab", size) for kind in (11, 12) for size in (0, 2, 7, 8)),
    *(NONE, of_int(1), array(), Plain(TypeIndex.STR), Plain(TypeIndex.RAW_STR), Moved(str_(b"a"))),
    *(Plain(TypeIndex.BYTES), Moved(bytes_(b"")), Moved(None), shape(1)),
)
TWO: Final = array(of_int(2), of_int(3))
GIVEN: Final[tuple[Value, ...]] = (
    *(array(), list_(), shape(), TWO, list_(of_int(2), of_int(3)), shape(2, -3)),
    *(Moved(TWO), Moved(shape(2, 3)), Moved(Object(TypeIndex.MAP)), Moved(None)),
    *(Plain(kind) for kind in (TypeIndex.ARRAY, TypeIndex.LIST, TypeIndex.SHAPE)),
    *(Object(TypeIndex.ARRAY, Elements(None, size)) for size in (0, 2)),
    *(Object(TypeIndex.SHAPE, Ints(None, size)) for size in (0, 2, -1)),
    *(Object(TypeIndex.LIST, Elements((of_int(1),), size)) for size in (-1, 2**31, 2**62, MIN)),
    *(Object(TypeIndex.SHAPE, Ints((1,), size)) for size in (-1, 2**31, MIN)),
    *(f32(2, 3), of_int(2), NONE, Object(TypeIndex.MAP), str_(b"12")),
    *(array(of_int(1), NONE), array(*[of_int(1)] * 60), shape(*range(60))),
    *(shape(MAX, MIN), shape(127, 128), shape(-1)),
)


def few(name: str, dtype: str = "int64") -> List:
    return List(name, dtype, Var("few", "int8", min=1, max=3))


CASES: Final[dict[str, Case]] = {
    **{
        f"numbers: what comes for {dtype}": one_by_one(
            [List("x", dtype)], *GIVEN, *(array(of_int(1), number) for number in NUMBERS)
        )
        for dtype in NUMBER_DTYPES
    },
    **{
        f"rows: what comes for {dtype}": one_by_one(
            [List("x", List("row", dtype), Var("few", "int8", max=4))],
            *GIVEN,
            *(array(array(of_int(1)), each, array()) for each in GIVEN),
            *(array(array(of_int(1), number), shape()) for number in NUMBERS),
        )
        for dtype in ("int16", "uint64", "bool", "float16", "float64")
    },
    "rows: lengths": case(
        [Optional(List("x", List("row", "int8", 2))), List("y", List("row", "int32"), n), n],
        *itertools.product(
            (NONE, array(), array(TWO), array(TWO, shape(1))),
            (array(), array(shape(*range(60)), TWO), array(TWO, shape(2**31))),
            (of_int(2), of_int(0)),
        ),
    ),
    **{
        f"texts: what comes for {dtype}": one_by_one(
            [List("x", dtype, Var("few", "int8", max=3))],
            *GIVEN,
            *(array(right, each) for each in TEXTS),
        )
        for dtype, right in (("String", str_(b"a")), ("Bytes", bytes_(b"a")))
    },
    "numbers: lengths": case(
        [few("x"), few("y", "float32"), List("z", "bool", 2)],
        *itertools.product(
            (array(), TWO, shape(1), array(*[of_int(1)] * 4)),
            (array(), TWO, array(of_float(0.5))),
            (array(), array(of_bool(True), of_int(0))),
        ),
    ),
    "numbers: length before its symbol": case(
        [List("x", "int64", n + 1), List("y", "int8", n * k), n, Tensor("z", [k])],
        *itertools.product(
            (shape(1, 2, 3), array(), TWO),
            (shape(*[1] * 6), shape()),
            (of_int(2), of_int(-1)),
            (f32(3), f32(0)),
        ),
    ),
    "numbers: length solved": one_by_one(
        [List("x", "uint8", Var("s", "int8", min=0) * 2 + 1)],
        *(shape(*[1] * count) for count in range(4)),
        *(array(*[of_int(1)] * count) for count in range(4)),
    ),
    "numbers: in others": case(
        [Optional(Struct("cfg", [List("x", "int32", k), Optional(List("y", "bool"))])), k],
        *itertools.product(
            (NONE, array(TWO, NONE), array(shape(1), array(of_int(2))), array(NONE, NONE)),
            (of_int(2), of_int(1)),
        ),
    ),
    "numbers: relations of their symbols": case(
        [List("x", "int64", n), Optional(List("y", "float64", k))],
        *itertools.product((array(), TWO), (NONE, array(), array(of_float(1.0)))),
        where=[n <= k, n + 0 <= 1],
    ),
}
