"""Calls that random ones seldom are: limits of int64, provisional symbols, malformed memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from ffi_builder import spec
from ffi_builder.spec import (
    Param,
    Signature,
    TupleParam,
    Var,
)
from ffi_builder.spec.expr import Condition
from tests.differential.description import (
    Arguments,
    DLTensor,
    Value,
    array,
    tensor,
)
from tests.differential.strategies import Case

Tensor = partial(spec.Tensor, dtype="float32", device_type="cpu")
n, k, m, s, t = spec.dims("n k m s t")
MAX, MIN = 2**63 - 1, -(2**63)


def f32(*dims: int, strides: tuple[int, ...] | None = None, data: int = 64) -> Value:
    return tensor(DLTensor(dims, strides, data))


def case(params: list[Param], *calls: tuple[Value, ...], where: Sequence[Condition] = ()) -> Case:
    return Case(Signature("f", params, where=where), tuple(map(Arguments, calls)))


def one_by_one(params: list[Param], *values: Value) -> Case:
    """Calls with one argument each."""
    return case(params, *((value,) for value in values))


def twice(var: Var) -> list[Param]:
    """A symbol that comes as a scalar and again in a tuple."""
    return [var, TupleParam("t", [var])]


def pairs(var: Var, *given: tuple[Value, Value]) -> Case:
    return case(twice(var), *((first, array(second)) for first, second in given))


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
