"""Writing the message of an error, and raising it.

Templates are those of :mod:`ffi_builder.plan.words`, with each placeholder as one byte. In C::

    void put(Machine*, const char* text, int64_t length);
    void put_words(Machine*, const char* template);
    int32_t raise(const char* kind, int64_t length, const char* message, int64_t length);
    int32_t report(Machine*, int64_t words);

The last two return -1.
"""

from __future__ import annotations

from ffi_builder import abi
from ffi_builder.builder.diagnosis.blobs import KINDS, blob
from ffi_builder.builder.diagnosis.functions import call_shared, define, shared_name
from ffi_builder.builder.diagnosis.machine import Machine, Reg
from ffi_builder.builder.diagnosis.placeholders import PLACEHOLDER_BODIES
from ffi_builder.ir import Block, Builder, Symbols, Value
from ffi_builder.plan.words import PLACEHOLDERS

CREATE, SET_RAISED, DEC_REF = "TVMFFIErrorCreate", "TVMFFIErrorSetRaised", "TVMFFIObjectDecRef"


def define_report(symbols: Symbols) -> None:
    """Add the functions to a module."""
    t = symbols.types
    symbols.declare(CREATE, t.i32, [t.ptr] * 4)
    symbols.declare(SET_RAISED, t.void, [t.ptr])
    symbols.declare(DEC_REF, t.i32, [t.ptr])
    define(symbols, "raise", t.i32, [t.ptr, t.i64, t.ptr, t.i64], _raise)
    define(symbols, "put_words", t.void, [t.ptr, t.ptr], _put_words)
    define(symbols, "report", t.i32, [t.ptr, t.i64], _report)


def _byte_array(b: Builder, data: Value, length: Value) -> Value:
    space = b.alloca(b.types.i64, 2)
    b.store(data, space)
    b.store(length, b.offset(space, abi.BYTE_ARRAY_LENGTH))
    return space


def _raise(b: Builder, kind: Value, kind_length: Value, words: Value, length: Value) -> None:
    t = b.types
    error = b.alloca(t.ptr)
    arrays = (
        _byte_array(b, kind, kind_length),
        _byte_array(b, words, length),
        # No backtrace: walking the stack costs a first error hundreds of milliseconds.
        _byte_array(b, words, b.i64(0)),
    )
    status = b.call_value(CREATE, [*arrays, error], t.i32)
    with b.when(b.eq(status, b.i32(0))):
        created = b.load(t.ptr, error)
        b.call(SET_RAISED, [created], t.void)
        # Raising took a reference of its own.
        b.call(DEC_REF, [created], t.i32)
    b.ret(b.i32(-1))


def _put_words(b: Builder, registers: Value, template: Value) -> None:
    t = b.types
    m = Machine(b, registers)
    at = b.alloca(t.ptr)
    b.store(template, at)
    head = b.new_block()
    b.br(head)
    b.block = head
    here = b.load(t.ptr, at)
    b.store(b.offset(here, 1), at)
    byte = b.zext(b.load(t.i8, here), t.i32)
    with b.when(b.uge(byte, b.i32(32))):
        b.call(shared_name("put"), [registers, here, b.i64(1)], t.void)
        b.br(head)
    cases: dict[int, Block] = {0: b.new_block()}
    cases.update({number: b.new_block() for number in range(1, len(PLACEHOLDERS) + 1)})
    b.switch(byte, cases[0], cases)
    for number, name in enumerate(PLACEHOLDERS, start=1):
        b.block = cases[number]
        PLACEHOLDER_BODIES[name](m)
        b.br(head)
    b.block = cases[0]
    b.ret()


def _report(b: Builder, registers: Value, words: Value) -> None:
    t = b.types
    m = Machine(b, registers)
    rows = blob(b, "words")
    position = b.zext(b.load(t.i16, b.element(rows, words, "i16"), align=1), t.i64)
    row = b.element(rows, position)
    m.set(Reg.ROW, b.offset(row, 1))
    start = m.pointer(Reg.CURSOR)
    nowhere = b.eq(b.trunc(m.get(Reg.PLACE), t.i32), b.i32(0))
    frame = b.select(nowhere, blob(b, "frame without argument"), blob(b, "frame"))
    b.call(shared_name("put_words"), [registers, frame], t.void)
    length = b.sub(m.get(Reg.CURSOR), b.to_int(start))
    is_type = b.ne(b.load(t.i8, row), b.i8(0))
    kinds = blob(b, "kinds")
    second = b.offset(kinds, len(KINDS[0]))
    kind = b.select(is_type, second, kinds)
    kind_length = b.select(is_type, b.i64(len(KINDS[1])), b.i64(len(KINDS[0])))
    b.ret(call_shared(b, "raise", [kind, kind_length, start, length], t.i32))
