"""Lists of tensors: lengths, symbols of each element and of all, devices, Optionals, free strides."""

from __future__ import annotations

import itertools
from typing import Final

from ffi_builder import spec
from ffi_builder.abi import TypeIndex
from ffi_builder.spec import EnvStream, Optional, Shape, Struct, TensorList, Var
from tests.differential.description import (
    NONE,
    DLTensor,
    Elements,
    Moved,
    Object,
    Plain,
    Pointer,
    Value,
    array,
    list_,
    of_int,
    shape,
    tensor,
)
from tests.differential.strategies import Case
from tests.differential.tricky.made import F4, Tensor, case, f4, f32, k, n, s

g, m = Var("g", "int64"), Var("m", "int32", max=100)
few = Var("few", "int32", min=1, max=3)
As: Final = TensorList(Tensor("A", [m, k]), length=g, each=[m])
Bs: Final = TensorList(Tensor("B", [m, m * 2, None]), length=g, each=[m])

ONE: Final = array(f32(2, 3))
TWO: Final = Object(TypeIndex.ARRAY, Elements((f32(2, 3), f32(5, 3))))
NULLS: Final = (
    Plain(TypeIndex.ARRAY),
    Object(TypeIndex.ARRAY, Elements(None, 0)),
    Object(TypeIndex.ARRAY, Elements(None, 2)),
    Moved(None),
)
LENGTHS: Final = (-1, 2**31, 2**62, -(2**63))
GIVEN: Final[tuple[Value, ...]] = (
    *(
        array(),
        list_(),
        ONE,
        TWO,
        Moved(TWO),
        list_(Moved(tensor(DLTensor((2, 3)))), Pointer(DLTensor((5, 3)))),
    ),
    *NULLS,
    *(Object(TypeIndex.LIST, Elements((f32(2, 3),), size)) for size in LENGTHS),
    *(f32(2, 3), shape(2), of_int(2), NONE, Object(TypeIndex.MAP)),
    *(array(of_int(1)), array(f32(2, 3), NONE), array(f32(2, 3), Plain(TypeIndex.TENSOR))),
    *(array(f32(2, 3), f32(5, 4)), array(f32(2, 3), f32(5)), array(f32(2, 3), f32(101, 3))),
    array(*[f32(2, 3)] * 60),
)
"""Arguments for ``As`` alone."""


def b(*sizes: int) -> Value:
    return array(*(f32(size, size * 2, 1) for size in sizes))


def on(device_id: int, device: str = "cuda") -> Value:
    code = {"cpu": 1, "cuda": 2}[device]
    return tensor(DLTensor((3,), data=64, device_type=code, device_id=device_id))


def cuda(name: str, device: str = "cuda") -> spec.Tensor:
    return Tensor(name, [None], device_type=device)


FREE: Final = (
    f32(1, strides=(7,)),
    f32(1, strides=(9,)),
    f32(5, strides=(2,)),
    f32(5, strides=(3,)),
)
ALL_STRIDES: Final = [array(*pair) for pair in itertools.product(FREE, FREE)]
DEVICES: Final = [array(*map(on, ids)) for ids in ((), (0,), (1,), (1, 1), (1, 0))]
MIXED: Final = [array(on(1, "cpu"), on(0)), array(on(0), on(1, "cpu")), array(on(0))]

CASES: Final[dict[str, Case]] = {
    "lists: what comes": case([As], *[(value,) for value in GIVEN]),
    "lists: of each element": case(
        [As, Bs],
        *((TWO, value) for value in (b(2, 5), b(2, 4), b(5, 2), b(2), b(2, 5, 7), array())),
        (TWO, array(f32(2, 4, 1), f32(5, 11, 1))),
        (array(), array()),
        (array(f32(0, 3), f32(1, 3)), b(0, 1)),
    ),
    "lists: a shared symbol before, in and behind": case(
        [Optional(k), As, Tensor("y", [k])],
        *itertools.product((NONE, of_int(3), of_int(4)), (array(), TWO), (f32(3), f32(4))),
    ),
    "lists: never empty": case(
        [TensorList(Tensor("x", [n]), length=few), Shape("s", [n, n * 2, few])],
        *itertools.product(
            (
                array(),
                array(f32(3)),
                array(f32(3), f32(3)),
                array(f32(3), f32(4)),
                array(*[f32(3)] * 4),
            ),
            (shape(3, 6, 1), shape(3, 6, 2), shape(3, 5, 2), shape(4, 8, 1)),
        ),
    ),
    "lists: certain in those of the same length": case(
        [
            TensorList(Tensor("x", [n]), length=g),
            TensorList(Tensor("y", [n * 2]), length=g),
            Tensor("z", [n]),
        ],
        *itertools.product(
            (array(), array(f32(3)), array(f32(4))), (array(), array(f32(6))), (f32(3), f32(4))
        ),
    ),
    "lists: of strides that all share": case(
        [TensorList(Tensor("x", [None], strides=[s])), Optional(Tensor("y", [None], strides=[s]))],
        *itertools.product(ALL_STRIDES, (NONE, f32(5, strides=(2,)), f32(1, strides=(8,)))),
    ),
    "lists: of strides, never empty": case(
        [
            TensorList(Tensor("x", [None], strides=[s]), length=few),
            Shape("dims", [s]),
        ],
        *itertools.product([*ALL_STRIDES, array(f32(1, strides=(0,)))], map(shape, (2, 3, 7))),
    ),
    "lists: of strides of each element": case(
        [TensorList(Tensor("x", [None, 2], strides=[s, 1]), each=[s])],
        (array(f32(3, 2, strides=(2, 1)), f32(3, 2, strides=(9, 1))),),
        (array(f32(3, 2), f32(3, 2, strides=(9, 2))),),
        (array(f32(1, 2, strides=(-(2**63), 1))),),
    ),
    "lists: devices": case(
        [Optional(cuda("a")), TensorList(cuda("b")), TensorList(cuda("c")), cuda("d")],
        *itertools.product((NONE, on(1)), DEVICES, DEVICES[:3], (on(0), on(1))),
    ),
    "lists: devices of lists of one length": case(
        [TensorList(cuda("b"), length=g), TensorList(cuda("c"), length=g)],
        *itertools.product(DEVICES, DEVICES),
    ),
    "lists: on any device": case(
        [TensorList(cuda("b", "any")), cuda("c"), EnvStream("stream")],
        *itertools.product((array(), *MIXED), (on(0), on(1))),
    ),
    "lists: a device that all share": case(
        [TensorList(Tensor("b", [None], device_type="cuda", device_id=Var("d", "int8")))],
        *((value,) for value in DEVICES),
    ),
    "lists: in others": case(
        [Optional(Struct("cfg", [As, Var("w", "int64")]))],
        *((array(value, of_int(1)),) for value in GIVEN),
        (NONE,),
    ),
    "lists: packed": case(
        [TensorList(F4("x", [n, 4]), length=2)],
        *((array(f4(3, 2), f4(*dims)),) for dims in ((3, 2), (3, 4), (4, 2))),
    ),
    "lists: relations of their symbols": case(
        [TensorList(Tensor("x", [n]), length=g), Optional(Var("k", "int64"))],
        *itertools.product(
            (array(), array(f32(3)), array(f32(3), f32(3)), array(f32(1))), (NONE, of_int(2))
        ),
        where=[n * 2 <= 4, g + 0 <= 1, n <= k],
    ),
}
