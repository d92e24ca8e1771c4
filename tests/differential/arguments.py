"""Hypothesis strategies for right arguments: symbols get values first, arguments follow from them.

Right as far as it is easy to be: a symbol that a free stride or a narrow bound leaves no good value
makes a call that is rejected, and it is the oracle's to say so.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Final

from hypothesis import strategies as st

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.spec import (
    INT_RANGES,
    ConstBool,
    ConstFloat,
    ConstInt,
    ConstNone,
    DataPointer,
    Dim,
    EnvStream,
    Expr,
    Param,
    Shape,
    Signature,
    Stream,
    Tensor,
    TupleParam,
    Var,
    parse_dtype,
)
from tests.differential.description import (
    Arguments,
    DLTensor,
    Elements,
    Moved,
    Object,
    Plain,
    Pointer,
    Value,
    of_bool,
    of_float,
    of_int,
    of_pointer,
    shape,
)
from tests.differential.signatures import rarely, symbols_of

FLOATS: Final = (
    0.0,
    -0.0,
    1.0,
    0.1,
    -2.5,
    65519.99,
    65520.0,
    1.00390625,
    1e-7,
    2.0**-25,
    3.4028235677973366e38,
    1e39,
    float("inf"),
    float("nan"),
)
POINTERS: Final = (0, 8, 0x7F10, 2**63, 2**64 - 1)
Env = dict[str, int | float]


class Caller:
    """Draws the arguments of one call that is meant to be right."""

    def __init__(self, draw: st.DrawFn, signature: Signature) -> None:
        self.draw = draw
        self.env: Env = {var.name: self.value(var) for var in symbols_of(signature.params)}
        self.devices: dict[str, int] = {}

    def value(self, var: Var) -> int | float:
        draw = self.draw
        if var.dtype == "bool":
            return int(draw(st.booleans()))
        if var.dtype == "handle":
            return draw(st.sampled_from(POINTERS))
        if not var.is_integer:
            return draw(st.sampled_from(FLOATS))
        low, high = INT_RANGES[var.dtype]
        low, high = (low if var.min is None else var.min), (high if var.max is None else var.max)
        step = var.divisibility or 1
        if rarely(draw, 5):
            return draw(st.sampled_from([low, high, high // step * step, min(high, 2**31)]))
        # 6 divides what packed dimensions are made of, 1 and 0 make strides free.
        factor = draw(st.sampled_from([1, 2, 3, 4, 5, 6, 6, 7, 8, 1, 24, 0]))
        start = -(-max(low, 0) // step) * step
        value = start + factor * step if start else factor * step
        return min(value, high)

    def arguments(self, signature: Signature) -> Arguments:
        return Arguments(tuple(self.argument(param) for param in signature.arguments))

    def argument(self, param: Param) -> Value:
        draw = self.draw
        match param:
            case Tensor():
                return self.tensor(param)
            case Shape():
                return self.sizes([self.evaluate(entry) for entry in param.shape])
            case TupleParam():
                kind = draw(st.sampled_from([TypeIndex.ARRAY, TypeIndex.LIST]))
                return Object(kind, Elements(tuple(map(self.argument, param.params))))
            case Var():
                return self.scalar(param)
            case Stream():
                return draw(st.sampled_from([Plain(0), Plain(0, 77), of_pointer(64), of_int(-1)]))
            case DataPointer():
                number = draw(st.sampled_from(POINTERS))
                return draw(st.sampled_from([Plain(0), of_pointer(number), of_int(number)]))
            case ConstNone():
                return Plain(TypeIndex.NONE, draw(st.sampled_from([0, 99])))
            case ConstInt(value=value):
                return of_int(value)
            case ConstBool(value=value):
                return of_bool(value)
            case ConstFloat(value=value):
                whole = math.isfinite(value) and value == int(value) and draw(st.booleans())
                return of_int(int(value)) if whole else of_float(value)
            case EnvStream():
                raise AssertionError("EnvStream is no argument")

    def scalar(self, var: Var) -> Value:
        value, other = self.env[var.name], rarely(self.draw, 25)
        if var.dtype == "handle":
            pointer = int(value)
            return Plain(TypeIndex.NONE, 5) if other and pointer == 0 else of_pointer(pointer)
        if var.is_integer:
            return of_bool(value == 1) if other and value in (0, 1) else of_int(int(value))
        if var.dtype == "bool":
            return of_int(int(value)) if other else of_bool(bool(value))
        if other and math.isfinite(value) and value == int(value) and abs(value) < 2**63:
            return of_int(int(value))
        return of_float(value)

    def sizes(self, values: Sequence[int]) -> Value:
        draw = self.draw
        kind = draw(st.sampled_from([TypeIndex.SHAPE, TypeIndex.ARRAY, TypeIndex.LIST]))
        if kind == TypeIndex.SHAPE:
            return shape(*values)
        elements = [
            of_bool(value == 1) if value in (0, 1) and rarely(draw, 20) else Plain(1, value)
            for value in values
        ]
        return Object(kind, Elements(tuple(elements)))

    def tensor(self, param: Tensor) -> Value:
        draw, packing = self.draw, param.packing
        dims = [self.evaluate(entry) for entry in param.shape]
        if param.packed_axis is not None:
            dims[param.packed_axis] //= packing
        is_empty = 0 in dims
        data, byte_offset = self.address(param, is_empty=is_empty)
        body = DLTensor(
            tuple(dims) if dims or draw(st.booleans()) else None,
            self.strides(param, dims),
            data,
            parse_dtype(param.element_dtype),
            abi.DEVICE_TYPES[param.device],
            self.device_id(param),
            param.ndim,
            byte_offset,
        )
        kind = draw(st.sampled_from("TTTTPPM"))
        given = Object(TypeIndex.TENSOR, body)
        return {"T": given, "P": Pointer(body), "M": Moved(given)}[kind]

    def device_id(self, param: Tensor) -> int:
        first = self.devices.get(param.device)
        if param.device_id is not None:
            found = int(self.evaluate(param.device_id))
        elif first is not None:
            found = first
        else:
            found = self.draw(st.sampled_from([0, 0, 0, 1, 3]))
        self.devices.setdefault(param.device, found)
        return found

    def strides(self, param: Tensor, dims: Sequence[int]) -> tuple[int, ...] | None:
        draw = self.draw
        row_major = [math.prod(dims[axis + 1 :]) for axis in range(len(dims))]
        if param.stride_entries is None:
            found = row_major
            if rarely(draw, 30):
                return None
        else:
            factor = [
                1 if axis == param.packed_axis else param.packing for axis in range(len(dims))
            ]
            found = [
                self.evaluate(entry) // p
                for entry, p in zip(param.stride_entries, factor, strict=True)
            ]
            if found == row_major and rarely(draw, 30):
                return None
        is_empty = 0 in dims
        for axis, dimension in enumerate(dims):
            if (dimension == 1 or is_empty) and rarely(draw, 40):
                found[axis] = draw(st.sampled_from([0, 1, 5, 6, 300, -7, 2**62, -(2**63)]))
        return tuple(found)

    def address(self, param: Tensor, *, is_empty: bool) -> tuple[int, int]:
        """data and byte_offset, aligned together."""
        draw = self.draw
        if is_empty and draw(st.booleans()):
            return draw(st.sampled_from([(0, 0), (0, 64), (3, 0)]))
        address = (param.data_alignment or 64) * draw(st.sampled_from([1, 3, 256]))
        byte_offset = draw(st.sampled_from([0, 0, 0, 4, 20, address - 1]))
        if byte_offset >= address:
            byte_offset = 0
        return address - byte_offset, byte_offset

    def evaluate(self, value: Dim | None) -> int:
        match value:
            case None:
                return self.draw(st.sampled_from([2, 3, 1, 6, 0]))
            case int():
                return value
            case Var():
                return int(self.env[value.name])
            case Expr(op, lhs, rhs):
                return apply(op, self.evaluate(lhs), self.evaluate(rhs))


def apply(op: str, lhs: int, rhs: int) -> int:
    operators: dict[str, Callable[[int, int], int]] = {
        "+": operator.add,
        "-": operator.sub,
        "*": operator.mul,
        "//": lambda lhs, rhs: lhs // rhs,
        "%": operator.mod,
        "ceildiv": lambda lhs, rhs: -(-lhs // rhs),
    }
    return operators[op](lhs, rhs)


@st.composite
def right_arguments(draw: st.DrawFn, signature: Signature) -> Arguments:
    """Arguments that are meant to be accepted."""
    return Caller(draw, signature).arguments(signature)
