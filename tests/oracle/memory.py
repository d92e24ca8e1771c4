"""Reads of raw argument memory, by the offsets of :mod:`ffi_builder.abi`."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from ffi_builder import abi
from ffi_builder.spec.dtypes import DataType


def read_u8(address: int) -> int:
    return ctypes.c_uint8.from_address(address).value


def read_u16(address: int) -> int:
    return ctypes.c_uint16.from_address(address).value


def read_i32(address: int) -> int:
    return ctypes.c_int32.from_address(address).value


def read_i64(address: int) -> int:
    return ctypes.c_int64.from_address(address).value


def read_u64(address: int) -> int:
    return ctypes.c_uint64.from_address(address).value


def read_f64(address: int) -> float:
    return ctypes.c_double.from_address(address).value


def read_u32(address: int) -> int:
    return ctypes.c_uint32.from_address(address).value


def read_bytes(address: int) -> bytes:
    """Return the bytes of a ``TVMFFIByteArray``."""
    length = read_u64(address + abi.BYTE_ARRAY_LENGTH)
    data = read_u64(address + abi.BYTE_ARRAY_DATA)
    return ctypes.string_at(data, length) if length else b""


def read_i64s(address: int, count: int) -> list[int]:
    return [read_i64(address + 8 * index) for index in range(count)]


@dataclass(frozen=True)
class AnyAt:
    """A ``TVMFFIAny``; each property reads the payload as one type."""

    address: int

    @property
    def type_index(self) -> int:
        return read_i32(self.address + abi.ANY_TYPE_INDEX)

    @property
    def as_int(self) -> int:
        return read_i64(self.address + abi.ANY_PAYLOAD)

    @property
    def as_float(self) -> float:
        return read_f64(self.address + abi.ANY_PAYLOAD)

    @property
    def as_pointer(self) -> int:
        return read_u64(self.address + abi.ANY_PAYLOAD)

    @property
    def as_dtype(self) -> int:
        """The 32 bits of a ``DLDataType``."""
        return read_i32(self.address + abi.ANY_PAYLOAD)

    @property
    def as_device(self) -> tuple[int, int]:
        """Device type and id."""
        at = self.address + abi.ANY_PAYLOAD
        return read_i32(at), read_i32(at + 4)

    @property
    def small_length(self) -> int:
        """The length of a small str or bytes, stored in the ``TVMFFIAny``."""
        return read_u32(self.address + abi.ANY_SMALL_LENGTH)

    @property
    def moved(self) -> int:
        """The object that an ObjectRValueRef holds; 0 if it, or the reference itself, is NULL."""
        return read_u64(self.as_pointer) if self.as_pointer else 0


def object_type(address: int) -> int:
    return read_i32(address + abi.OBJECT_TYPE_INDEX)


@dataclass(frozen=True)
class TensorAt:
    """A ``DLTensor``; each property reads memory only when it is used."""

    address: int

    @property
    def data(self) -> int:
        return read_u64(self.address + abi.DLTENSOR_DATA)

    @property
    def device_type(self) -> int:
        return read_i32(self.address + abi.DLTENSOR_DEVICE_TYPE)

    @property
    def device_id(self) -> int:
        return read_i32(self.address + abi.DLTENSOR_DEVICE_ID)

    @property
    def ndim(self) -> int:
        return read_i32(self.address + abi.DLTENSOR_NDIM)

    @property
    def dtype(self) -> DataType:
        return DataType(
            read_u8(self.address + abi.DLTENSOR_DTYPE_CODE),
            read_u8(self.address + abi.DLTENSOR_DTYPE_BITS),
            read_u16(self.address + abi.DLTENSOR_DTYPE_LANES),
        )

    @property
    def shape(self) -> int:
        return read_u64(self.address + abi.DLTENSOR_SHAPE)

    @property
    def strides(self) -> int:
        return read_u64(self.address + abi.DLTENSOR_STRIDES)

    @property
    def byte_offset(self) -> int:
        return read_u64(self.address + abi.DLTENSOR_BYTE_OFFSET)


@dataclass(frozen=True)
class SequenceAt:
    """A Shape, Array or List object: the pointer to its elements and how many there are."""

    type_index: int
    address: int

    @property
    def data(self) -> int:
        return read_u64(self.address + abi.CELL_DATA)

    @property
    def size(self) -> int:
        """The length as an int64; that of a Shape is read the same way."""
        return read_i64(self.address + abi.CELL_SIZE)


def read_big_int(address: int) -> int:
    """Read a BigInt: words in two's complement, least significant first.

    NULL is read as a positive int that fits no dtype.
    """
    if address == 0:
        return 2**64
    count = read_u64(address + abi.BIG_INT_COUNT)
    content = ctypes.string_at(address + abi.BIG_INT_WORDS, 8 * count)
    return int.from_bytes(content, "little", signed=True)
