"""Appending to the message: text, numbers, names. All clamp at the end of the buffer. In C::

    void put(Machine*, const char* text, int64_t length);
    void put_number(Machine*, const char* format, int64_t value);
    void put_float(Machine*, int64_t bits);
    void put_name(Machine*, const char* names, int64_t number, const char* format);
    void put_value(Machine*, int64_t value, int64_t big);
    void put_dtype(Machine*, int64_t dtype);
    void put_place(Machine*, int64_t place, int64_t symbol);
    void put_list(Machine*, const int64_t* entries);
"""

from __future__ import annotations

from ffi_builder.builder.diagnosis.blobs import blob
from ffi_builder.builder.diagnosis.functions import define, shared_name
from ffi_builder.builder.diagnosis.machine import (
    BIG_BEYOND,
    BIG_UNSIGNED,
    PLACE_INDEX,
    PLACE_PART,
    PLACE_SOLVED,
    Machine,
    Reg,
)
from ffi_builder.builder.diagnosis.table import NO_INDEX, Style
from ffi_builder.builder.diagnosis.tensors import NDIM
from ffi_builder.ir import Builder, Symbols, Value

_FLOAT_ROOM = 40
"""Bytes that hold any %.17g."""


def define_texts(symbols: Symbols) -> None:
    """Add the functions to a module."""
    t = symbols.types
    symbols.declare("strtod", t.f64, [t.ptr, t.ptr])
    define(symbols, "put", t.void, [t.ptr, t.ptr, t.i64], _put)
    define(symbols, "put_number", t.void, [t.ptr, t.ptr, t.i64], _put_number)
    define(symbols, "put_float", t.void, [t.ptr, t.i64], _put_float)
    define(symbols, "put_name", t.void, [t.ptr, t.ptr, t.i64, t.ptr], _put_name)
    define(symbols, "put_value", t.void, [t.ptr, t.i64, t.i64], _put_value)
    define(symbols, "put_dtype", t.void, [t.ptr, t.i64], _put_dtype)
    define(symbols, "put_place", t.void, [t.ptr, t.i64, t.i64], _put_place)
    define(symbols, "put_list", t.void, [t.ptr, t.ptr], _put_list)


def call_put(b: Builder, name: str, *operands: Value) -> None:
    """Call one of the functions; the first operand is the machine."""
    b.call(shared_name(name), operands, b.types.void)


def put_text(m: Machine, string: str) -> None:
    """Append a string of the blob."""
    b = m.b
    call_put(b, "put", m.registers, blob(b, string), b.i64(len(string)))


def _put(b: Builder, registers: Value, text: Value, length: Value) -> None:
    m = Machine(b, registers)
    cursor = m.pointer(Reg.CURSOR)
    room = b.sub(m.get(Reg.END), b.to_int(cursor))
    taken = b.select(b.slt(length, room), length, room)
    b.op(
        "llvm.intr.memcpy",
        (cursor, text, taken),
        attributes={"isVolatile": b.types.attribute("false")},
    )
    m.set(Reg.CURSOR, b.element(cursor, taken))
    b.ret()


def snprintf(b: Builder, space: Value, room: Value, format_: Value, value: Value) -> Value:
    """``snprintf(space, room, format, value)``: the untruncated length, as an i64."""
    t = b.types
    return b.sext(b.call_variadic("snprintf", [space, room, format_], [value], t.i32), t.i64)


def _put_number(b: Builder, registers: Value, format_: Value, value: Value) -> None:
    # Its longest result: the longest format's text, and 20 digits.
    space = b.alloca(b.types.i8, 64)
    length = snprintf(b, space, b.i64(64), format_, value)
    call_put(b, "put", registers, space, length)
    b.ret()


def _put_float(b: Builder, registers: Value, bits: Value) -> None:
    t = b.types
    m = Machine(b, registers)
    value = b.bitcast(bits, t.f64)
    with b.when(b.float_compare("uno", value, value)):
        put_text(m, "nan")
        b.ret()
    space = b.alloca(t.i8, _FLOAT_ROOM)
    room = b.i64(_FLOAT_ROOM)
    length = snprintf(b, space, room, blob(b, "%.15g"), value)
    back = b.call_value("strtod", [space, b.null()], t.f64)
    with b.when(b.float_compare("oeq", back, value)):
        call_put(b, "put", registers, space, length)
        b.ret()
    call_put(b, "put", registers, space, snprintf(b, space, room, blob(b, "%.17g"), value))
    b.ret()


def _put_name(b: Builder, registers: Value, names: Value, number: Value, format_: Value) -> None:
    t = b.types
    at = b.alloca(t.ptr)
    b.store(names, at)
    head = b.new_block()
    b.br(head)
    b.block = head
    entry = b.load(t.ptr, at)
    length = b.zext(b.field(t.i8, entry, 1), t.i64)
    with b.when(b.eq(length, b.i64(0))):
        with b.when(b.ne(format_, b.null())):
            call_put(b, "put_number", registers, format_, number)
        b.ret()
    text = b.offset(entry, 2)
    with b.when(b.eq(b.zext(b.load(t.i8, entry), t.i64), number)):
        call_put(b, "put", registers, text, length)
        b.ret()
    b.store(b.element(text, length), at)
    b.br(head)


def _put_value(b: Builder, registers: Value, value: Value, big: Value) -> None:
    m = Machine(b, registers)
    with b.when(b.uge(big, b.i64(BIG_BEYOND))):
        put_text(m, "an int beyond 64 bits")
        b.ret()
    style = m.get(Reg.STYLE)
    with b.when(b.eq(style, b.i64(Style.FLOAT))):
        call_put(b, "put_float", registers, value)
        b.ret()
    with b.when(b.eq(style, b.i64(Style.BOOL))):
        true = b.ne(value, b.i64(0))
        text = b.select(true, blob(b, "True"), blob(b, "False"))
        call_put(b, "put", registers, text, b.select(true, b.i64(4), b.i64(5)))
        b.ret()
    unsigned = b.or_(b.eq(style, b.i64(Style.UINT)), b.eq(big, b.i64(BIG_UNSIGNED)))
    number = b.select(unsigned, blob(b, "%llu"), blob(b, "%lld"))
    hexed = b.eq(style, b.i64(Style.HEX))
    call_put(b, "put_number", registers, b.select(hexed, blob(b, "0x%llx"), number), value)
    b.ret()


def _put_dtype(b: Builder, registers: Value, dtype: Value) -> None:
    t = b.types
    m = Machine(b, registers)
    code = b.and_(dtype, b.i64(0xFF))
    bits = b.and_(b.lshr(dtype, b.i64(8)), b.i64(0xFF))
    lanes = b.and_(b.lshr(dtype, b.i64(16)), b.i64(0xFFFF))

    def number(format_: str, value: Value) -> None:
        call_put(b, "put_number", registers, blob(b, format_), value)

    with b.when(b.ugt(code, b.i64(17))):
        number("dtype(code=%lld", code)
        number(", bits=%lld", bits)
        number(", lanes=%lld)", lanes)
        b.ret()
    call_put(b, "put_name", m.registers, blob(b, "dtypes"), code, b.null())
    fixed = b.zext(b.load(t.i8, b.element(blob(b, "dtype bits"), code)), t.i64)
    with b.when(b.ne(bits, fixed)):
        number("%lld", bits)
    with b.when(b.ne(lanes, b.i64(1))):
        number("x%lld", lanes)
    b.ret()


def put_symbol(m: Machine, symbol: Value) -> None:
    """Append the name of a symbol."""
    record = m.symbol_record(symbol)
    call_put(
        m.b, "put", m.registers, m.table_at(m.unsigned(record, 32)), m.unsigned(record, 16, 4)
    )


def _put_place(b: Builder, registers: Value, place: Value, symbol: Value) -> None:
    m = Machine(b, registers)
    with b.when(b.ne(b.lshr(place, b.i64(PLACE_SOLVED)), b.i64(0))):
        put_symbol(m, symbol)
        put_text(m, " in ")
    parameter = b.and_(place, b.i64(0xFFFFFFFF))
    with b.when(b.ne(parameter, b.i64(0))):
        record = m.table_at(parameter)
        path = m.table_at(m.unsigned(record, 32))
        call_put(b, "put", registers, path, m.unsigned(record, 16, 4))
    part = b.and_(b.lshr(place, b.i64(PLACE_PART)), b.i64(0xFF))
    call_put(b, "put_name", registers, blob(b, "suffixes"), part, b.null())
    index = b.and_(b.lshr(place, b.i64(PLACE_INDEX)), b.i64(NO_INDEX))
    with b.when(b.ne(index, b.i64(NO_INDEX))):
        call_put(b, "put_number", registers, blob(b, "[%lld]"), index)
    b.ret()


def _put_list(b: Builder, registers: Value, entries: Value) -> None:
    """Of as many entries as the current tensor has dimensions; NULL only if there are any."""
    t = b.types
    m = Machine(b, registers)
    ndim = b.sext(b.field(t.i32, m.pointer(Reg.OBJECT), NDIM), t.i64)
    with b.when(b.is_null(entries)):
        put_text(m, "NULL")
        b.ret()
    put_text(m, "[")
    with b.loop(ndim) as index:
        with b.when(b.ne(index, b.i64(0))):
            put_text(m, ", ")
        entry = b.load(t.i64, b.element(entries, index, "i64"))
        call_put(b, "put_number", registers, blob(b, "%lld"), entry)
    put_text(m, "]")
    b.ret()
