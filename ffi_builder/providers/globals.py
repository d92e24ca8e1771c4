"""Calling functions that are registered with tvm-ffi, and code that all TVM-FFI calls share."""

from __future__ import annotations

import struct
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.ir import Builder, CheckingBuilder, Value

_GET_GLOBAL: Final = "TVMFFIFunctionGetGlobal"
_CALL: Final = "TVMFFIFunctionCall"
_DEC_REF: Final = "TVMFFIObjectDecRef"


def call_global(b: CheckingBuilder, name: str, array: Value, count: Value, result: Value) -> Value:
    """Look a function up and call it with ``count`` arguments; return its status.

    The wrapper raises a RuntimeError if no function has that name.
    """
    t = b.types
    b.symbols.declare(_GET_GLOBAL, t.i32, [t.ptr, t.ptr])
    b.symbols.declare(_CALL, t.i32, [t.ptr, t.ptr, t.i32, t.ptr])
    b.symbols.declare(_DEC_REF, t.i32, [t.ptr])
    data = name.encode()
    text, slot = b.alloca(t.i64, abi.BYTE_ARRAY_SIZE // 8), b.alloca(t.ptr)
    b.store(b.text_constant(data), b.offset(text, abi.BYTE_ARRAY_DATA))
    b.store(b.i64(len(data)), b.offset(text, abi.BYTE_ARRAY_LENGTH))
    return_failure(b, b.call_value(_GET_GLOBAL, [text, slot], t.i32))
    function = b.load(t.ptr, slot)
    words = f"No global function is registered as {name!r}"
    b.check(b.ne(function, b.null()), "RuntimeError", words)
    status = b.call_value(_CALL, [function, array, count, result], t.i32)
    b.call(_DEC_REF, [function], t.i32)
    return status


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


def store_none(b: Builder, at: Value) -> None:
    """Write None as a ``TVMFFIAny``, all 16 bytes."""
    zero = b.i64(0)
    b.store(zero, at)
    b.store(zero, b.offset(at, abi.ANY_PAYLOAD))


def any_head(b: CheckingBuilder, index: TypeIndex) -> Value:
    """Return the type index and padding of a ``TVMFFIAny`` as one word."""
    return b.i64(struct.unpack("<q", struct.pack("<ii", index, 0))[0])
