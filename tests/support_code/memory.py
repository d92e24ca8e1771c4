"""Tensors, lists and strs in memory, and calls of the functions in C, with ctypes alone."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Mapping, Sequence
from ctypes import c_double, c_int16, c_int32, c_int64, c_ubyte, c_uint8, c_uint16, c_uint64
from typing import Any, Final, TypeAlias

from ffi_builder.abi import DEVICE_TYPES, DTYPE_CODES, TypeIndex

BOOL, POINTER = c_ubyte, c_uint64
Types: TypeAlias = "Mapping[str, tuple[Any, tuple[Any, ...]]]"
"""The result and the parameters of each function. Pointers are numbers; 0 is NULL."""
_FUNCTIONS: Final[Types] = {
    "tensor_object": (POINTER, (POINTER,)),
    "is_empty": (BOOL, (POINTER,)),
    "has_no_data": (BOOL, (POINTER,)),
    "free_stride": (BOOL, (POINTER, c_int64)),
    "row_major_strides": (POINTER, (POINTER, POINTER)),
    "contiguous": (BOOL, (POINTER,)),
    "column_major": (BOOL, (POINTER,)),
    "numel_fits": (BOOL, (POINTER,)),
    "apart": (BOOL, (POINTER, POINTER)),
    "extent": (BOOL, (POINTER, POINTER)),
    "list_apart": (BOOL, (POINTER, POINTER)),
    "sort_extents": (c_int64, (POINTER, c_int64, POINTER)),
    "each_apart": (BOOL, (POINTER, c_int64)),
    "lists_apart": (BOOL, (POINTER, c_int64, POINTER, c_int64)),
    "big_uint64": (BOOL, (POINTER, POINTER)),
    "round_float16": (c_int16, (c_double,)),
    "round_bfloat16": (c_int16, (c_double,)),
    "moved_object": (POINTER, (c_uint64, POINTER)),
    "integers": (POINTER, (c_int64, POINTER)),
    "typed_object": (POINTER, (POINTER, POINTER, c_int64, c_int32)),
    "text": (BOOL, (POINTER, c_int32, POINTER)),
    "choose": (BOOL, (POINTER, POINTER, POINTER)),
}


class Functions:
    """The functions of a library, as attributes. They take numbers, and what has an address."""

    def __init__(self, path: str, *, types: Types = _FUNCTIONS) -> None:
        self.library, self._types = ctypes.CDLL(path), types

    def __getattr__(self, name: str) -> Any:
        function = self.library[f"__ffi_builder_shared_{name}_0"]
        function.restype, function.argtypes = self._types[name]

        def call(*given: Any) -> Any:
            result = function(
                *(each if isinstance(each, int | float) else at(each) for each in given)
            )
            # Of a bool, only the first bit is known.
            return bool(result & 1) if function.restype is BOOL else result

        setattr(self, name, call)
        return call


class Header(ctypes.Structure):
    _fields_ = [("count", c_uint64), ("type_index", c_int32), ("pad", c_int32), ("end", c_uint64)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        *(("data", c_uint64), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32)),
        *(("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)),
        *(("shape", c_uint64), ("strides", c_uint64), ("byte_offset", c_uint64)),
    ]


class Any_(ctypes.Structure):
    _fields_ = [("type_index", c_int32), ("length", c_int32), ("payload", c_uint64)]


def at(thing: Any) -> int:
    """The address of what ctypes holds, or the object of a tensor or list."""
    return thing.object if isinstance(thing, Tensor | List) else ctypes.addressof(thing)


def words(values: Sequence[int]) -> Any:
    """An array of int64, in a block of its own; it has room for one if it is empty."""
    return (c_int64 * max(len(values), 1))(*values)


class Tensor:
    """A tensor, whose DLTensor is alone in memory: nothing lies before it, where a header would."""

    def __init__(
        self,
        shape: Sequence[int],
        strides: Sequence[int] | None = None,
        dtype: tuple[str, int, int] = ("float", 32, 1),
        *,
        data: int = 0,
        device: str = "cpu",
        byte_offset: int = 0,
    ) -> None:
        self.shape, self.given_strides = tuple(shape), strides
        self.dtype, self.device = dtype, device
        self._shape = words(shape)
        self._strides = None if strides is None else words(strides)
        code, bits, lanes = dtype
        fields = (data, DEVICE_TYPES[device], 0, len(shape), DTYPE_CODES[code], bits, lanes)
        places = (at(self._shape), at(self._strides) if self._strides is not None else 0)
        self.struct = DLTensor(*fields, *places, byte_offset)

    @property
    def object(self) -> int:
        return at(self.struct) - ctypes.sizeof(Header)

    @property
    def address(self) -> int:
        return self.struct.data + self.struct.byte_offset

    @property
    def bits(self) -> int:
        return self.dtype[1] * self.dtype[2]

    @property
    def is_narrow(self) -> bool:
        return self.bits % 8 != 0

    @property
    def strides(self) -> tuple[int, ...]:
        return tuple(row_major(self.shape) if self.given_strides is None else self.given_strides)

    @property
    def steps(self) -> tuple[int, ...]:
        """The dimensions, which count as 1 where the stride is 0."""
        pairs = zip(self.shape, self.strides, strict=True)
        return tuple(1 if stride == 0 and dim != 0 else dim for dim, stride in pairs)

    def span(self) -> tuple[int, int]:
        """The distances of the first byte, and of what is behind the last, from the data."""
        if 0 in self.shape:
            return 0, 0
        reach = [(dim - 1) * stride for dim, stride in zip(self.shape, self.strides, strict=True)]
        before, behind = -sum(r for r in reach if r < 0), sum(r for r in reach if r > 0) + 1
        return -whole_bytes(before * self.bits), whole_bytes(behind * self.bits)

    def places(self) -> list[int]:
        """The distances of all elements from the data, in bytes; of narrow ones, of all bytes."""
        if self.is_narrow:
            return list(range(*self.span()))
        return [
            sum(i * stride for i, stride in zip(index, self.strides, strict=True)) * self.bits // 8
            for index in itertools.product(*map(range, self.steps))
        ]


def whole_bytes(bits: int) -> int:
    """The bytes that bits need."""
    return -(-bits // 8)


def row_major(shape: Sequence[int]) -> list[int]:
    products = [1]
    for dim in reversed(shape[1:]):
        products.insert(0, products[0] * dim)
    return products[: len(shape)]


class List:
    """An Array or List object of TVMFFIAnys, given by type index and payload."""

    def __init__(self, cells: Sequence[tuple[int, int]], type_index: int = TypeIndex.ARRAY) -> None:
        self.cells = (Any_ * max(len(cells), 1))(*((index, 0, value) for index, value in cells))
        # The header, then data, size, capacity and deleter.
        self._memory = words([1, type_index, 0, at(self.cells), len(cells), len(cells), 0])

    @property
    def object(self) -> int:
        return at(self._memory)
