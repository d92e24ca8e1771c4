"""Objects, their types, dtypes and devices."""

from __future__ import annotations

from typing import Final

from ffi_builder import spec
from ffi_builder.abi import TypeIndex
from ffi_builder.spec import Device, DType, Function, Map, Optional, Param
from tests.differential.description import (
    NONE,
    Elements,
    Moved,
    Object,
    Plain,
    Value,
    of_int,
    of_pointer,
    shape,
    str_,
)
from tests.differential.registered import BASE, LEAF, LONG, MIDDLE, TYPES
from tests.differential.strategies import Case
from tests.differential.tricky.made import case, f32, one_by_one

STATIC: Final = [Object(kind) for kind in (64, 67, 68, 72, 73, 74, 76, 77)]
GIVEN: Final[tuple[Value, ...]] = (
    *STATIC,
    *map(Moved, STATIC),
    *map(Object, TYPES),
    *(Moved(Object(index)) for index in TYPES),
    str_(b"text"),
    shape(1, 2),
    f32(2),
    of_int(2**70),
    Object(TypeIndex.ARRAY, Elements((NONE,))),
    Moved(Object(TypeIndex.LIST, Elements(()))),
    # An object that says itself that it is of another type.
    Object(LEAF, None, BASE),
    Object(BASE, None, LEAF),
    Object(LEAF, None, TypeIndex.OBJECT),
    Object(TypeIndex.OBJECT, None, LEAF),
    Object(TypeIndex.FUNCTION, None, LEAF),
    Object(TypeIndex.ERROR, None, TypeIndex.FUNCTION),
    Object(5000, None, LEAF),
    Object(2**31 - 1, None, -1),
    # NULL, or no object at all.
    *map(Plain, (0, 1, 10, 63, 64, 68, 71, 72, 78, 79, 127, 128, BASE, LEAF, 2**31 - 1, -1)),
    *(Moved(None), Moved(Object(-1)), Moved(Object(0)), Moved(Object(79)), Moved(Object(63))),
    of_pointer(8),
    *(Plain(kind, 8) for kind in (6, 64, 68, 72, 79, 127)),
)
KEYS: Final = (
    *("ffi.Object", "ffi.Module", "ffi.Function", "ffi.Tensor", "ffi.String", "ffi.BigInt"),
    *("test.Base", "test.Middle", "test.Leaf", "test.Other", TYPES[LONG][0], "test.Bas"),
)


def of_type(key: str | None) -> Case:
    return one_by_one([spec.Object("x", key)], *GIVEN)


CASES: Final[dict[str, Case]] = {
    "any object": of_type(None),
    **{f"objects of {key[:20]}": of_type(key) for key in KEYS},
    **{
        f"{type(param).__name__} objects": one_by_one([param], *GIVEN)
        for param in (Function("x"), spec.Array("x"), Map("x"))
    },
    "an optional object": one_by_one([Optional(spec.Object("x", "test.Middle"))], *GIVEN),
    "an optional of any type": one_by_one([Optional(spec.Object("x"))], *GIVEN),
    "long type keys": one_by_one(
        [Optional(spec.Object("x", TYPES[LONG][0]))],
        *(Object(index) for index in TYPES),
        *(Moved(Object(index)) for index in TYPES),
        Plain(LONG),
    ),
    "kinds of all objects": case(
        [spec.TupleParam("t", [Device("d"), spec.Tensor("A", [], "uint8", device_type="any")])],
        *((Object(kind, Elements((NONE, given))),) for kind in (71, 75) for given in GIVEN),
        *((Object(71, Elements((Plain(TypeIndex.DEVICE, 2**64 - 1), given))),) for given in GIVEN),
    ),
    "several objects": case(
        [spec.Object("x", "test.Base"), Optional(spec.Object("y", "test.Middle"))],
        *(
            (x, y)
            for x in (Object(BASE), Moved(Object(LEAF)), Object(BASE, None, 0))
            for y in (NONE, Object(MIDDLE), Object(BASE), Plain(MIDDLE), Moved(None))
        ),
    ),
    "dtypes": one_by_one(
        [DType("d")],
        *(Plain(TypeIndex.DATA_TYPE, bits) for bits in (0, 2**31, 2**32 - 1, 2**64 - 1)),
        *(NONE, str_(b"float32"), of_int(1)),
    ),
    "devices as values": one_by_one(
        [Device("d")],
        *(Plain(TypeIndex.DEVICE, bits) for bits in (0, 2**31, 2**63, 2**64 - 1)),
        *(NONE, str_(b"cuda"), of_int(1)),
    ),
    "optional dtypes and devices": case(
        [Optional(DType("t")), Optional(Device("d"))],
        *(
            (t, d)
            for t in (NONE, Plain(TypeIndex.DATA_TYPE, 2**31 + 1), Plain(0, 7), Plain(6))
            for d in (NONE, Plain(TypeIndex.DEVICE, 2**63 + 1), Plain(5))
        ),
    ),
}


def moved_everything() -> Case:
    """Every kind of object for every kind that takes objects, moved."""
    params: list[Param] = [
        spec.String("x"),
        spec.Bytes("x"),
        spec.Shape("x", []),
        spec.TupleParam("x", []),
        spec.Tensor("x", [2], "float32", device_type="cpu"),
        spec.Choice("x", {"text": 1}),
    ]
    held = [given for given in GIVEN if isinstance(given, Object)]
    calls = [
        Object(71, Elements(tuple(Moved(g) if i == place else NONE for i in range(len(params)))))
        for place in range(len(params))
        for g in held
    ]
    return one_by_one([spec.Struct("all", [Optional(param) for param in own(params)])], *calls)


def own(params: list[Param]) -> list[Param]:
    """The same with names of their own."""
    from dataclasses import replace

    return [replace(param, name=f"x{index}") for index, param in enumerate(params)]


CASES["moved objects of every kind"] = moved_everything()
