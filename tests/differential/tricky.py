"""Calls that random ones seldom are: limits of int64, provisional symbols, malformed memory."""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from typing import Final

from ffi_builder import spec
from ffi_builder.abi import TypeIndex
from ffi_builder.spec import (
    ConstBool,
    ConstFloat,
    ConstInt,
    ConstNone,
    DataPointer,
    Dim,
    EnvStream,
    Param,
    Shape,
    Signature,
    Stream,
    TupleParam,
    Var,
    ceildiv,
)
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

Tensor = partial(spec.Tensor, dtype="float32", device_type="cpu")
n, k, m, s, t = spec.dims("n k m s t")
MAX, MIN = 2**63 - 1, -(2**63)


def f32(*dims: int, strides: tuple[int, ...] | None = None, data: int = 64) -> Value:
    return tensor(DLTensor(dims, strides, data))


def case(params: list[Param], *calls: tuple[Value, ...]) -> Case:
    return Case(Signature("f", params), tuple(map(Arguments, calls)))


def one_by_one(params: list[Param], *values: Value) -> Case:
    """Calls with one argument each."""
    return case(params, *((value,) for value in values))


def twice(var: Var) -> list[Param]:
    """A symbol that comes as a scalar and again in a tuple."""
    return [var, TupleParam("t", [var])]


def pairs(var: Var, *given: tuple[Value, Value]) -> Case:
    return case(twice(var), *((first, array(second)) for first, second in given))


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
    low, high = spec.INT_RANGES[dtype]
    numbers = (low - 1, low, -1, 0, 1, high, high + 1, MIN, MAX, 2**64 - 1, 2**64, MIN - 1, 2**200)
    return one_by_one([Var("x", dtype, divisibility=3)], *map(of_int, numbers))


def nested(depth: int) -> Dim:
    """``n - (n + (n - …))``: that many values have to be kept while it is evaluated."""
    expression: Dim = n
    for level in range(depth - 1):
        expression = n - expression if level % 2 else n + expression
    return expression


PROVISIONAL: Final = [Tensor("A", [None], strides=[s]), Tensor("B", [None], strides=[s])]
SOLVED: Final = [Tensor("A", [None], strides=[s * 2]), Tensor("B", [None], strides=[s * 3])]
F4: Final = partial(
    spec.Tensor, dtype="float4_e2m1fn", storage_dtype="float4_e2m1fnx2", device_type="cpu"
)


def f4(*dims: int, strides: tuple[int, ...] | None = None) -> Value:
    return tensor(DLTensor(dims, strides, 64, (17, 4, 2)))


def u8(device_type: int, device_id: int) -> Value:
    return tensor(DLTensor((), None, 8, (1, 8, 1), device_type, device_id))


def two_strides(params: list[Param]) -> Case:
    """Both free, one free, none free; with equal and other values."""
    return case(
        params,
        *(
            (f32(first, strides=(one,)), f32(second, strides=(other,)))
            for first in (1, 5, 0)
            for second in (1, 5)
            for one, other in ((6, 9), (6, 6), (7, 6), (8, 9))
        ),
    )


CASES: Final[dict[str, Case]] = {
    **{f"floats {dtype}": floats(dtype) for dtype in spec.FLOAT_DTYPES},
    **{f"integers {dtype}": integers(dtype) for dtype in spec.INT_RANGES},
    "two strides of a symbol": two_strides([*PROVISIONAL]),
    "two strides that are solved": two_strides([*SOLVED]),
    "strides, then a dimension": case(
        [Tensor("A", [None], strides=[s]), Tensor("Y", [s * 2]), Tensor("B", [s]), Shape("d", [s])],
        (f32(1, strides=(7,)), f32(8), f32(4), shape(4)),
        (f32(5, strides=(7,)), f32(8), f32(4), shape(4)),
        (f32(5, strides=(4,)), f32(8), f32(4), shape(5)),
        (f32(5, strides=(4,)), f32(9), f32(4), shape(4)),
    ),
    "a solved stride, then a dimension": case(
        [Tensor("A", [None], strides=[s * 2]), Tensor("B", [s * 3]), Tensor("C", [s + 1])],
        *(
            (f32(a, strides=(x,)), f32(9), f32(c))
            for a in (1, 5)
            for x in (5, 6, 8)
            for c in (4, 5)
        ),
    ),
    "a symbol of strides alone, waited for": case(
        [Tensor("X", [s * 2]), *PROVISIONAL],
        *((f32(14), f32(a, strides=(7,)), f32(b, strides=(8,))) for a in (1, 2) for b in (1, 2)),
    ),
    "a free stride that fits nothing": case(
        [Tensor("A", [None], strides=[Var("s", "int8") * 2]), Var("b", "uint8")],
        *((f32(a, strides=(x,)), of_int(1)) for a in (1, 2) for x in (5, 6, 300, 301, MIN)),
    ),
    "solving beyond int64": one_by_one(
        [Tensor("A", [n * 2 + (MIN + 2), None], strides=[None, None])],
        *(f32(x, 0) for x in (0, 1, 2**62, MAX, MAX - 1)),
    ),
    "solving with scale -1": one_by_one(
        [Tensor("A", [None], strides=[0 - n])], *(f32(2, strides=(x,)) for x in (5, MAX, MIN))
    ),
    "expressions at the limits": case(
        [n, Tensor("A", [None], strides=[n * 2 // 2]), Tensor("B", [None], strides=[0 - n + 1])],
        *(
            (of_int(x), f32(2, strides=(a,)), f32(2, strides=(b,)))
            for x in (2**62, 2**62 - 1, MIN, MAX, -(2**62))
            for a in (x, -x % 2**63)
            for b in (1 - x, 0)
            if -(2**63) <= b <= MAX
        ),
    ),
    "rounding of expressions": case(
        [
            Tensor("A", [None] * 4, strides=[n // 4, n % 4, ceildiv(n, 4), ceildiv(n, 1)]),
            n,
        ],
        *(
            (f32(2, 2, 2, 2, strides=(x // 4, x % 4, -(-x // 4), x)), of_int(x))
            for x in (-9, -8, -7, -1, 0, 1, 7, 8, MIN, MAX, MIN + 1, MAX - 1)
        ),
    ),
    "deep expressions": case(
        [n, Tensor("A", [None] * 2, strides=[nested(9), nested(64)])],
        *(
            (of_int(x), f32(2, 2, strides=(x * a, x * b)))
            for x in (0, 3, -5)
            for a in (1, 2)
            for b in (0, 1, 2)
        ),
        *((of_int(x), f32(2, 2, strides=(x, x))) for x in (MAX, MIN, 2**62)),
    ),
    "large constants of expressions": case(
        [
            n,
            Tensor("A", [None] * 3, strides=[n // MAX, n % MAX, ceildiv(n, 2**62)]),
            Tensor("B", [None] * 2, strides=[n - MIN, n * MIN]),
        ],
        *(
            (
                of_int(x),
                f32(2, 2, 2, strides=(x // MAX, x % MAX, -(-x // 2**62) + wrong)),
                f32(2, 2, strides=tuple(y if MIN <= y <= MAX else 0 for y in (x - MIN, x * MIN))),
            )
            for x in (0, 1, -1, MAX, MIN, MIN + 1, MAX - 1, 2**62, -(2**62))
            for wrong in (0, 1)
        ),
    ),
    "solving with large constants": one_by_one(
        [Tensor("A", [None] * 3, strides=[n + MIN, k * MAX, s * -(2**62) - 1])],
        *(
            f32(2, 2, 2, strides=(x, y, z))
            for x in (0, -1, -2, MIN)
            for y in (0, MAX, -MAX, MIN)
            for z in (-1, MIN, MAX, 2**62 - 1, -(2**62) - 1)
        ),
        *(f32(1, 0, 1, strides=(x, x, x)) for x in (0, -1, MAX, MIN)),
    ),
    "large divisors of symbols": case(
        [
            Var("n", "int64", divisibility=MAX),
            TupleParam("t", [Var("k", "uint64", divisibility=2**62 + 1)]),
            Tensor("A", [None], strides=[Var("m", "int64", divisibility=2**62)]),
        ],
        *(
            (of_int(x), array(of_int(y)), f32(2, strides=(z,)))
            for x in (0, MAX, -MAX, MIN, 1)
            for y in (0, 2**62 + 1, 2**63 + 2, 2**64 - 1)
            for z in (0, 2**62, MIN, MAX)
        ),
    ),
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
    "uint64 in expressions": case(
        [Var("n", "uint64"), Tensor("A", [Var("n", "uint64") // 2])],
        *((of_int(x), f32(y)) for x, y in ((2**63, 2**62), (MAX, 2**62 - 1), (2**64 - 1, MAX))),
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
        *(
            (array(u8(2, a)), u8(2, b), u8(10, c))
            for a in (0, 5, -1, 2**31 - 1)
            for b in (0, 5, -1, 2**31 - 1)
            for c in (3, 4)
        ),
    ),
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
    "no parameters, and a long name": Case(
        Signature("f" * 401, []), (Arguments(None, 0), Arguments(None, 1), Arguments((NONE,)))
    ),
}
