"""Reading argument memory, field by field, as the wrapper does."""

from __future__ import annotations

import ctypes
from typing import Final

from ffi_builder import abi

DL: Final = abi.OBJECT_SIZE
"""A DLTensor's fields, counted from the object: the header comes first."""


def read_i32(address: int) -> int:
    """A signed 32-bit number."""
    return ctypes.c_int32.from_address(address).value


def read_u32(address: int) -> int:
    """An unsigned 32-bit number."""
    return ctypes.c_uint32.from_address(address).value


def read_i64(address: int) -> int:
    """A signed 64-bit number."""
    return ctypes.c_int64.from_address(address).value


def read_u64(address: int) -> int:
    """An unsigned 64-bit number, or a pointer."""
    return ctypes.c_uint64.from_address(address).value


def wrap_i64(value: int) -> int:
    """A number modulo 2^64, as a signed one."""
    return (value + 2**63) % 2**64 - 2**63


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


def contiguous(shape: list[int], order: str = "C") -> list[int]:
    """The strides of a contiguous tensor, row-major or in the order F, modulo 2^64."""
    strides: list[int] = []
    product = 1
    for dim in reversed(shape) if order == "C" else shape:
        strides.append(product)
        product = wrap_i64(product * dim)
    return strides[::-1] if order == "C" else strides


def strides(tensor: int) -> list[int]:
    """The strides as stored, or what NULL stands for."""
    given = given_strides(tensor)
    return contiguous(dims(tensor)) if given is None else given


def big_int(object_address: int) -> int:
    """The value of a BigInt object; of NULL one that fits nothing."""
    if object_address == 0:
        return 2**64
    count = read_i64(object_address + abi.BIG_INT_COUNT)
    words = object_address + abi.BIG_INT_WORDS
    data = ctypes.string_at(words, 8 * max(count, 0))
    return int.from_bytes(data, "little", signed=True)
