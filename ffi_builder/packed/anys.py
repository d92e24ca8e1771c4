"""``TVMFFIAny`` in memory, and the flow of calls that return a status."""

from __future__ import annotations

import struct
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.ir import Builder, CheckingBuilder, Value

DEC_REF: Final = "TVMFFIObjectDecRef"
INC_REF: Final = "TVMFFIObjectIncRef"
_BIG_INT: Final = "TVMFFIBigIntFromByteArray"


def any_head(b: Builder, index: TypeIndex, length: int = 0) -> Value:
    """Return the first word of a ``TVMFFIAny``: the type index, and a small string's length."""
    return b.i64(struct.unpack("<q", struct.pack("<ii", index, length))[0])


def store_any(b: Builder, head: Value, payload: Value, at: Value) -> None:
    """Write both words of a ``TVMFFIAny``."""
    b.store(head, at)
    b.store(payload, b.offset(at, abi.ANY_PAYLOAD))


def store_none(b: Builder, at: Value) -> None:
    """Write None as a ``TVMFFIAny``, all 16 bytes."""
    zero = b.i64(0)
    store_any(b, zero, zero, at)


def empty_any(b: Builder) -> Value:
    """Return stack space for the result of a function, a ``TVMFFIAny`` that is None."""
    space = b.alloca(b.types.i64, abi.ANY_SIZE // 8)
    store_none(b, space)
    return space


def byte_array(b: Builder, data: Value, length: Value) -> Value:
    """Return the address of a ``TVMFFIByteArray`` on the stack; ``length`` is an i64, in bytes."""
    space = b.alloca(b.types.i64, abi.BYTE_ARRAY_SIZE // 8)
    b.store(data, b.offset(space, abi.BYTE_ARRAY_DATA))
    b.store(length, b.offset(space, abi.BYTE_ARRAY_LENGTH))
    return space


def store_unsigned(b: CheckingBuilder, value: Value, cell: Value) -> None:
    """Write an unsigned i64 as an Int, or as an owned BigInt from 2^63 on."""
    t = b.types
    store_any(b, any_head(b, TypeIndex.INT), value, cell)
    following, large = b.new_block(), b.new_block(cold=True)
    b.cond_br(b.sge(value, b.i64(0)), following, large, likely=True)
    b.block = large
    words = b.alloca(t.i64, 2)
    b.store(value, words)
    b.store(b.i64(0), b.offset(words, 8))
    array = byte_array(b, words, b.i64(16))
    b.symbols.declare(_BIG_INT, t.i32, [t.ptr, t.ptr])
    return_failure(b, b.call_value(_BIG_INT, [array, cell], t.i32))
    b.br(following)
    b.block = following


def release_any(b: Builder, cell: Value, index: Value | None = None) -> None:
    """Release the object in a ``TVMFFIAny``, if it holds one; the words stay.

    ``index`` is the type index, if the caller has loaded it.
    """
    t = b.types
    b.symbols.declare(DEC_REF, t.i32, [t.ptr])
    index = b.load(t.i32, cell) if index is None else index
    is_object = b.sge(index, b.i32(TypeIndex.OBJECT))
    with b.when(is_object, cold=True):
        b.call(DEC_REF, [b.field(t.ptr, cell, abi.ANY_PAYLOAD)], t.i32)


def return_failure(b: CheckingBuilder, status: Value) -> None:
    """Return a status other than 0 to the caller: the callee has set the error."""
    with unless(b, b.eq(status, b.i32(0))):
        b.ret(status)


@contextmanager
def unless(b: Builder, condition: Value) -> Generator[None]:
    """Run the body, which ends its block, in a cold block if the condition does not hold."""
    following, failed = b.new_block(), b.new_block(cold=True)
    b.cond_br(condition, following, failed, likely=True)
    b.block = failed
    yield
    b.block = following
