"""Tensors whose memory meets, ends where another begins, or leaves the address space."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product
from typing import Final

from ffi_builder import spec
from ffi_builder.spec import Param, Signature, TensorList
from tests.differential.description import (
    NONE,
    Arguments,
    DLTensor,
    Moved,
    Object,
    Pointer,
    Value,
    array,
    list_,
    of_int,
    tensor,
)
from tests.differential.strategies import Case
from tests.differential.tricky.made import F4, MAX, MIN, Tensor, k, m, n

TOP: Final = 2**64 - 1
ADDRESSES: Final = (
    *(1, 4, 64, 76, 80, 84, 2**62, 2**63 - 16, 2**63, 2**63 + 48, 2**63 + 64),
    *(TOP - 79, TOP - 15, TOP - 3, TOP),
)


def forbidding(params: Sequence[Param], names: Sequence[str], *calls: tuple[Value, ...]) -> Case:
    return Case(Signature("f", params, no_overlap=names), tuple(map(Arguments, calls)))


def at(data: int, *dims: int, strides: tuple[int, ...] | None = None, device: int = 1) -> Object:
    return tensor(DLTensor(dims, strides, data, device_type=device))


def of(dtype: tuple[int, int, int], data: int, *dims: int, step: int = 1) -> Value:
    return tensor(DLTensor(dims, (step,) * len(dims), data, dtype))


def offset(data: int, by: int, size: int) -> Value:
    return tensor(DLTensor((size,), None, data, byte_offset=by))


def ends() -> Iterator[tuple[Value, Value]]:
    """Sizes that reach up to, into and past another tensor."""
    sizes = (0, 1, 2, 4, 2**29, 2**60, 2**61, 2**62, MAX)
    for one, other in product(ADDRESSES, repeat=2):
        yield at(one, 4), at(other, 4)
    for size, (one, other) in product(sizes, permutations((64, 80, 2**63 + 64, TOP - 15), 2)):
        yield at(one, size), at(other, 4)
        yield at(one, 4), at(other, size)


def layouts() -> Iterator[tuple[Value, Value]]:
    """Strides of every sign and size, with NULL, before and behind a tensor of four elements."""
    strides = (0, 1, 2, -1, -2, 2**59, 2**61, -(2**61), 2**62, MAX, MIN, MIN + 1)
    for pair, dims in product(product(strides, repeat=2), ((2, 3), (1, 5), (3, 0))):
        yield at(2**62, *dims, strides=pair), at(2**62 + 16, 4)
        yield at(2**62, *dims, strides=pair), at(2**62 - 16, 4)
    for size in (1, 2, 4, 6):
        yield at(64, 2, size), at(64 + 4 * size, 4)
        yield at(64, 2, size), at(64 + 8 * size, 4)


ANY: Final = [Tensor("x", [n, k], strides="any"), Tensor("y", [m])]
BYTES: Final = [
    spec.Tensor(name, [size], dtype, device_type="cpu", strides="any")
    for name, size, dtype in (("x", n, "int4"), ("y", k, "uint1x3"))
]
DEVICES: Final = [spec.Tensor(name, [n], "float32", device_type="any") for name in "xy"]

CASES: Final[dict[str, Case]] = {
    "ends of contiguous tensors": forbidding([Tensor("x", [n]), Tensor("y", [k])], ["y"], *ends()),
    "ends of tensors of any rank": forbidding(
        [Tensor("x", ...), Tensor("y", [k])], ["x"], *list(ends())[::3]
    ),
    "ends of tensors with strides": forbidding(ANY, ["x"], *layouts()),
    "column-major and row-major": forbidding(
        [Tensor("x", [n, k], strides="F"), Tensor("y", [2, 3])],
        ["y"],
        *(
            (at(64, 2, 3, strides=(1, 2)), at(data, 2, 3, strides=strides))
            for data in (64 - 24, 64 - 20, 64, 64 + 20, 64 + 24)
            for strides in (None, (3, 1))
        ),
    ),
    "elements of several sizes": forbidding(
        [
            spec.Tensor(name, [n], ("float32", "float64", "float32x3"), device_type="cpu")
            for name in "xy"
        ],
        ["x"],
        *(
            (of(one, 64, 2), of(other, data, 2))
            for one, other in product(((2, 32, 1), (2, 64, 1), (2, 32, 3)), repeat=2)
            for data in (64 - 24, 64 - 16, 64 - 8, 64 + 8, 64 + 16, 64 + 24)
        ),
    ),
    "elements of less than a byte": forbidding(
        BYTES,
        ["x"],
        *(
            (of((0, 4, 1), 64, count, step=step), of((1, 1, 3), data, 3, step=other))
            for count, step, other in product((1, 2, 3), (1, 2, -1, -3), (1, -1, 2, -7))
            for data in range(58, 70)
        ),
        *(
            (of((0, 4, 1), 64, 2, step=step), of((1, 1, 3), data, 2))
            for step in (MAX, MIN, MAX - 1, 2**61, -(2**61))
            for data in (1, 2**60, 2**62 + 64, 2**63, TOP)
        ),
    ),
    "packed tensors": forbidding(
        [F4("x", [n]), F4("y", [n])],
        ["y"],
        *(
            (
                tensor(DLTensor((4,), None, 64, (17, 4, 2))),
                tensor(DLTensor((4,), None, data, (17, 4, 2))),
            )
            for data in (60, 61, 64, 67, 68)
        ),
    ),
    "byte offsets": forbidding(
        [Tensor("x", [n]), Tensor("y", [n])],
        ["y"],
        *(
            (offset(64, one, 4), offset(64 + more, other, 4))
            for one, other in product((0, 4, 16), repeat=2)
            for more in (-16, 0, 16)
        ),
        (offset(TOP - 31, 16, 4), offset(TOP - 15, 0, 4)),
        (offset(TOP - 31, 0, 4), offset(TOP - 31, 16, 4)),
    ),
    "no elements": forbidding(
        [Tensor("x", [n, k]), Tensor("y", [n])],
        ["y"],
        *((at(data, rows, 4), at(68, rows)) for data in (0, 64, 68, 72) for rows in (0, 1)),
        *((at(60, 2, columns), at(data, 2)) for data in (60, 64) for columns in (0, 1)),
    ),
    "no dimensions": forbidding(
        [Tensor("x", []), Tensor("y", [], strides="any"), Tensor("z", [])],
        ["x", "z"],
        *((at(64), at(one), at(other)) for one, other in product((60, 64, 66, 68), repeat=2)),
    ),
    "fixed sizes": forbidding(
        [Tensor("x", [2, 3]), Tensor("y", [0, n]), Tensor("z", [4])],
        ["y", "z"],
        *((at(64, 2, 3), at(64, 0, 1), at(data, 4)) for data in (44, 48, 64, 84, 88)),
    ),
    "device types": forbidding(
        DEVICES,
        ["y"],
        *(
            (at(64, 4, device=one), at(data, 4, device=other))
            for one, other in product((*range(19), 31, 32, 33, 66, -1), repeat=2)
            for data in (72, 80)
        ),
    ),
    "devices apart": forbidding(
        [
            spec.Tensor("x", [n], "float32", device_type="cuda"),
            spec.Tensor("y", [n], "float32", device_type="cpu"),
            spec.Tensor("z", [n], "float32", device_type="metal"),
            spec.Tensor("w", [n], "float32", device_type="cuda", device_id=1),
        ],
        ["x"],
        *(
            (
                at(64, 4, device=2),
                at(y, 4),
                at(z, 4, device=8),
                tensor(DLTensor((4,), None, w, device_type=2, device_id=1)),
            )
            for y, z, w in ((80, 96, 112), (80, 64, 112), (64, 80, 112), (80, 96, 64))
        ),
    ),
    "which pair is first": forbidding(
        [Tensor("x", [n]), Tensor("y", [n]), Tensor("z", [n]), Tensor("w", [n])],
        ["y", "z"],
        *(
            tuple(at(data, 4) for data in (x, y, z, w))
            for x, y, z, w in product((64, 80, 96), repeat=4)
        ),
    ),
    "in Optionals and tuples": forbidding(
        [
            spec.Optional(Tensor("x", [n])),
            spec.TupleParam(
                "t", [Tensor("y", [k]), spec.Optional(spec.Struct("s", [Tensor("z", [k, 2])]))]
            ),
            spec.Optional(Tensor("w", [None, None], strides="any")),
        ],
        ["x", "t[1].z", "w"],
        *(
            (
                NONE if x is None else at(x, 4),
                array(at(64, 4), NONE if z is None else array(at(z, 4, 2))),
                NONE if w is None else at(w, 2, 2, strides=(2, -1)),
            )
            for x, z, w in product((None, 48, 64, 72), (None, 80, 84, 112), (None, 112, 116, 144))
        ),
    ),
    "ways to pass a tensor": forbidding(
        [Tensor("x", [n]), Tensor("y", [n])],
        ["y"],
        *(
            (one, other)
            for data in (72, 80)
            for one, other in (
                (Pointer(DLTensor((4,), None, 64)), Pointer(DLTensor((4,), None, data))),
                (Moved(at(64, 4)), Pointer(DLTensor((4,), (1,), data))),
            )
        ),
    ),
    "behind what had to wait": forbidding(
        [Tensor("x", [n // 2]), Tensor("y", [k]), n],
        ["y"],
        *(
            (at(64, 4), at(data, size), of_int(count))
            for data, size, count in product((64, 80), (4, -1), (8, 10))
        ),
    ),
    "a list and a tensor": forbidding(
        [TensorList(Tensor("xs", [n]), each=[n]), Tensor("y", [m])],
        ["y"],
        *(
            (array(*(at(data, 4) for data in addresses)), at(y, 4))
            for count in range(4)
            for addresses in product((32, 64, 72), repeat=count)
            for y in (48, 64, 80, 88)
        ),
        (array(at(80, 0), at(0, 0), at(96, 4)), at(80, 4)),
        (array(at(64, 4), at(80, 0)), at(80, 0)),
        (array(at(TOP - 15, 4)), at(TOP - 31, 4)),
        (array(at(TOP - 15, 4)), at(TOP - 27, 4)),
        (list_(Pointer(DLTensor((4,), None, 64)), Moved(at(80, 4))), at(92, 4)),
    ),
    "the elements of a list": forbidding(
        [TensorList(Tensor("xs", [n]), each=[n])],
        ["xs"],
        *(
            (array(*(at(data, size) for data in addresses)),)
            for size in (0, 1, 4)
            for count in range(5)
            for addresses in product((64, 68, 80), repeat=count)
        ),
        *(
            (array(*(at(64 + 16 * place, 4) for place in places)),)
            for places in (*permutations(range(5)), range(120), reversed(range(120)))
        ),
        *(
            (array(*(at(64 + 16 * (place % count), 4) for place in range(120))),)
            for count in (1, 60, 119)
        ),
        (array(at(64, 100), at(96, 1), at(600, 1)),),
        (array(at(0, 0), at(1, 2**62), at(TOP - 7, 2), at(TOP, 1), at(0, 0)),),
    ),
    "which elements are first": forbidding(
        [
            Tensor("v", [m]),
            TensorList(Tensor("xs", [n]), each=[n]),
            Tensor("w", [m]),
            TensorList(Tensor("ys", [k]), each=[k]),
        ],
        ["xs", "w"],
        *(
            (at(v, 4), array(at(64, 4), at(x, 4)), at(w, 4), array(at(y, 4), at(z, 4)))
            for v, x, w, y, z in product((64, 112), (64, 96, 160), (80, 128), (64, 96), (144, 96))
        ),
        (at(64, 4), array(), at(64, 4), array()),
    ),
    "one list as two arguments": forbidding(
        [TensorList(Tensor("xs", [n])), TensorList(Tensor("ys", [n]))],
        ["xs"],
        *(((both := array(at(64, 4), at(data, 4))), both) for data in (64, 80)),
    ),
    "lists in Optionals and tuples": forbidding(
        [
            spec.Optional(TensorList(Tensor("xs", [n]), each=[n])),
            spec.TupleParam("t", [spec.Optional(TensorList(Tensor("ys", [k]), each=[k]))]),
            spec.Optional(Tensor("z", ..., strides="any")),
        ],
        ["xs", "t[0]"],
        *(
            (
                NONE if xs is None else array(at(xs, 4), at(256, 4)),
                array(NONE if ys is None else list_(at(ys, 4), at(272, 4))),
                NONE if z is None else at(z, 2, 2, strides=(2, -1)),
            )
            for xs, ys, z in product((None, 64, 256), (None, 72, 80), (None, 100, 260))
        ),
    ),
    "devices of lists": forbidding(
        [
            TensorList(spec.Tensor("xs", [n], "float32", device_type="any")),
            TensorList(spec.Tensor("ys", [n], "float32", device_type="metal")),
            Tensor("z", [n]),
        ],
        ["xs"],
        *(
            (array(at(64, 4, device=one), at(72, 4, device=other)), array(at(64, 4, device=8)), z)
            for one, other in product((1, 2, 8, 32, 66, -1), repeat=2)
            for z in (at(80, 4), at(96, 4))
        ),
    ),
}
