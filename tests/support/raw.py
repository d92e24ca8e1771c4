"""Arguments as addresses of buffers that are never freed."""

from __future__ import annotations

import ctypes
import struct
from typing import Final

from tvm_ffi import libinfo

from ffi_builder.abi import TypeIndex
from tests.differential.description import Plain

_KEPT: Final[list[object]] = []
_lib: Final = ctypes.CDLL(libinfo.find_libtvm_ffi())


def kept(content: bytes) -> int:
    """Keep these bytes, and return their address."""
    buffer = ctypes.create_string_buffer(content, max(1, len(content)))
    _KEPT.append(buffer)
    return ctypes.addressof(buffer)


def words(*values: int) -> int:
    """Keep these u64s, and return their address."""
    return kept(struct.pack(f"<{len(values)}Q", *values))


def object_(type_index: int, *cell: int, says: int | None = None) -> Plain:
    """Return an object with u64s behind its header; the header may name another type."""
    header = type_index if says is None else says
    content = struct.pack("<QiIQ", 1 | 1 << 32, header, 0, 0)
    return Plain(type_index, kept(content + struct.pack(f"<{len(cell)}Q", *cell)))


def moved(held: Plain) -> Plain:
    """Return a reference into which an object was moved."""
    return Plain(TypeIndex.OBJECT_RVALUE_REF, words(held.payload))


def str_(content: bytes) -> Plain:
    return object_(TypeIndex.STR, kept(content), len(content))


def bytes_(content: bytes) -> Plain:
    return object_(TypeIndex.BYTES, kept(content), len(content))


def char_pointer(content: bytes) -> Plain:
    return Plain(TypeIndex.RAW_STR, kept(content + b"\0"))


def byte_array(content: bytes) -> Plain:
    return Plain(TypeIndex.BYTE_ARRAY_PTR, words(kept(content), len(content)))


def small(
    content: bytes, type_index: int = TypeIndex.SMALL_STR, length: int | None = None
) -> Plain:
    """Return a small str or bytes; ``length`` may be wrong."""
    payload = int.from_bytes(content.ljust(8, b"\0"), "little")
    return Plain(type_index, payload, len(content) if length is None else length)


def register(type_key: str, parent: int = TypeIndex.OBJECT, depth: int = 1) -> int:
    """Register a type, and return its type index."""
    key = type_key.encode()
    array = ctypes.c_void_p(words(kept(key), len(key)))
    return _lib.TVMFFITypeGetOrAllocIndex(array, -1, depth, 0, 1, parent)
