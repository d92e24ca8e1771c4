"""Reading argument memory, field by field, as the wrapper does."""

from __future__ import annotations

import ctypes
from typing import Final

from ffi_builder import abi
from ffi_builder.abi import TypeIndex

DL: Final = abi.OBJECT_SIZE
"""A DLTensor's fields, counted from the object: the header comes first."""


def read_i32(address: int) -> int:
    """A signed 32-bit number."""
    return ctypes.c_int32.from_address(address).value


def read_i64(address: int) -> int:
    """A signed 64-bit number."""
    return ctypes.c_int64.from_address(address).value


def read_u64(address: int) -> int:
    """An unsigned 64-bit number, or a pointer."""
    return ctypes.c_uint64.from_address(address).value


def wrap_i64(value: int) -> int:
    """A number modulo 2^64, as a signed one."""
    return (value + 2**63) % 2**64 - 2**63


def tensor_object(any_address: int) -> int | None:
    """The object of a tensor argument: 0 if it is NULL, None if it is no tensor.

    Of a ``DLTensor*`` that is the address 24 bytes before it, where a Tensor's header would be.
    """
    payload = read_u64(any_address + abi.ANY_PAYLOAD)
    match read_i32(any_address):
        case TypeIndex.TENSOR:
            return payload
        case TypeIndex.DL_TENSOR_PTR:
            return payload - DL if payload else 0
        case TypeIndex.OBJECT_RVALUE_REF:
            moved = read_u64(payload) if payload else 0
            if moved and read_i32(moved + abi.OBJECT_TYPE_INDEX) != TypeIndex.TENSOR:
                return None
            return moved
        case _:
            return None


def ndim(tensor: int) -> int:
    """The number of dimensions of a tensor object."""
    return read_i32(tensor + DL + abi.DLTENSOR_NDIM)


def dims(tensor: int) -> list[int]:
    """The dimensions of a tensor object, as stored."""
    shape = read_u64(tensor + DL + abi.DLTENSOR_SHAPE)
    return [read_i64(shape + 8 * axis) for axis in range(ndim(tensor))]


def given_strides(tensor: int) -> list[int] | None:
    """The strides of a tensor object, as stored; None if the pointer is NULL."""
    strides = read_u64(tensor + DL + abi.DLTENSOR_STRIDES)
    if strides == 0:
        return None
    return [read_i64(strides + 8 * axis) for axis in range(ndim(tensor))]


def row_major(tensor: int, axis: int) -> int:
    """The product of the later dimensions, modulo 2^64."""
    product = 1
    for dim in dims(tensor)[axis + 1 :]:
        product = wrap_i64(product * dim)
    return product


def stride(tensor: int, axis: int) -> int:
    """A stride as stored, or what NULL stands for."""
    strides = given_strides(tensor)
    return row_major(tensor, axis) if strides is None else strides[axis]


def big_int(object_address: int) -> int:
    """The value of a BigInt object; of NULL one that fits nothing."""
    if object_address == 0:
        return 2**64
    count = read_i64(object_address + abi.BIG_INT_COUNT)
    words = object_address + abi.BIG_INT_WORDS
    data = ctypes.string_at(words, 8 * max(count, 0))
    return int.from_bytes(data, "little", signed=True)
