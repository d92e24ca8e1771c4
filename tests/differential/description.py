"""Arguments as data: what will lie in memory, without an address in it.

A description can be printed, compared, shrunk, pickled and sent to another process;
:mod:`tests.differential.memory` lays it out. Integers are masked to the width of their field.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TypeAlias, Union

from ffi_builder import abi
from ffi_builder.abi import TypeIndex


@dataclass(frozen=True)
class Plain:
    """An Any whose payload is 8 bytes; a payload of 0 stands for every NULL."""

    type_index: int
    payload: int = 0
    padding: int = 0


@dataclass(frozen=True)
class DLTensor:
    """A ``DLTensor``. ``shape`` and ``strides`` of None are NULL; ``data`` is only an address."""

    shape: tuple[int, ...] | None
    strides: tuple[int, ...] | None = None
    data: int = 0x1000
    dtype: tuple[int, int, int] = (2, 32, 1)
    device_type: int = 1
    device_id: int = 0
    ndim: int | None = None
    """None: as many as ``shape`` has."""
    byte_offset: int = 0


@dataclass(frozen=True)
class Ints:
    """The cell of a Shape. ``values`` of None is NULL; ``size`` of None is the number of values."""

    values: tuple[int, ...] | None
    size: int | None = None


@dataclass(frozen=True)
class Elements:
    """The cell of an Array or List, as :class:`Ints`."""

    values: tuple[Value, ...] | None
    size: int | None = None


@dataclass(frozen=True)
class Chars:
    """The cell of a Str or Bytes: a ``TVMFFIByteArray``, as :class:`Ints`."""

    content: bytes | None
    size: int | None = None


@dataclass(frozen=True)
class BigInt:
    """The words of a BigInt, least significant first."""

    words: tuple[int, ...]


Body: TypeAlias = Union[DLTensor, Ints, Elements, Chars, BigInt, None]
"""The data after an object's header; None: nothing that may be read."""


@dataclass(frozen=True)
class Object:
    """An Any that holds an object.

    From 128 on a type index that the header has too must be registered with tvm-ffi.
    """

    type_index: int
    body: Body = None
    says: int | None = None
    """The type index in the header; None: the same."""


@dataclass(frozen=True)
class Pointer:
    """A ``DLTensor*``."""

    tensor: DLTensor


@dataclass(frozen=True)
class CString:
    """A ``char*``; a NUL is put behind the content."""

    content: bytes


@dataclass(frozen=True)
class ByteArray:
    """A ``TVMFFIByteArray*``."""

    chars: Chars


@dataclass(frozen=True)
class Moved:
    """An ObjectRValueRef. ``target`` of None: it points to NULL, as after a move."""

    target: Object | None


Value: TypeAlias = Union[Plain, Object, Pointer, CString, ByteArray, Moved]


@dataclass(frozen=True)
class Arguments:
    """One call. ``values`` of None: a NULL array."""

    values: tuple[Value, ...] | None
    num_args: int | None = None
    """None: as many as there are values."""

    @property
    def count(self) -> int:
        """The number of arguments that the callee is told."""
        return len(self.values or ()) if self.num_args is None else self.num_args


NONE = Plain(TypeIndex.NONE)


def of_int(value: int) -> Value:
    """An int, as tvm_ffi passes it."""
    if -(2**63) <= value < 2**63:
        return Plain(TypeIndex.INT, value)
    count = value.bit_length() // 64 + 1
    content = value.to_bytes(8 * count, "little", signed=True)
    return Object(TypeIndex.BIG_INT, BigInt(struct.unpack(f"<{count}q", content)))


def of_bool(value: bool) -> Plain:
    return Plain(TypeIndex.BOOL, int(value))


def of_float(value: float) -> Plain:
    return Plain(TypeIndex.FLOAT, float_payload(value))


def of_pointer(value: int) -> Plain:
    return Plain(TypeIndex.OPAQUE_PTR, value)


def tensor(body: DLTensor) -> Object:
    return Object(TypeIndex.TENSOR, body)


def shape(*values: int) -> Object:
    return Object(TypeIndex.SHAPE, Ints(values))


def array(*values: Value) -> Object:
    return Object(TypeIndex.ARRAY, Elements(values))


def list_(*values: Value) -> Object:
    return Object(TypeIndex.LIST, Elements(values))


def small(kind: int, content: bytes, size: int | None = None) -> Plain:
    """A str or bytes in place, of up to 8 bytes."""
    payload = int.from_bytes(content.ljust(8, b"\0"), "little")
    return Plain(kind, payload, len(content) if size is None else size)


def str_(content: bytes) -> Object:
    return Object(TypeIndex.STR, Chars(content))


def bytes_(content: bytes) -> Object:
    return Object(TypeIndex.BYTES, Chars(content))


def float_payload(value: float) -> int:
    """The bits of a float64."""
    return struct.unpack("<q", struct.pack("<d", value))[0]


def device_code(name: str) -> int:
    return abi.DEVICE_TYPES[name]
