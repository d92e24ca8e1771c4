"""Calls that random ones seldom are: limits of int64, provisional symbols, malformed memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ffi_builder import spec
from ffi_builder.spec import (
    EnvStream,
    TupleParam,
)
from tests.differential.description import (
    NONE,
    DLTensor,
    Moved,
    Object,
    Pointer,
    Value,
    array,
    shape,
    tensor,
)
from tests.differential.strategies import Case
from tests.differential.tricky.made import (
    F4,
    MAX,
    MIN,
    Tensor,
    case,
    f4,
    f32,
    k,
    m,
    n,
    one_by_one,
    s,
    u8,
)

SHAPES: Final = (
    *((2, 3, 4), (1, 3, 4), (2, 1, 4), (2, 3, 0), (0, 3, 4), (1, 1, 4), (-1, 3, 4), (3, 2, 4)),
    *((2**31, 2**31, 4), (2**32, 2**32, 0), (2**62, 1, 4), (2**61, 1, 4)),
)
LONG_SHAPES: Final = (
    *((), (5,), (1,) * 63 + (2,), (1,) * 64 + (2,), (2**62,) * 64 + (2,), (2,) + (1,) * 69),
    *((1,) * 64 + (-1,), (2, -3), (2,) * 62, (2,) * 63, (2,) * 64, (0,) + (2**62,) * 65),
)


def pointed(given: Value) -> Value:
    """Give a ``DLTensor*`` for a Tensor."""
    assert isinstance(given, Object)
    assert isinstance(given.body, DLTensor)
    return Pointer(given.body)


def moved(given: Value) -> Value:
    assert isinstance(given, Object)
    return Moved(given)


ARRIVALS: Final[tuple[Callable[[Value], Value], ...]] = (lambda given: given, pointed, moved)


def layouts(dims: tuple[int, ...]) -> list[tuple[int, ...] | None]:
    """Row-major, column-major, one stride wrong of each, and NULL."""
    first, second, third = dims
    row, column = (second * third, third, 1), (1, first, first * second)
    wrong = [(9, *row[1:]), (*row[:2], 2), (*column[:2], 9), (1, 9, column[2]), (0, *column[1:])]
    return [None, row, column, *wrong]


F32, U8, F4X2 = (2, 32, 1), (1, 8, 1), (17, 4, 2)


def dtyped(dtype: tuple[int, int, int]) -> Value:
    return tensor(DLTensor((2,), None, 8, dtype))


CASES: Final[dict[str, Case]] = {
    "many dimensions": one_by_one(
        [Tensor("A", [n, k, m, n, k, m, 2, 3])],
        *(
            f32(*dims, 2, 3, strides=strides)
            for dims in (
                (1, 2, 3, 1, 2, 3),
                (1, 2, 3, 1, 2, 4),
                (2**20, 2**20, 2**20, 2**20, 2**20, 2**20),
                (2**20, 2**20, 0, 2**20, 2**20, 0),
                (2**10,) * 6,
                (2**11,) * 6,
            )
            for strides in (None, (0,) * 8, (9, 108, 36, 9, 18, 6, 3, 1))
        ),
    ),
    "products": one_by_one(
        [Tensor("A", [n, k, m])],
        *(
            f32(*dims, strides=strides)
            for dims in (
                (2**32, 2**31, 1),
                (2**21, 2**21, 2**21),
                (2**62, 2**62, 0),
                (MAX, 1, 1),
                (2**31, 2**31, 2),
                (2, 2**62, 4),
                (0, 2**62, 2**62),
                (1, 1, 1),
                (3, 1, 2),
            )
            for strides in (None, (0, 4, 1), (2, 9, 1), (MIN, 2, 1))
        ),
    ),
    "sizes of several": case(
        [Tensor("A", [n, k]), Tensor("B", [k, m]), spec.Shape("d", [m, s])],
        *(
            (*map(arrive, (f32(*first), f32(*second))), shape(second[1], last))
            for first, second in (
                ((3, 4), (4, 5)),
                ((2**40, 1), (1, 2**40)),
                ((2**40, 0), (0, 2**40)),
                ((2**32, 2**31), (2**31, 1)),
                ((1, 2**31), (2**31, 2**32)),
                ((2**31, 2**31), (2**31, -1)),
                ((-1, 0), (0, 2)),
            )
            for arrive in ARRIVALS
            for last in (7, MAX, -1)
        ),
    ),
    "NULL strides of given ones": one_by_one(
        [Tensor("A", [n, k, m], strides=[s, 5, m * 1])],
        f32(3, 4, 5),
        f32(3, 5, 1),
        f32(3, 1, 1),
        f32(1, 5, 1),
        f32(2**40, 2**40, 5),
        f32(0, 4, 5),
    ),
    "packed": one_by_one(
        [F4("x", [m, k], strides=[1, n])],
        *(
            f4(*dims, strides=strides)
            for dims in ((3, 5), (3, 1), (2**62, 1), (2**62 - 1, 1), (-(2**62) - 1, 1), (0, 5))
            for strides in (None, (1, 7), (1, 2**62), (1, -(2**62)), (2, 7), (1, 2**62 - 1))
        ),
    ),
    "packed, not looked at": one_by_one(
        [F4("x", [None, None], strides=[None, 1])],
        *(
            f4(*dims, strides=strides)
            for dims in ((3, 5), (1, 2**62), (1, 2**62 - 1), (0, MAX), (1, -1))
            for strides in (None, (7, 1), (2**62, 1), (MIN, 1), (7, 2))
        ),
    ),
    "packed, without strides": one_by_one(
        [F4("x", [None, k * 2])],
        *(
            f4(3, x, strides=strides)
            for x in (4, 5, 2**62, 1)
            for strides in (None, (x, 1), (9, 1))
        ),
    ),
    "devices": case(
        [
            TupleParam("t", [spec.Tensor("A", [], "uint8", device_type="cuda", device_id=n)]),
            spec.Tensor("B", [], "uint8", device_type="cuda"),
            spec.Tensor("C", [], "uint8", device_type="rocm", device_id=3),
            EnvStream("stream"),
        ],
        *((array(u8(a, 0)), u8(2, 0), u8(b, 3)) for a in (1, 2, 99) for b in (10, 11, -1)),
        *(
            (array(u8(2, a)), u8(2, b), u8(10, c))
            for a in (0, 5, -1, 2**31 - 1)
            for b in (0, 5, -1, 2**31 - 1)
            for c in (3, 4)
        ),
    ),
    "ndim": one_by_one(
        [Tensor("A", [])],
        *(tensor(DLTensor(None, ndim=ndim)) for ndim in (0, -1, 1, 2**31 - 1, -(2**31))),
        tensor(DLTensor((), (), data=0)),
        tensor(DLTensor((), (), data=0, byte_offset=8)),
    ),
    "unknown dtypes": one_by_one(
        [Tensor("A", [])],
        *(
            tensor(DLTensor((), None, 8, (code, bits, lanes)))
            for code in (0, 6, 7, 17, 18, 255)
            for bits in (0, 1, 8, 255)
            for lanes in (0, 1, 65535)
        ),
    ),
    "alignment": one_by_one(
        [Tensor("A", [n], data_alignment=2**40)],
        *(
            tensor(DLTensor((x,), None, data, byte_offset=offset))
            for x in (0, 1)
            for data in (0, 1, 2**40, 2**40 - 4, 2**63, 2**64 - 1)
            for offset in (0, 1, 4, 2**63)
        ),
    ),
    "any rank": one_by_one(
        [spec.Tensor("A", ..., ["float32", "uint8"], device_type="any")],
        *(tensor(DLTensor(dims, None, data)) for dims in LONG_SHAPES for data in (0, 64)),
        *(tensor(DLTensor(dims, dims, 64)) for dims in LONG_SHAPES),
        *(tensor(DLTensor((2, 3), None, ndim=ndim)) for ndim in (0, 1, -1, -(2**31))),
        *(tensor(DLTensor(None, strides, ndim=ndim)) for strides in (None, ()) for ndim in (0, 1)),
        *(tensor(DLTensor((), None, 8, dtype)) for dtype in ((1, 8, 1), (0, 8, 1), (2, 32, 2))),
    ),
    **{
        f"any rank, strides {strides}": one_by_one(
            [Tensor("A", ..., strides=strides)],
            *(f32(*dims, strides=given) for dims in SHAPES for given in layouts(dims)),
            *(tensor(DLTensor(dims, given, 64)) for dims in LONG_SHAPES for given in (None, dims)),
        )
        for strides in (None, "F", "any")
    },
    **{
        f"three dimensions, strides {strides}": one_by_one(
            [Tensor("A", [n, None, 4], strides=strides)],
            *(f32(*dims, strides=given) for dims in SHAPES for given in layouts(dims)),
        )
        for strides in ("F", "any")
    },
    "column-major by symbols": one_by_one(
        [Tensor("A", [n, n * 2, n], strides="F")],
        *(
            f32(x, y, x, strides=given)
            for x, y in ((1, 2), (2, 4), (3, 5), (0, 0))
            for given in layouts((x, y, x))
        ),
    ),
    "packed, column-major": one_by_one(
        [F4("x", [k, n], strides="F")],
        *(
            f4(*dims, strides=strides)
            for dims in ((3, 5), (1, 5), (2**62, 0), (2**62 - 1, 1), (0, 5), (-1, 3))
            for strides in (None, (1, dims[0]), (dims[1], 1), (1, 2 * dims[0]), (1, 1))
        ),
    ),
    "several dtypes": one_by_one(
        [Tensor("A", [], dtype=["float16", "bfloat16", "float4_e2m1fnx2"])],
        *(
            tensor(DLTensor((), None, 8, (code, bits, lanes)))
            for code in (0, 2, 4, 17)
            for bits in (4, 16, 32)
            for lanes in (1, 2)
        ),
    ),
    "ndim and dtype": one_by_one(
        [Tensor("A", [n], dtype=["float32", "uint8"])],
        *(
            tensor(DLTensor((2,), None, 8, dtype, ndim=ndim))
            for dtype in ((2, 32, 1), (1, 8, 1), (2, 32, 0), (0, 0, 0))
            for ndim in (0, 1, -1, 2**31 - 1)
        ),
    ),
    "dtype of another": case(
        [
            Tensor("A", [n], dtype=["float32", "uint8", "float4_e2m1fnx2"]),
            Tensor("B", [n], dtype="A.dtype"),
            spec.Optional(spec.Tensor("C", ..., "B.dtype", device_type="any")),
            spec.Struct("s", [Tensor("D", [n, 1], dtype="B.dtype")]),
        ],
        *(
            (*map(dtyped, (a, b)), dtyped(c), array(tensor(DLTensor((2, 1), None, 8, d))))
            for a in (F32, U8, F4X2, (2, 16, 1))
            for b, c, d in ((a, a, a), (F32, a, a), (a, U8, a), (a, a, (2, 32, 2)), (F32, U8, F4X2))
        ),
        *((dtyped(U8), dtyped(U8), NONE, array(dtyped(given))) for given in (U8, F32)),
        *((dtyped(U8), tensor(DLTensor((2,), None, 8, U8, ndim=ndim)), NONE) for ndim in (0, -1)),
    ),
    "any device": case(
        [
            spec.Tensor("A", [], "uint8", device_type="any"),
            spec.Tensor("B", [], "uint8", device_type="any"),
            spec.Tensor("C", [], "uint8", device_type="cuda"),
            EnvStream("stream"),
        ],
        *(
            (u8(a, 0), u8(b, x), u8(2, y))
            for a in (1, 2, 99)
            for b in (1, 2, 99, -1)
            for x in (0, 1)
            for y in (0, 1)
        ),
    ),
}
