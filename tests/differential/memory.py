"""Descriptions laid out in memory, each buffer right before a page that nobody may touch.

A read behind the end of what the caller gave (a shape, strides, an array of arguments, an object)
is then a crash and not an accident that goes well.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
from functools import cache
from typing import Final

from ffi_builder import abi
from tests.differential.description import (
    Arguments,
    BigInt,
    Body,
    ByteArray,
    Chars,
    CString,
    DLTensor,
    Elements,
    Ints,
    Moved,
    Object,
    Plain,
    Pointer,
    Value,
)
from tests.differential.registered import register_types

PAGE: Final = mmap.PAGESIZE
PROT_NONE: Final = 0
U64: Final = 2**64 - 1
_libc: Final = ctypes.CDLL(None, use_errno=True)


class Memory:
    """Buffers for one call at a time; :meth:`place` starts over.

    The object types that arguments may be of are registered.

    Args:
        slots: how many buffers there can be.
    """

    def __init__(self, slots: int = 1024) -> None:
        register_types()
        self._pages = mmap.mmap(-1, 2 * slots * PAGE)
        self._slots = slots
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(self._pages))
        self._used: list[tuple[int, int]] = []
        for slot in range(slots):
            guard = self._base + (2 * slot + 1) * PAGE
            if _libc.mprotect(ctypes.c_void_p(guard), ctypes.c_size_t(PAGE), PROT_NONE):
                raise OSError(ctypes.get_errno(), "mprotect")

    def place(self, arguments: Arguments) -> int:
        """Lay the arguments out; the address of the array of Anys, which may be 0."""
        self._used.clear()
        if arguments.values is None:
            return 0
        return self._put(b"".join(map(self._any, arguments.values)))

    @property
    def buffers(self) -> list[tuple[int, int]]:
        """Address and size of everything laid out, in no particular order."""
        return list(self._used)

    def snapshot(self) -> bytes:
        """Everything laid out, to see whether a call changed it."""
        return b"".join(ctypes.string_at(address, size) for address, size in self._used)

    def name_of(self, address: int) -> str:
        """Return a name for an address, the same in every process that has placed the same."""
        offset = address - self._base
        inside = 0 <= offset < 2 * self._slots * PAGE
        return f"+{offset:#x}" if inside else f"{address:#x}"

    def _put(self, content: bytes) -> int:
        assert len(content) <= PAGE, "too large for a slot"
        assert len(self._used) < self._slots, "no slot left"
        end = self._base + (2 * len(self._used) + 1) * PAGE
        address = end - len(content)
        ctypes.memmove(address, content, len(content))
        self._used.append((address, len(content)))
        return address

    def _any(self, value: Value) -> bytes:
        match value:
            case Plain(type_index, payload, padding):
                return _any(type_index, payload, padding)
            case Object(type_index):
                return _any(type_index, self._object(value))
            case Pointer(tensor):
                return _any(abi.TypeIndex.DL_TENSOR_PTR, self._put(self._tensor(tensor)))
            case CString(content):
                return _any(abi.TypeIndex.RAW_STR, self._put(content + b"\0"))
            case ByteArray(chars):
                return _any(abi.TypeIndex.BYTE_ARRAY_PTR, self._put(self._body(chars)))
            case Moved(target):
                held = 0 if target is None else self._object(target)
                reference = self._put(struct.pack("<Q", held))
                return _any(abi.TypeIndex.OBJECT_RVALUE_REF, reference)

    def _object(self, value: Object) -> int:
        # One strong and one weak reference; without a deleter nothing is ever freed.
        says = value.type_index if value.says is None else value.says
        header = struct.pack("<QiIQ", 1 | 1 << 32, says, 0, 0)
        assert len(header) == abi.OBJECT_SIZE
        return self._put(header + self._body(value.body))

    def _body(self, body: Body) -> bytes:
        match body:
            case None:
                return b""
            case DLTensor():
                return self._tensor(body)
            case BigInt(words):
                return struct.pack("<Q", len(words)) + _ints(words)
            case Chars(content, size):
                data = 0 if content is None else self._put(content)
                return _ints((data, len(content or b"") if size is None else size))
            case Ints(values, size):
                data = 0 if values is None else self._put(_ints(values))
                return _ints((data, len(values or ()) if size is None else size))
            case Elements(values, size):
                data = 0 if values is None else self._put(b"".join(map(self._any, values)))
                count = len(values or ()) if size is None else size
                return _ints((data, count, count, 0))

    def _tensor(self, tensor: DLTensor) -> bytes:
        code, bits, lanes = tensor.dtype
        ndim = len(tensor.shape or ()) if tensor.ndim is None else tensor.ndim
        content = struct.pack(
            "<QiiiBBHQQQ",
            tensor.data & U64,
            _int32(tensor.device_type),
            _int32(tensor.device_id),
            _int32(ndim),
            code,
            bits,
            lanes,
            0 if tensor.shape is None else self._put(_ints(tensor.shape)),
            0 if tensor.strides is None else self._put(_ints(tensor.strides)),
            tensor.byte_offset & U64,
        )
        assert len(content) == abi.DLTENSOR_SIZE
        return content


@cache
def shared(slots: int = 256) -> Memory:
    """Return the memory of all calls that are over when the next is laid out."""
    return Memory(slots)


def _any(type_index: int, payload: int, padding: int = 0) -> bytes:
    return struct.pack("<iIQ", type_index, padding, payload & U64)


def _ints(values: tuple[int, ...]) -> bytes:
    return struct.pack(f"<{len(values)}Q", *(value & U64 for value in values))


def _int32(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31
