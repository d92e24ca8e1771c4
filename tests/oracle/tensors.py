"""Tensors: *A tensor* of docs/checks.md, row by row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.spec import Tensor, parse_dtype
from tests.oracle.memory import AnyAt, TensorAt, object_type, read_i64s
from tests.oracle.symbols import Symbols, Where, check_not_negative, check_packable
from tests.oracle.words import (
    INT64_MAX,
    Place,
    show_device,
    show_ints,
)


@dataclass(frozen=True)
class Decoded:
    """What the kernel gets of a tensor that is right: elements as the kernel counts them.

    ``data`` has the byte offset added. An entry None that is too large to be multiplied with the
    elements of a packed tensor wraps; nobody looks at it.
    """

    data: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    device_type: str
    device_id: int


Tensors = dict[str, Decoded]
"""The tensors so far, by path, in the order of the checks."""


def check_tensor(
    param: Tensor, given: AnyAt, place: Place, symbols: Symbols, before: Tensors
) -> Decoded:
    """The tensor at ``given``, if it is right."""
    tensor = TensorAt(tensor_address(given, place))
    check_head(param, tensor, place)
    check_device(param, tensor, place, symbols, before)
    if tensor.shape == 0 and param.ndim:
        place.part("shape").wrong_value("a non-NULL pointer", "NULL")
    shape = read_i64s(tensor.shape, param.ndim)
    check_dimensions(param, shape, place.part("shape"), symbols)
    strides = check_strides(param, tensor, shape, place.part("strides"), symbols)
    if math.prod(shape) > INT64_MAX:
        expected = "a product of dimensions that fits int64"
        place.part("shape").wrong_value(expected, show_ints(shape))
    data = check_data(param, tensor, is_empty=0 in shape, place=place)
    return Decoded(
        data,
        tuple(wrapped(n * p) for n, p in zip(shape, dimension_factors(param), strict=True)),
        tuple(wrapped(n * p) for n, p in zip(strides, stride_factors(param), strict=True)),
        param.device,
        tensor.device_id,
    )


def tensor_address(given: AnyAt, place: Place) -> int:
    """Where the DLTensor lies, after the checks of kind and NULL."""
    match given.type_index:
        case TypeIndex.DL_TENSOR_PTR:
            address, header = given.as_pointer, 0
        case TypeIndex.TENSOR:
            address, header = given.as_pointer, abi.OBJECT_SIZE
        case TypeIndex.OBJECT_RVALUE_REF:
            address, header = given.moved, abi.OBJECT_SIZE
            if address and object_type(address) != TypeIndex.TENSOR:
                place.wrong_type("Tensor", TypeIndex.OBJECT_RVALUE_REF)
        case other:
            place.wrong_type("Tensor", other)
    if address == 0:
        place.wrong_value("a non-NULL object", "NULL")
    return address + header


def check_head(param: Tensor, tensor: TensorAt, place: Place) -> None:
    """ndim, dtype and device type."""
    if tensor.ndim != param.ndim:
        place.part("ndim").wrong_value(str(param.ndim), str(tensor.ndim))
    dtype = parse_dtype(param.element_dtype)
    if tensor.dtype != dtype:
        place.part("dtype").wrong_dtype(str(dtype), str(tensor.dtype))
    if tensor.device_type != abi.DEVICE_TYPES[param.device]:
        got = show_device(tensor.device_type)
        place.part("device_type").wrong_value(param.device, got)


def check_device(
    param: Tensor, tensor: TensorAt, place: Place, symbols: Symbols, before: Tensors
) -> None:
    """The device id: as the parameter says, or that of the first tensor of this device type."""
    device_id, place = tensor.device_id, place.part("device_id")
    if param.device_id is not None:
        symbols.check_entry(param.device_id, device_id, Where(place))
        return
    for path, earlier in before.items():
        if earlier.device_type == param.device:
            if device_id != earlier.device_id:
                expected = f"{earlier.device_id} (the device of {path})"
                place.wrong_value(expected, str(device_id))
            return


def check_dimensions(param: Tensor, shape: Sequence[int], place: Place, symbols: Symbols) -> None:
    factors = dimension_factors(param)
    for axis, (entry, stored, factor) in enumerate(zip(param.shape, shape, factors, strict=True)):
        at = place.entry(axis)
        check_not_negative(at, stored)
        check_packable(at, stored, factor)
        symbols.check_entry(entry, stored * factor, Where(at))


def check_strides(
    param: Tensor, tensor: TensorAt, shape: Sequence[int], place: Place, symbols: Symbols
) -> list[int]:
    """The strides, as they are stored."""
    row_major = [wrapped(math.prod(shape[axis + 1 :])) for axis in range(param.ndim)]
    given = tensor.strides != 0
    strides = read_i64s(tensor.strides, param.ndim) if given else row_major
    shown = show_ints(strides) if given else "NULL"
    layout = f" (shape={show_ints(shape)}, strides={shown})"
    free = [dimension == 1 or 0 in shape for dimension in shape]
    if param.stride_entries is None:
        for axis in range(param.ndim):
            if not free[axis] and strides[axis] != row_major[axis]:
                expected = f"{row_major[axis]} (row-major contiguous)"
                place.entry(axis).wrong_value(expected, f"{strides[axis]}{layout}")
        return strides
    factors = stride_factors(param)
    for axis, entry in enumerate(param.stride_entries):
        if entry is None:
            continue
        at = place.entry(axis)
        check_packable(at, strides[axis], factors[axis])
        where = Where(at, in_strides=True, free=free[axis], layout=layout)
        symbols.check_entry(entry, strides[axis] * factors[axis], where)
    return strides


def check_data(param: Tensor, tensor: TensorAt, *, is_empty: bool, place: Place) -> int:
    """The address of the first element, which is never read."""
    data, offset = tensor.data, tensor.byte_offset
    address = data + offset
    if address >= 2**64:
        expected = "data + byte_offset within the address space"
        place.part("byte_offset").wrong_value(expected, f"{hex(data)} + {hex(offset)}")
    if is_empty:
        return address
    if data == 0:
        expected = f"a non-NULL pointer, as {place.path} has elements"
        place.part("data").wrong_value(expected, "NULL")
    alignment = param.data_alignment or 1
    if address % alignment:
        got = f"{hex(address)} (aligned to {address & -address})"
        expected = f"an address aligned to {alignment} bytes (data_alignment of {place.path})"
        place.part("data").wrong_value(expected, got)
    return address


def dimension_factors(param: Tensor) -> list[int]:
    """What each stored dimension is multiplied with: the packed one with the packing."""
    return [param.packing if axis == param.packed_axis else 1 for axis in range(param.ndim)]


def stride_factors(param: Tensor) -> list[int]:
    """What each stored stride is multiplied with: all but the packed dimension's."""
    return [1 if axis == param.packed_axis else param.packing for axis in range(param.ndim)]


WORD: Final = 2**64


def wrapped(value: int) -> int:
    """``value`` modulo 2^64, as an int64."""
    return (value + WORD // 2) % WORD - WORD // 2
