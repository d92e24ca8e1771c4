"""What each placeholder of a template appends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ffi_builder.builder.diagnosis.blobs import blob
from ffi_builder.builder.diagnosis.machine import NO_INDEX_BITS, SLOT_PLACE, Machine, Reg
from ffi_builder.builder.diagnosis.tensors import SHAPE, STRIDES
from ffi_builder.builder.diagnosis.texts import call_put, put_symbol, put_text
from ffi_builder.ir import Value
from ffi_builder.plan.words import SIGNATURE_LIMIT


def _expected(m: Machine) -> None:
    call_put(m.b, "put_value", m.registers, m.get(Reg.EXPECTED), m.b.i64(0))


def _got(m: Machine) -> None:
    call_put(m.b, "put_value", m.registers, m.get(Reg.VALUE), m.get(Reg.BIG))


def _symbol(m: Machine) -> None:
    put_symbol(m, m.get(Reg.SYMBOL))


def _bound(m: Machine) -> None:
    value = m.b.load(m.b.types.i64, m.slot(m.get(Reg.SYMBOL)))
    call_put(m.b, "put_value", m.registers, value, m.b.i64(0))


def _origin(m: Machine) -> None:
    symbol = m.get(Reg.SYMBOL)
    place = m.b.field(m.b.types.i64, m.slot(symbol), SLOT_PLACE)
    call_put(m.b, "put_place", m.registers, place, symbol)


def _text(m: Machine) -> None:
    operand = m.pointer(Reg.TEXT)
    text = m.table_at(m.unsigned(operand, 32))
    call_put(m.b, "put", m.registers, text, m.unsigned(operand, 16, 4))


def _bindings(m: Machine) -> None:
    b = m.b
    listed = m.pointer(Reg.BINDINGS)
    style = m.get(Reg.STYLE)
    with b.loop(m.unsigned(listed, 16)) as index:
        with b.when(b.ne(index, b.i64(0))):
            put_text(m, ", ")
        entry = b.element(b.offset(listed, 2), index, "i16")
        symbol = m.unsigned(entry, 16)
        m.set(Reg.SYMBOL, symbol)
        m.set(Reg.STYLE, m.unsigned(m.symbol_record(symbol), 16, 6))
        call_put(b, "put_words", m.registers, blob(b, "binding"))
    m.set(Reg.STYLE, style)


def _path(m: Machine) -> None:
    b = m.b
    parameter = b.and_(m.get(Reg.PLACE), b.i64(0xFFFFFFFF))
    whole = b.or_(parameter, b.i64(NO_INDEX_BITS))
    call_put(b, "put_place", m.registers, whole, b.i64(0))


def _subject(m: Machine) -> None:
    call_put(m.b, "put_words", m.registers, m.pointer(Reg.ROW))
    call_put(m.b, "put_place", m.registers, m.get(Reg.PLACE), m.get(Reg.SYMBOL))


def _named(names: str, format_: str, register: Reg) -> Callable[[Machine], None]:
    def body(m: Machine) -> None:
        b = m.b
        call_put(
            b, "put_name", m.registers, blob(b, names), m.get(register), blob(b, format_)
        )

    return body


def _dtype(register: Reg) -> Callable[[Machine], None]:
    return lambda m: call_put(m.b, "put_dtype", m.registers, m.get(register))


def _number(format_: str, value: Callable[[Machine], Value]) -> Callable[[Machine], None]:
    return lambda m: call_put(
        m.b, "put_number", m.registers, blob(m.b, format_), value(m)
    )


def _lowest_bit(m: Machine) -> Value:
    value = m.get(Reg.VALUE)
    return m.b.and_(value, m.b.sub(m.b.i64(0), value))


def _argument(m: Machine) -> Value:
    """The index of the argument: it stands behind the path of the PARAM record."""
    record = m.table_at(m.b.and_(m.get(Reg.PLACE), m.b.i64(0xFFFFFFFF)))
    return m.unsigned(record, 16, 6)


def _range(m: Machine) -> None:
    """From the dtype word in EXPECTED: code 0 is signed, 1 unsigned; then the bits."""
    b = m.b
    dtype = m.get(Reg.EXPECTED)
    bits = b.and_(b.lshr(dtype, b.i64(8)), b.i64(0xFF))
    unsigned = b.ne(b.and_(dtype, b.i64(0xFF)), b.i64(0))
    greatest = b.lshr(b.i64(-1), b.sub(b.i64(64), bits))
    signed_greatest = b.lshr(greatest, b.i64(1))
    least = b.xor(signed_greatest, b.i64(-1))
    low = b.select(unsigned, b.i64(0), least)
    high = b.select(unsigned, greatest, signed_greatest)
    call_put(b, "put_number", m.registers, blob(b, "%lld"), low)
    put_text(m, " to ")
    call_put(b, "put_number", m.registers, blob(b, "%llu"), high)


def _list(offset: int) -> Callable[[Machine], None]:
    def body(m: Machine) -> None:
        entries = m.b.field(m.b.types.ptr, m.pointer(Reg.OBJECT), offset)
        call_put(m.b, "put_list", m.registers, entries)

    return body


def _template(part: int) -> Callable[[Machine], None]:
    """The part-th template behind the prefix of the current row."""

    def body(m: Machine) -> None:
        b = m.b
        at = b.alloca(b.types.ptr)
        b.store(m.pointer(Reg.ROW), at)
        for _ in range(part):
            head = b.new_block()
            b.br(head)
            b.block = head
            here = b.load(b.types.ptr, at)
            b.store(b.offset(here, 1), at)
            after = b.new_block()
            b.cond_br(b.eq(b.load(b.types.i8, here), b.i8(0)), after, head)
            b.block = after
        call_put(b, "put_words", m.registers, b.load(b.types.ptr, at))

    return body


def _signature(m: Machine) -> None:
    b = m.b
    table = m.pointer(Reg.TABLE)
    text = m.table_at(m.unsigned(table, 32, 12))
    length = m.unsigned(table, 32, 16)
    done = b.new_block()
    with b.when(b.sle(length, b.i64(SIGNATURE_LIMIT))):
        call_put(b, "put", m.registers, text, length)
        b.br(done)
    call_put(b, "put", m.registers, text, m.unsigned(table, 32, 20))
    nowhere = b.eq(b.and_(m.get(Reg.PLACE), b.i64(0xFFFFFFFF)), b.i64(0))
    with b.when(nowhere):
        put_text(m, "...")
        put_text(m, ")")
        b.br(done)
    index = _argument(m)
    with b.when(b.ne(index, b.i64(0))):
        put_text(m, "..., ")
    entry = b.element(b.offset(table, 32), index, "i64")
    call_put(b, "put", m.registers, m.table_at(m.unsigned(entry, 32)), m.unsigned(entry, 32, 4))
    with b.when(b.ne(b.add(index, b.i64(1)), m.unsigned(table, 32, 24))):
        put_text(m, ", ...")
    put_text(m, ")")
    b.br(done)
    b.block = done


PLACEHOLDER_BODIES: Final[dict[str, Callable[[Machine], None]]] = {
    "expected": _expected,
    "got": _got,
    "symbol": _symbol,
    "origin": _origin,
    "text": _text,
    "bindings": _bindings,
    "path": _path,
    "type": _named("types", "type index %lld", Reg.TYPE),
    "dtype": _dtype(Reg.VALUE),
    "device": _named("devices", "device type %lld", Reg.VALUE),
    "expected_dtype": _dtype(Reg.EXPECTED),
    "expected_device": _named("devices", "device type %lld", Reg.EXPECTED),
    "range": _range,
    "shape": _list(SHAPE),
    "strides": _list(STRIDES),
    "address": _number("0x%llx", lambda m: m.get(Reg.VALUE)),
    "offset": _number("0x%llx", lambda m: m.get(Reg.EXPECTED)),
    "alignment": _number("%llu", _lowest_bit),
    "subject": _subject,
    "argument": _number("%lld", _argument),
    "signature": _signature,
    "wanted": _template(1),
    "came": _template(2),
    "bound": _bound,
}
"""By name; :data:`ffi_builder.plan.words.PLACEHOLDERS` has their numbers."""
