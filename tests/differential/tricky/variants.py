"""Variants: every type for each mix of parameters, moved objects, and what they bind."""

from __future__ import annotations

from typing import Final

from ffi_builder import spec
from ffi_builder.abi import TypeIndex
from ffi_builder.spec import Bytes, Device, DType, Optional, Param, String, Struct, Var, Variant
from ffi_builder.spec.variant import Alternative
from tests.differential.description import (
    NONE,
    Chars,
    Moved,
    Object,
    Plain,
    Value,
    array,
    bytes_,
    of_bool,
    of_float,
    of_int,
    small,
    str_,
)
from tests.differential.strategies import Case
from tests.differential.tricky.made import Tensor, case, f32, n, one_by_one, u8

OBJECTS: Final = (
    f32(2),
    str_(b"a longer str"),
    bytes_(b"longer bytes"),
    Object(TypeIndex.MODULE),
    of_int(2**70),
)
GIVEN: Final[tuple[Value, ...]] = (
    *(of_int(value) for value in (0, 1, 2, -1, 128, 2**63, 2**70)),
    *(of_bool(True), of_bool(False), of_float(0.5), of_float(1e39), NONE, Plain(TypeIndex.NONE, 9)),
    *(small(TypeIndex.SMALL_STR, b"abc"), small(TypeIndex.SMALL_STR, b"", 8)),
    *(small(TypeIndex.SMALL_BYTES, b"abc"), Object(TypeIndex.STR, Chars(None, 3))),
    *OBJECTS,
    *(Moved(each) for each in OBJECTS if isinstance(each, Object)),
    *(f32(3), array(of_int(1)), Moved(None), Moved(array())),
    *map(Plain, (5, 6, 7, 10, 13, 63, 65, 66, 70, 71, 74, 78, 127, 128, -1, 2**31 - 1)),
)


def number(dtype: str) -> Var:
    return Var("x", dtype)


MIXES: Final[list[list[Alternative]]] = [
    [number("float64"), Tensor("x", [2])],
    [Tensor("x", [2]), number("int8")],
    [number("int64"), number("float32")],
    [number("float16"), number("uint64"), number("bool")],
    [number("float32"), number("bool")],
    [number("bool"), number("float32")],
    [number("bool"), String("x")],
    [Bytes("x"), String("x"), Tensor("x", ...)],
    [DType("x"), Device("x"), number("bfloat16")],
]


def mixed(params: list[Alternative]) -> Case:
    return one_by_one([Variant(params)], *GIVEN)


K: Final = spec.Var("k", "int32")
SCALES: Final[list[Param]] = [
    Optional(Variant([number("float32"), Tensor("x", [n, K])])),
    Tensor("y", [K, n]),
    Optional(Var("z", "int64")),
]

CASES: Final[dict[str, Case]] = {
    **{
        f"a variant of {Variant(params).text} {index}": mixed(params)
        for index, params in enumerate(MIXES)
    },
    "an optional variant": one_by_one([Optional(Variant(MIXES[0]))], *GIVEN),
    "what a variant binds": case(
        SCALES,
        *(
            (first, f32(*shape), NONE)
            for first in (NONE, of_float(1), f32(2, 3), of_int(2), str_(b"2"))
            for shape in ((3, 2), (4, 5))
        ),
    ),
    "variants in a struct": case(
        [
            Optional(
                Struct("s", [Variant(MIXES[0]), Optional(Variant([String("y"), Var("y", "int8")]))])
            )
        ],
        *(
            (value,)
            for value in (
                NONE,
                array(of_int(1), NONE),
                array(f32(2), of_int(300)),
                array(f32(2), str_(b"a")),
                array(NONE, NONE),
            )
        ),
    ),
    "the device of a tensor in a variant": case(
        [
            Variant([number("int8"), spec.Tensor("x", [], "uint8", device_type="cuda")]),
            spec.Tensor("y", [], "uint8", device_type="cuda"),
            spec.Tensor("z", [], "uint8", device_type="cuda"),
            spec.EnvStream("s"),
        ],
        *(
            (first, u8(2, 1), u8(2, third))
            for first in (of_int(1), u8(2, 1), u8(2, 3), u8(1, 0))
            for third in (1, 3)
        ),
    ),
}
