"""Calls that random ones seldom are: limits of int64, provisional symbols, malformed memory."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Final

from ffi_builder.abi import TypeIndex
from ffi_builder.spec import (
    ConstBool,
    ConstFloat,
    ConstInt,
    ConstNone,
    DataPointer,
    Shape,
    Signature,
    Stream,
    TupleParam,
    Var,
    VarArgs,
)
from ffi_builder.spec.numbers import FLOAT_DTYPES, INT_RANGES
from tests.differential.description import (
    NONE,
    Arguments,
    DLTensor,
    Elements,
    Ints,
    Moved,
    Object,
    Plain,
    Pointer,
    array,
    list_,
    of_bool,
    of_float,
    of_int,
    of_pointer,
    shape,
    tensor,
)
from tests.differential.strategies import Case
from tests.differential.tricky.made import MAX, MIN, Tensor, case, m, n, one_by_one, pairs

FLOATS: Final = (
    0.0,
    -0.0,
    0.1,
    1 / 3,
    1e22,
    123456789012345680.0,
    65519.99,
    65520.0,
    2.0**-24,
    2.0**-25,
    math.nextafter(2.0**-25, 1),
    1.00390625,
    math.nextafter(1.00390625, 2),
    3.4028235677973362e38,
    3.4028235677973366e38,
    1.7976931348623157e308,
    5e-324,
    2.0**-149,
    2.0**-150,
    2.0**-133,
    2.0**-134,
    math.inf,
    -math.inf,
    math.nan,
)


def floats(dtype: str) -> Case:
    """Each float against the next, so that every one is shown once and compared."""
    given = [of_float(value) for value in FLOATS]
    given += [of_int(2**53 + 1), of_int(MAX), of_int(MIN), of_int(2**63 - 2**38 - 1), of_bool(True)]
    given += [Plain(TypeIndex.BOOL, 3), Plain(TypeIndex.FLOAT, -1)]
    same = list(zip(given, given, strict=True))
    return pairs(Var("x", dtype), *pairwise(given), *same)


def integers(dtype: str) -> Case:
    low, high = INT_RANGES[dtype]
    numbers = (low - 1, low, -1, 0, 1, high, high + 1, MIN, MAX, 2**64 - 1, 2**64, MIN - 1, 2**200)
    return one_by_one([Var("x", dtype, divisibility=3)], *map(of_int, numbers))


CASES: Final[dict[str, Case]] = {
    **{f"floats {dtype}": floats(dtype) for dtype in FLOAT_DTYPES},
    **{f"integers {dtype}": integers(dtype) for dtype in INT_RANGES},
    "lengths": one_by_one(
        [Shape("d", [n, 4])],
        *(
            Object(kind, body(None, size))
            for kind, body in (
                (TypeIndex.SHAPE, Ints),
                (TypeIndex.ARRAY, Elements),
                (TypeIndex.LIST, Elements),
            )
            for size in (0, 1, 2, 3, -1, MAX, MIN, 2**32 + 2)
        ),
    ),
    "entries": one_by_one(
        [Shape("d", [n, 4])],
        array(of_int(-1), of_float(1.0)),
        array(of_bool(True), of_int(4)),
        list_(NONE, NONE),
        array(Plain(TypeIndex.BOOL, 7), of_int(4)),
        array(of_int(1), of_int(2**63)),
        shape(MIN, 4),
        Moved(shape(1, 4)),
        array(of_int(1), Plain(TypeIndex.BOOL, -1)),
    ),
    "entries of every kind": one_by_one(
        [Shape("d", [n, m, 4])],
        *(
            value
            for values in ((1, 2, 4), (-1, 2, 4), (1, MIN, 4), (1, 2, 5), (MAX, MAX, 4), (1, 2))
            for given in (
                shape(*values),
                array(*map(of_int, values)),
                list_(*map(of_int, values)),
            )
            for value in (given, Moved(given))
        ),
    ),
    "no entries": one_by_one(
        [TupleParam("t", [TupleParam("u", []), Shape("d", [])])],
        array(array(), shape()),
        list_(list_(), array()),
        array(Object(TypeIndex.ARRAY, Elements(None)), Object(TypeIndex.SHAPE, Ints(None))),
        array(shape(), shape()),
        array(array(NONE), shape()),
    ),
    "moved": one_by_one(
        [Tensor("A", [n])],
        Moved(tensor(DLTensor((3,)))),
        Moved(None),
        Plain(TypeIndex.OBJECT_RVALUE_REF),
        Moved(Object(71)),
        Moved(Object(-1)),
        Pointer(DLTensor((3,))),
        Plain(TypeIndex.DL_TENSOR_PTR),
        Plain(70),
    ),
    "booleans": pairs(
        Var("b", "bool"),
        (of_bool(True), of_int(1)),
        (of_int(0), of_bool(True)),
        (of_int(1), of_int(0)),
        (Plain(TypeIndex.BOOL, 2), NONE),
        (Plain(TypeIndex.BOOL, 256), NONE),
        (of_int(-1), NONE),
    ),
    "handles": pairs(
        Var("h", "handle"),
        (NONE, of_pointer(0)),
        (Plain(0, 5), of_pointer(5)),
        (of_pointer(2**64 - 1), NONE),
    ),
    "null big ints": case(
        [Var("x", "uint64"), DataPointer("p")],
        *((a, b) for a in (of_int(1), Plain(78)) for b in (of_int(1), Plain(78), of_int(2**64))),
    ),
    "pointers": case(
        [Stream("s"), DataPointer("p")],
        *((of_int(-1), p) for p in (of_int(-1), of_int(MIN - 1), of_int(2**64), of_bool(True))),
    ),
    "constants": case(
        [ConstNone("n"), ConstInt("i", -1), ConstBool("b", True), ConstFloat("f", math.nan)],
        *(
            (Plain(0, 7), i, b, f)
            for i in (of_int(-1), of_int(1), of_bool(True), of_int(2**64 - 1))
            for b in (of_bool(True), of_bool(False), Plain(TypeIndex.BOOL, 2), of_int(1))
            for f in (of_float(math.nan), of_float(0.5), of_int(3))
        ),
    ),
    "None alone": one_by_one([ConstNone("n")], NONE, Plain(0, 8), of_int(0), of_pointer(0)),
    "no arguments": Case(
        Signature("f", [Var("n", "int64")]),
        (Arguments(None, 1), Arguments(None, 0), Arguments((NONE,), 2), Arguments((NONE,), -1)),
    ),
    "any number of arguments": Case(
        Signature("f", [n, VarArgs("rest")]),
        (
            *(Arguments(None, count) for count in (0, 1, -1)),
            *(Arguments((of_int(1), NONE), count) for count in (0, 1, 2, -1)),
            Arguments((NONE, of_int(1))),
        ),
    ),
    "no parameters, and a long name": Case(
        Signature("f" * 401, []), (Arguments(None, 0), Arguments(None, 1), Arguments((NONE,)))
    ),
}
