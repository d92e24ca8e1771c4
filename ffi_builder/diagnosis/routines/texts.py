"""Append text, numbers and names to the message, up to the end of the buffer."""

from __future__ import annotations

from ffi_builder import abi
from ffi_builder.diagnosis.assembler import Label, Reg
from ffi_builder.diagnosis.instructions import Instruction
from ffi_builder.diagnosis.program import (
    BIG_BEYOND,
    BIG_UNSIGNED,
    NDIM,
    PLACE_INDEX,
    PLACE_PART,
    PLACE_SOLVED,
    Program,
)
from ffi_builder.diagnosis.table import NO_INDEX, Style
from ffi_builder.plan import Part
from ffi_builder.plan.messages import SHOWN_ENTRIES
from ffi_builder.plan.path import LENGTH_OF


def define_texts(p: Program) -> None:
    """Assemble the functions, each before those that call it."""
    p.define("put_number", 2, _put_number)
    p.define("put_int", 1, _put_int)
    p.define("put_addresses", 2, _put_addresses)
    p.define("put_float", 1, _put_float)
    p.define("put_name", 3, _put_name)
    p.define("put_value", 2, _put_value)
    p.define("put_dtype", 1, _put_dtype)
    p.define("put_symbol", 1, _put_symbol)
    p.define("put_element", 1, _put_element)
    p.define("put_place", 3, _put_place)
    p.define("put_list", 1, _put_list)


def _put_number(p: Program, format_: Reg, value: Reg) -> None:
    length = p.new()
    p.set(length, p.scratch)
    p.effect(Instruction.PRINT, length, format_, value)
    p.append(p.scratch, length)


def _put_int(p: Program, value: Reg) -> None:
    """Append an int. Most have one digit, and calling C would take longest for those."""
    with p.when(p.ult(value, 10)):
        p.append(p.add(p.constant("0123456789"), value), 1)
        p.ret()
    p.run("put_number", p.constant("%lld"), value)


def _put_addresses(p: Program, first: Reg, last: Reg) -> None:
    p.run("put_number", p.constant("0x%llx"), first)
    p.put(" to ")
    p.run("put_number", p.constant("0x%llx"), last)


def _put_float(p: Program, value: Reg) -> None:
    # NaN never equals what strtod reads back.
    exponent = p.and_(value, 2**63 - 1)
    with p.when(p.slt(0x7FF << 52, exponent)):
        p.put("nan")
        p.ret()
    length, back = p.new(), p.new()
    for format_ in ("%.15g", "%.17g"):
        p.set(length, p.scratch)
        p.effect(Instruction.PRINTF, length, p.constant(format_), value)
        p.effect(Instruction.STRTOD, back, p.scratch)
        with p.when(p.same_float(back, value)):
            p.append(p.scratch, length)
            p.ret()


def _put_name(p: Program, names: Reg, number: Reg, other: Reg) -> None:
    """Append a number's name, or the number in the format ``other`` (0: nothing)."""
    head = Label()
    p.place(head)
    length = p.unsigned(names, 8, 1)
    with p.when(p.not_(length)):
        with p.when(other):
            p.run("put_number", other, number)
        p.ret()
    text = p.add(names, 2)
    with p.when(p.eq(p.unsigned(names, 8), number)):
        p.append(text, length)
        p.ret()
    p.add(text, length, names)
    p.jump(head)


def _put_value(p: Program, value: Reg, big: Reg) -> None:
    with p.when(p.sle(BIG_BEYOND, big)):
        p.put("an int beyond 64 bits")
        p.ret()
    with p.when(p.eq(p.style, Style.FLOAT)):
        p.run("put_float", value)
        p.ret()
    # A bool that is neither 0 nor 1 is shown as the int that it is.
    with p.when(p.and_(p.eq(p.style, Style.BOOL), p.ult(value, 2))):
        with p.when(value):
            p.put("True")
            p.ret()
        p.put("False")
        p.ret()
    with p.when(p.eq(p.style, Style.HEX)):
        p.run("put_number", p.constant("0x%llx"), value)
        p.ret()
    with p.when(p.or_(p.eq(p.style, Style.UINT), p.eq(big, BIG_UNSIGNED))):
        p.run("put_number", p.constant("%llu"), value)
        p.ret()
    p.run("put_int", value)


def _put_dtype(p: Program, dtype: Reg) -> None:
    code = p.and_(dtype, 0xFF)
    bits = p.and_(p.lshr(dtype, 8), 0xFF)
    lanes = p.and_(p.lshr(dtype, 16), 0xFFFF)
    with p.when(p.slt(max(abi.DTYPE_CODES.values()), code)):
        p.run("put_number", p.constant("dtype(code=%lld"), code)
        p.run("put_number", p.constant(", bits=%lld"), bits)
        p.run("put_number", p.constant(", lanes=%lld)"), lanes)
        p.ret()
    p.run("put_name", p.constant("dtypes"), code, 0)
    fixed = p.load(8, p.constant("dtype bits"), code)
    with p.when(p.or_(p.not_(fixed), p.ne(bits, fixed))):
        p.run("put_int", bits)
    with p.when(p.ne(lanes, 1)):
        p.run("put_number", p.constant("x%lld"), lanes)


def _put_symbol(p: Program, symbol: Reg) -> None:
    record = p.symbol_record(symbol)
    p.append(p.table_at(p.unsigned(record, 32)), p.unsigned(record, 16, 4))


def _put_place(p: Program, place: Reg, symbol: Reg, element: Reg) -> None:
    with p.when(p.lshr(place, PLACE_SOLVED)):
        p.run("put_symbol", symbol)
        p.put(" in ")
    part = p.and_(p.lshr(place, PLACE_PART), 0xFF)
    with p.when(p.eq(part, Part.LENGTH)):
        p.put(LENGTH_OF)
    parameter = p.and_(place, 0xFFFFFFFF)
    with p.when(parameter):
        record = p.table_at(parameter)
        p.append(p.table_at(p.unsigned(record, 32)), p.unsigned(record, 16, 4))
    p.run("put_element", element)
    p.run("put_name", p.constant("suffixes"), part, 0)
    index = p.and_(p.lshr(place, PLACE_INDEX), NO_INDEX)
    with p.when(p.ne(index, NO_INDEX)):
        p.put("[")
        p.run("put_int", index)
        p.put("]")


def _put_element(p: Program, element: Reg) -> None:
    """Append the index of an element of a list, whose number is 1 more; nothing for 0."""
    with p.when(element):
        p.put("[")
        p.run("put_int", p.sub(element, 1))
        p.put("]")


def _put_list(p: Program, entries: Reg) -> None:
    """Append as many entries as the current tensor has dimensions, or NULL."""
    with p.when(p.not_(entries)):
        p.put("NULL")
        p.ret()
    p.put("[")
    count = p.load(32, p.object, NDIM)
    shown = p.choose(p.slt(SHOWN_ENTRIES, count), SHOWN_ENTRIES, count)
    with p.loop(shown) as index:
        with p.when(index):
            p.put(", ")
        entry = p.load(64, p.add(entries, p.shl(index, 3)))
        p.run("put_int", entry)
    with p.when(p.ne(shown, count)):
        p.put(", ...")
    p.put("]")
