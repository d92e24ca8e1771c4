"""Optionals: what an absent one leaves of symbols, waiting expressions, devices and tensors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import partial
from typing import Final

from ffi_builder import spec
from ffi_builder.abi import TypeIndex
from ffi_builder.spec import EnvStream, Optional, Param, Shape, Struct, TupleParam, Var
from ffi_builder.spec.numbers import FLOAT_DTYPES
from tests.differential.description import (
    NONE,
    DLTensor,
    Moved,
    Object,
    Plain,
    Value,
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
from tests.differential.tricky.made import F4, Tensor, case, f4, f32, k, n, one_by_one, s, u8


def crossed(params: Sequence[Param], *given: Sequence[Value]) -> Case:
    """All combinations of these arguments."""
    return case([*params], *itertools.product(*given))


def stride(name: str, entry: spec.Dim = s) -> Param:
    """A tensor of any length with this stride."""
    return Tensor(name, [None], strides=[entry])


def free(value: int) -> Value:
    return f32(1, strides=(value,))


def firm(value: int) -> Value:
    return f32(5, strides=(value,))


FREE_AND_FIRM: Final = (free(6), free(7), firm(6), firm(7))
OR_NONE: Final = (NONE, *FREE_AND_FIRM)
SIZES: Final = (f32(3), f32(4))
A_DIM, B_DIM, C_DIM = (Tensor(name, [n]) for name in "ABC")
LINE: Final = Tensor("L", [n * 2])
device: Final = partial(spec.Tensor, shape=[], dtype="uint8")
ANYWHERE: Final = (u8(1, 0), u8(2, 0), u8(2, 1), u8(10, 1), u8(99, 0))

SYMBOLS: Final[dict[str, Case]] = {
    "a free stride, then an optional one": crossed(
        [stride("A"), Optional(stride("B"))], FREE_AND_FIRM, OR_NONE
    ),
    "an optional stride, then a free one": crossed(
        [Optional(stride("A")), stride("B")], OR_NONE, FREE_AND_FIRM
    ),
    "two optional strides and one": crossed(
        [Optional(stride("A")), Optional(stride("B")), stride("C")],
        OR_NONE,
        OR_NONE,
        FREE_AND_FIRM,
    ),
    "strides in one optional": crossed(
        [Optional(TupleParam("t", [stride("A"), stride("B")])), stride("C")],
        [NONE, *(array(a, b) for a in FREE_AND_FIRM for b in FREE_AND_FIRM)],
        FREE_AND_FIRM,
    ),
    "an optional dimension among strides": crossed(
        [stride("A"), Optional(Tensor("B", [s])), stride("C")],
        FREE_AND_FIRM,
        [NONE, f32(6), f32(7)],
        FREE_AND_FIRM,
    ),
    "a symbol in strides of an optional alone": crossed(
        [Optional(stride("A"))], [NONE, free(6), firm(7), f32(0, strides=(-(2**63),))]
    ),
    "a narrow symbol in strides of an optional": crossed(
        [Optional(stride("A", Var("s", "int8"))), stride("B", Var("s", "int8"))],
        [NONE, free(6), free(300), firm(300)],
        [free(6), free(300), firm(6)],
    ),
    "optional dimensions": crossed(
        [Optional(A_DIM), Optional(B_DIM), Optional(C_DIM)], *[(NONE, *SIZES)] * 3
    ),
    "a dimension, then optional ones": crossed(
        [A_DIM, Optional(B_DIM), C_DIM], SIZES, (NONE, *SIZES), SIZES
    ),
    "an optional dimension, then an expression": crossed(
        [Optional(A_DIM), Tensor("B", [n * 2]), n],
        (NONE, *SIZES),
        (f32(6), f32(8), f32(9)),
        (of_int(3), of_int(4)),
    ),
    "a dimension, then an expression in an optional": crossed(
        [A_DIM, Optional(Tensor("B", [n * 2]))], SIZES, (NONE, f32(6), f32(8))
    ),
    "an expression of a symbol that may be unbound": crossed(
        [Tensor("B", [n * k]), Optional(A_DIM), Optional(Tensor("C", [k]))],
        (f32(12), f32(0), f32(16)),
        (NONE, *SIZES),
        (NONE, *SIZES),
    ),
    "an expression in an optional that waits": crossed(
        [Optional(Tensor("B", [n + k])), Optional(A_DIM), Optional(Tensor("C", [k]))],
        (NONE, f32(7), f32(8)),
        (NONE, *SIZES),
        (NONE, *SIZES),
    ),
    "an expression that waits for itself": crossed(
        [Optional(TupleParam("t", [Tensor("B", [n * k]), n])), k],
        (NONE, *(array(f32(size), of_int(x)) for size in (12, 13) for x in (3, 4))),
        (of_int(3), of_int(4)),
    ),
    "an overflow in what may be unbound": crossed(
        [Tensor("B", [n * 2]), Optional(Tensor("A", [n, None])), Optional(n)],
        (f32(0), f32(8)),
        (NONE, f32(2**62, 0), f32(4, 0)),
        (NONE, of_int(4), of_int(2**62)),
    ),
    "solved in an optional": crossed(
        [Optional(LINE), Tensor("B", [n + 1]), Shape("d", [n * 3])],
        (NONE, f32(6), f32(7), f32(8)),
        (f32(4), f32(5)),
        (shape(9), shape(12), shape(8)),
    ),
    "solved in optionals alone": crossed(
        [Optional(LINE), Optional(Tensor("B", [n + 1])), Optional(Shape("d", [n * 3]))],
        (NONE, f32(6), f32(7)),
        (NONE, f32(4), f32(5)),
        (NONE, shape(9), shape(12), shape(8)),
    ),
    "solved, then in an optional": crossed(
        [LINE, Optional(Tensor("B", [n + 1]))], (f32(6), f32(7)), (NONE, f32(4), f32(5))
    ),
    "strides solved in an optional": crossed(
        [Optional(stride("A", s * 2)), stride("B", s * 3), Tensor("C", [s + 1])],
        (NONE, free(6), free(7), firm(6), firm(7)),
        (free(9), free(8), firm(9), firm(12)),
        (f32(4), f32(5), f32(1)),
    ),
    "an unbound symbol among bounds": crossed(
        [Optional(Tensor("A", [Var("n", "int32", min=2, divisibility=2)]))],
        (NONE, f32(0), f32(2), f32(3), f32(2**31, data=0)),
    ),
    "a stride, certain in an optional": crossed(
        [
            stride("A"),
            Optional(TupleParam("t", [s, stride("B")])),
            stride("C"),
            Tensor("D", [s * 2]),
        ],
        FREE_AND_FIRM,
        (NONE, *(array(of_int(x), b) for x in (6, 7) for b in (free(9), firm(6)))),
        (free(8), firm(6)),
        (f32(12), f32(14), f32(16)),
    ),
    "an absent expression that waits, and sizes that must be looked at": crossed(
        [Optional(Tensor("A", [k])), Optional(Tensor("B", [n * k])), Tensor("C", [n])],
        (NONE, f32(2)),
        (NONE, f32(6), f32(7)),
        (f32(3), f32(-1), f32(2**62)),
    ),
    "an expression of what is certain inside": crossed(
        [Optional(TupleParam("t", [n, Tensor("A", [n * 2])])), Tensor("B", [n * 3]), n],
        (NONE, *(array(of_int(x), f32(y)) for x in (2, 3) for y in (4, 6))),
        (f32(6), f32(9)),
        (of_int(2), of_int(3)),
    ),
}
NUMBERS: Final = (of_int(0), of_int(3), of_int(2**63), of_bool(True), of_float(1))
FLOATS: Final = (of_float(0.1), of_int(2), of_float(math.nan), of_float(-0.0), of_int(0), Plain(6))
SCALARS: Final[dict[str, Sequence[Value]]] = {
    **dict.fromkeys(("int8", "uint64", "int64"), NUMBERS),
    **dict.fromkeys(FLOAT_DTYPES, FLOATS),
    "bool": (of_bool(True), of_int(0), Plain(TypeIndex.BOOL, 2), of_float(1)),
}
NESTED: Final[dict[str, Case]] = {
    "nested optionals": crossed(
        [Optional(Struct("t", [Optional(A_DIM), Optional(TupleParam("u", [Optional(n), k]))])), n],
        (
            NONE,
            *(
                list_(a, u)
                for a in (NONE, *SIZES)
                for u in (NONE, *(array(x, of_int(1)) for x in (NONE, of_int(3), of_float(1))))
            ),
            array(NONE),
            Plain(TypeIndex.ARRAY),
            Moved(array(f32(3), NONE)),
            Moved(None),
        ),
        (of_int(3), of_int(4)),
    ),
    "symbols of nested optionals": crossed(
        [
            Optional(TupleParam("t", [Optional(stride("A")), stride("B"), Optional(n)])),
            stride("C"),
            Optional(TupleParam("u", [n, Tensor("D", [n * 2])])),
        ],
        (
            NONE,
            *(array(a, b, x) for a in OR_NONE for b in FREE_AND_FIRM for x in (NONE, of_int(3))),
        ),
        (free(6), firm(7)),
        (NONE, array(of_int(3), f32(6)), array(of_int(4), f32(8))),
    ),
    **{
        f"optional scalars of {dtype}": crossed(
            [Optional(x), TupleParam("t", [Optional(x)]), TupleParam("u", [x])],
            (NONE, *values),
            [array(value) for value in (NONE, *values)],
            [array(value) for value in (NONE, *values)],
        )
        for dtype, values in SCALARS.items()
        for x in (Var("x", dtype),)
    },
    "handles in an optional": crossed(
        [Optional(TupleParam("t", [Var("h", "handle")])), TupleParam("u", [Var("h", "handle")])],
        (NONE, array(NONE), array(of_pointer(8)), array(of_int(8))),
        (array(NONE), array(of_pointer(8)), array(of_pointer(2**64 - 1))),
    ),
    "None with a payload": crossed(
        [Optional(A_DIM), Optional(Shape("d", [n]))], (Plain(0, 7), f32(3)), (Plain(0, 8), shape(3))
    ),
}
DEVICES: Final[dict[str, Case]] = {
    "the first tensor absent": crossed(
        [
            Optional(device("A", device_type="cuda")),
            Optional(device("B", device_type="any")),
            device("C", device_type="any"),
            EnvStream("stream"),
        ],
        (NONE, u8(2, 0), u8(2, 1)),
        (NONE, *ANYWHERE),
        ANYWHERE,
    ),
    "a cpu first": crossed(
        [
            EnvStream("stream"),
            device("A", device_type="cpu", device_id=n),
            Optional(TupleParam("t", [device("B", device_type="any", device_id=n)])),
            device("C", device_type="any"),
        ],
        (u8(1, 0), u8(1, 1)),
        (NONE, *(array(given) for given in ANYWHERE)),
        ANYWHERE,
    ),
    "streams of unknown devices": crossed(
        [device("A", device_type="any"), EnvStream("stream")],
        [
            u8(kind, number)
            for kind in (0, 1, 2, -1, 99, 2**31 - 1)
            for number in (0, 1, -1, 2**31 - 1)
        ],
    ),
    "device ids in optionals": crossed(
        [
            Optional(device("A", device_type="cuda", device_id=n)),
            device("B", device_type="cuda", device_id=n),
            Optional(device("C", device_type="cuda")),
        ],
        (NONE, u8(2, 0), u8(2, 1), u8(2, -1)),
        (u8(2, 0), u8(2, 1)),
        (NONE, u8(2, 0), u8(2, 1)),
    ),
}
LAYOUTS: Final[dict[str, Case]] = {
    "parts of absent tensors": crossed(
        [
            Optional(Tensor("A", [n, 4, None, n * 2], strides=[None, n, 1, n * 3])),
            Optional(Tensor("B", [n, 4, None, 3])),
            Optional(Tensor("C", [None, 4, n], strides="F")),
            Optional(Tensor("D", [n, None], strides="any")),
            Optional(Tensor("E", ..., strides="F")),
            n,
        ],
        (NONE, f32(2, 4, 3, 4, strides=(8, 2, 1, 6))),
        (NONE, f32(2, 4, 5, 3), f32(2, 4, 5, 3, strides=(60, 15, 3, 1))),
        (NONE, f32(3, 4, 2, strides=(1, 3, 12)), f32(1, 4, 2, strides=(9, 1, 4))),
        (NONE, f32(2, 9), f32(2, 9, strides=(-1, 0))),
        (NONE, f32(2, 3, strides=(1, 2)), f32(), f32(7), f32(2, 3)),
        (of_int(2),),
    ),
    "an optional tensor with dimensions that wait": crossed(
        [
            Optional(Tensor("A", [n, n * n, n * k, k])),
            Optional(Tensor("B", [k, n * k, n], strides="F")),
        ],
        (NONE, f32(2, 4, 6, 3), f32(2, 4, 7, 3), f32(2, 5, 6, 3)),
        (NONE, f32(3, 6, 2, strides=(1, 3, 18)), f32(3, 6, 2), f32(2, 4, 2, strides=(1, 2, 8))),
    ),
    "packed optionals": crossed(
        [Optional(F4("x", [n, None])), Optional(F4("y", [k, 3], strides="F")), n],
        (NONE, f4(2, 3), f4(2, 2**62), f4(0, 2**62)),
        (NONE, f4(4, 3, strides=(1, 4)), f4(4, 3), f4(2**62, 3), f4(1, 1, strides=(9, 9))),
        (of_int(2), of_int(0)),
    ),
    "an empty optional tensor": one_by_one(
        [Optional(Tensor("A", [n, k], data_alignment=16))],
        *(
            tensor(DLTensor(dims, strides, data, byte_offset=offset))
            for dims in ((0, 2), (2, 0), (2, 3))
            for strides in (None, (9, 9))
            for data in (0, 8, 16)
            for offset in (0, 8, 2**64 - 8)
        ),
        Object(TypeIndex.TENSOR, DLTensor((2**40, 2**40))),
        Object(TypeIndex.TENSOR, DLTensor((2**32, 2**31))),
    ),
}
CASES: Final[dict[str, Case]] = {**SYMBOLS, **NESTED, **DEVICES, **LAYOUTS}
