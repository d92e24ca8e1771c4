"""Right tensors: dimensions, strides and devices that follow from the values of symbols."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Final

from hypothesis import strategies as st

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.spec import Dim, Signature, Tensor, TensorList, Var
from ffi_builder.spec.dtypes import parse_dtype
from ffi_builder.spec.expr import Expr
from ffi_builder.spec.numbers import INT_RANGES
from ffi_builder.spec.tensors.devices import ANY
from tests.differential.description import DLTensor, Elements, Moved, Object, Pointer, Value
from tests.differential.pool import rarely
from tests.differential.signatures import lists_of, symbols_of

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
ODD_STRIDES: Final = (0, 1, 5, 6, 300, -7, 2**62, -(2**63))
ANY_DEVICES: Final = (1, 1, 2, 2, 2, 10, 13, 5, 0, 99, -1)


class Tensors:
    """Draws the tensors of one call that is meant to be right."""

    def __init__(self, draw: st.DrawFn, signature: Signature) -> None:
        self.draw = draw
        self.env = {var.name: self.value(var) for var in symbols_of(signature.params)}
        lengths = {tensors.length for tensors in lists_of(signature.params)}
        for var in lengths:
            if isinstance(var, Var):  # lists are short, where they may be
                low, step = max(var.min or 0, 0), var.divisibility or 1
                least = -(-low // step) * step
                self.env[var.name] = max(least, draw(st.sampled_from([0, 1, 2, 3])) // step * step)
        self.rows: dict[tuple[str, int], int] = {}
        """The value of a symbol in each element, by the number of the element."""
        self.apart = bool(signature.no_overlap) and not rarely(draw, 20)
        self.pages = 0
        """The number of tensors so far that have memory of their own."""
        self.dtypes: dict[Tensor, str] = {}
        """The dtype of each tensor, for those that take it from another."""
        self.devices: dict[int, int] = {}
        """The device id of the first tensor on each device type."""

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

    def tensor_list(self, param: TensorList) -> Object:
        """A list; symbols of each element have values of their own in each."""
        draw, length = self.draw, param.length
        count = int(self.env[length.name]) if isinstance(length, Var) else length
        if count is None:
            count = 60 if rarely(draw, 3) and not self.rows else draw(st.integers(0, 3))
        elements: list[Value] = []
        for index in range(min(count, 60)):
            for var in param.each:
                key = var.name, index
                if key not in self.rows:
                    self.rows[key] = int(self.value(var))
                self.env[var.name] = self.rows[key]
            elements.append(self.tensor(param.tensor))
        kind = draw(st.sampled_from([TypeIndex.ARRAY, TypeIndex.ARRAY, TypeIndex.LIST]))
        return Object(kind, Elements(tuple(elements)))

    def tensor(self, param: Tensor) -> Value:
        draw = self.draw
        dims = self.dims(param)
        data, byte_offset = self.address(param, is_empty=0 in dims)
        device_type = (
            draw(st.sampled_from(ANY_DEVICES))
            if param.device == ANY
            else abi.DEVICE_TYPES[param.device]
        )
        body = DLTensor(
            tuple(dims) if dims or draw(st.booleans()) else None,
            self.strides(param, dims),
            data,
            parse_dtype(self.dtype(param)),
            device_type,
            self.device_id(param, device_type),
            len(dims),
            byte_offset,
        )
        kind = draw(st.sampled_from("TTTTPPM"))
        given = Object(TypeIndex.TENSOR, body)
        return {"T": given, "P": Pointer(body), "M": Moved(given)}[kind]

    def dtype(self, param: Tensor) -> str:
        source = param.source("dtype")
        if source is not None:
            return self.dtypes[source]
        return self.dtypes.setdefault(param, self.draw(st.sampled_from(param.element_dtypes)))

    def dims(self, param: Tensor) -> list[int]:
        """The dimensions, as they are stored."""
        draw = self.draw
        if param.any_rank:
            rank = draw(st.sampled_from([0, 1, 2, 2, 3, 3, 4, 7, 64, 65, 70]))
            sizes = st.sampled_from([2, 3, 1, 1, 6, 0] if rank < 10 else [1] * 15 + [2])
            return draw(st.lists(sizes, min_size=rank, max_size=rank))
        dims = [self.evaluate(entry) for entry in param.dims]
        if param.packed_axis is not None:
            dims[param.packed_axis] //= param.packing
        return dims

    def device_id(self, param: Tensor, device_type: int) -> int:
        first = self.devices.get(device_type)
        if param.device_id is not None:
            found = int(self.evaluate(param.device_id))
        elif first is not None:
            found = first
        else:
            found = self.draw(st.sampled_from([0, 0, 0, 1, 3]))
        self.devices.setdefault(device_type, found)
        return found

    def strides(self, param: Tensor, dims: Sequence[int]) -> tuple[int, ...] | None:
        draw, axes = self.draw, range(len(dims))
        found = row_major = [math.prod(dims[axis + 1 :]) for axis in axes]
        if param.order == "F":
            found = [math.prod(dims[:axis]) for axis in axes]
        elif param.strides == "any":
            found = [draw(st.sampled_from([*row_major, *ODD_STRIDES])) for _ in axes]
            if rarely(draw, 30):
                return None
        elif param.stride_entries is not None:
            entries = enumerate(param.stride_entries)
            found = [
                self.evaluate(entry) // (1 if axis == param.packed_axis else param.packing)
                for axis, entry in entries
            ]
        if found == row_major and rarely(draw, 30):
            return None
        is_empty = 0 in dims
        odd = [
            draw(st.sampled_from(ODD_STRIDES))
            if (dims[axis] == 1 or is_empty) and rarely(draw, 40)
            else found[axis]
            for axis in axes
        ]
        return tuple(odd)

    def address(self, param: Tensor, *, is_empty: bool) -> tuple[int, int]:
        """data and byte_offset, aligned together."""
        draw = self.draw
        if is_empty and draw(st.booleans()):
            return draw(st.sampled_from([(0, 0), (0, 64), (3, 0)]))
        address = (param.data_alignment or 64) * draw(st.sampled_from([1, 3, 256]))
        if self.apart:
            self.pages += 1
            address += self.pages << 44
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
        "max": max,
        "min": min,
    }
    return operators[op](lhs, rhs)
