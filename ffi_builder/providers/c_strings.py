"""Texts that end in a NUL, as C has them: made of a str or bytes, or taken from what C returns.

::

    %nul = llvm.call @memchr(%data, %zero, %length)            // ValueError unless it is NULL
    llvm.cond_br (the kind of the argument promises a NUL), ^near, ^other
  ^near:
    llvm.cond_br (%data[%length] == 0), ^done(%data, %null), ^copy
  ^other:                                                      // bytes elsewhere, or None
    llvm.cond_br (it is None), ^done(%null, %null), ^copy
  ^copy:
    %copy = llvm.call @malloc(%length + 1)                     // and then memcpy
    llvm.br ^done(%copy, %copy)
"""

from __future__ import annotations

from functools import reduce
from typing import Final

from ffi_builder.abi import BYTE_ARRAY_LENGTH, BYTE_ARRAY_SIZE, TypeIndex
from ffi_builder.ir import CheckingBuilder, Value
from ffi_builder.ir.builder import call_extern
from ffi_builder.packed.anys import on_error

_WITH_NUL: Final = (
    TypeIndex.STR,
    TypeIndex.SMALL_STR,
    TypeIndex.BYTES,
    TypeIndex.SMALL_BYTES,
    TypeIndex.RAW_STR,
)
"""The kinds of arguments behind whose bytes tvm-ffi writes a NUL. A byte array has none."""


def c_string(
    b: CheckingBuilder, path: str, any_: Value, pointer: Value, length: Value
) -> tuple[Value, Value]:
    """Return a text that ends in a NUL, and the memory to free: NULL if nothing was copied.

    Args:
        b: emits the code.
        path: the name of the argument in errors.
        any_: the address of its ``TVMFFIAny``. If that is None, the text is NULL.
        pointer: its bytes.
        length: their number, an i64.
    """
    t = b.types
    at = _first_nul(b, pointer, length)
    words = f"{path} has a NUL at byte {{}}, where its text would end in C"
    b.check(b.slt(at, b.i64(0)), "ValueError", words, at)
    done, near = b.new_block(t.ptr, t.ptr), b.new_block()
    other, copy = b.new_block(cold=True), b.new_block(cold=True)
    index = b.load(t.i32, any_)
    b.cond_br(reduce(b.or_, (b.eq(index, b.i32(k)) for k in _WITH_NUL)), near, other, likely=True)
    b.block = near
    ends = b.eq(b.load(t.i8, b.element(pointer, length)), b.zero(t.i8))
    b.cond_br(ends, done, copy, (pointer, b.null()), likely=True)
    b.block = other
    b.cond_br(b.eq(index, b.i32(TypeIndex.NONE)), done, copy, (b.null(), b.null()))
    b.block = copy
    copied = _copied(b, pointer, length)
    b.br(done, copied, copied)
    b.block = done
    text, memory = done.arguments
    return text, memory


def c_strings(b: CheckingBuilder, path: str, texts: Value, length: Value) -> Value:
    """Return memory with the addresses of texts that end in a NUL, and a NULL behind them.

    tvm-ffi writes a NUL behind the bytes of each element of a list, so nothing else is copied.

    Args:
        b: emits the code. Errors after the cursor free the memory.
        path: the name of the list in errors.
        texts: a ``TVMFFIByteArray`` of each text.
        length: their number, an i64.
    """
    t = b.types
    size = b.mul(b.add(length, b.i64(1)), b.i64(8))
    memory = call_extern(b, "malloc", [size], t.ptr)
    b.check(b.ne(memory, b.null()), "MemoryError", "There is no memory for {} bytes", size)
    free_on_error(b, memory)
    nothing = b.text_constant(b"\0")
    with b.loop(length) as index:
        text = b.element(texts, index, f"!llvm.array<{BYTE_ARRAY_SIZE // 8} x i64>")
        given, count = b.load(t.ptr, text), b.field(t.i64, text, BYTE_ARRAY_LENGTH)
        pointer = b.select(b.ne(given, b.null()), given, nothing)
        at = _first_nul(b, pointer, count)
        words = f"{path}[{{}}] has a NUL at byte {{}}, where its text would end in C"
        b.check(b.slt(at, b.i64(0)), "ValueError", words, index, at)
        ends = b.eq(b.load(t.i8, b.element(pointer, count)), b.zero(t.i8))
        b.check(ends, "ValueError", f"{path}[{{}}] has no NUL behind its bytes", index)
        b.store(pointer, b.element(memory, index, "i64"))
    b.store(b.null(), b.element(memory, length, "i64"))
    return memory


def _first_nul(b: CheckingBuilder, pointer: Value, length: Value) -> Value:
    """Return the index of the first NUL, an i64; it is negative if there is none."""
    nul = call_extern(b, "memchr", [pointer, b.i32(0), length], b.types.ptr)
    at = b.sub(b.to_int(nul), b.to_int(pointer))
    return b.select(b.is_null(nul), b.i64(-1), at)


def _copied(b: CheckingBuilder, pointer: Value, length: Value) -> Value:
    t = b.types
    memory = call_extern(b, "malloc", [b.add(length, b.i64(1))], t.ptr)
    b.check(b.ne(memory, b.null()), "MemoryError", "There is no memory for {} bytes", length)
    call_extern(b, "memcpy", [memory, pointer, length], t.ptr)
    b.store(b.zero(t.i8), b.element(memory, length))
    return memory


def free(b: CheckingBuilder, memory: Value) -> None:
    """Free memory that may be NULL."""
    with b.when(b.ne(memory, b.null()), cold=True):
        call_extern(b, "free", [memory], b.types.void)


def free_on_error(b: CheckingBuilder, memory: Value) -> None:
    """Make errors after the cursor free memory that may be NULL."""

    def clean() -> None:
        with b.out_of_line():
            free(b, memory)

    on_error(b, clean)
