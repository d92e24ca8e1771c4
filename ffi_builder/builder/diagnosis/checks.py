"""Instructions that check the value that was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ffi_builder import abi
from ffi_builder.builder.diagnosis.decoding import fail, not_free
from ffi_builder.builder.diagnosis.functions import call_shared
from ffi_builder.builder.diagnosis.machine import BIG_NEGATIVE, BIG_UNSIGNED, Machine, Reg
from ffi_builder.builder.diagnosis.table import Op, Style
from ffi_builder.builder.diagnosis.tensors import NDIM
from ffi_builder.ir import Value
from ffi_builder.plan import Words


def check(m: Machine, wrong: Value, words: Words | Value) -> None:
    """Report where the condition holds, unless the value is free."""
    fail(m, m.b.and_(wrong, not_free(m)), words)


def use_symbol(m: Machine, symbol: Value) -> Value:
    """Make a symbol the one that messages name, and its style theirs. Returns its slot."""
    m.set(Reg.SYMBOL, symbol)
    m.set(Reg.STYLE, m.unsigned(m.symbol_record(symbol), 16, 6))
    return m.slot(symbol)


def _eq(m: Machine) -> None:
    expected, words = m.operand(64), m.operand(8)
    m.set(Reg.EXPECTED, expected)
    check(m, m.b.ne(m.get(Reg.VALUE), expected), words)


def _nonzero(m: Machine) -> None:
    words = m.operand(8)
    check(m, m.b.eq(m.get(Reg.VALUE), m.b.i64(0)), words)


def _nonnegative(m: Machine) -> None:
    b = m.b
    big = m.get(Reg.BIG)
    small = b.and_(b.eq(big, b.i64(0)), b.slt(m.get(Reg.VALUE), b.i64(0)))
    fail(m, b.or_(small, b.eq(big, b.i64(BIG_NEGATIVE))), Words.NEGATIVE)


def _bool(m: Machine) -> None:
    b = m.b
    style = m.get(Reg.STYLE)
    fail(m, b.ugt(m.get(Reg.VALUE), b.i64(1)), Words.BOOL)
    m.set(Reg.STYLE, style)


def _fits(m: Machine) -> None:
    """Also where the value is free: nothing is ever wrapped."""
    b = m.b
    bits, signed = m.operand(8), m.operand(8)
    unsigned = b.eq(signed, b.i64(0))
    # As a DLDataType: int is code 0, uint code 1; one lane.
    word = b.or_(b.shl(bits, b.i64(8)), b.i64(1 << 16))
    m.set(Reg.EXPECTED, b.or_(word, b.zext(unsigned, b.types.i64)))
    value, big = m.get(Reg.VALUE), m.get(Reg.BIG)
    greatest = b.lshr(b.i64(-1), b.sub(b.i64(64), bits))
    half = b.add(b.lshr(greatest, b.i64(1)), b.i64(1))
    # value + 2^(bits-1), as an unsigned number, is at most 2^bits - 1.
    in_signed = b.ule(b.add(value, half), greatest)
    wide = b.eq(bits, b.i64(64))
    in_unsigned = b.or_(b.and_(wide, b.sge(value, b.i64(0))), b.ule(value, greatest))
    in_unsigned = b.and_(in_unsigned, b.sge(value, b.i64(0)))
    fits_small = b.select(unsigned, in_unsigned, in_signed)
    fits_big = b.and_(b.and_(unsigned, wide), b.eq(big, b.i64(BIG_UNSIGNED)))
    fits = b.select(b.eq(big, b.i64(0)), fits_small, fits_big)
    fail(m, b.eq(fits, b.i1(False)), Words.FITS)
    # The bits are those of the uint64 from here on.


def _scale(m: Machine) -> None:
    """Also where the value is free."""
    b = m.b
    factor = m.operand(64)
    limit = b.sdiv(b.i64(2**63 - 1), factor)
    m.set(Reg.EXPECTED, limit)
    value = m.get(Reg.VALUE)
    below = b.slt(value, b.sub(b.i64(0), limit))
    fail(m, b.or_(b.sgt(value, limit), below), Words.PACKED)
    m.set(Reg.VALUE, b.mul(value, factor))


def _bound(
    words: Words, wrong: Callable[[Machine, Value, Value, Value], Value]
) -> Callable[[Machine], None]:
    def body(m: Machine) -> None:
        bound, symbol = m.operand(64), m.operand(16)
        use_symbol(m, symbol)
        m.set(Reg.EXPECTED, bound)
        unsigned = m.b.eq(m.get(Reg.STYLE), m.b.i64(Style.UINT))
        check(m, wrong(m, m.get(Reg.VALUE), bound, unsigned), words)

    return body


def _below(m: Machine, value: Value, bound: Value, unsigned: Value) -> Value:
    return m.b.select(unsigned, m.b.ult(value, bound), m.b.slt(value, bound))


def _above(m: Machine, value: Value, bound: Value, unsigned: Value) -> Value:
    return m.b.select(unsigned, m.b.ugt(value, bound), m.b.sgt(value, bound))


def _indivisible(m: Machine, value: Value, divisor: Value, unsigned: Value) -> Value:
    b = m.b
    rest = b.select(unsigned, b.urem(value, divisor), b.srem(value, divisor))
    return b.ne(rest, b.i64(0))


def _contiguous(m: Machine) -> None:
    b = m.b
    tensor = m.pointer(Reg.OBJECT)
    expected = call_shared(
        b, "row_major", [tensor, m.operand(16)], b.types.i64, keeps_registers=True
    )
    m.set(Reg.EXPECTED, expected)
    check(m, b.ne(m.get(Reg.VALUE), expected), Words.CONTIGUOUS)


def _numel(m: Machine) -> None:
    b = m.b
    ndim = b.field(b.types.i32, m.pointer(Reg.OBJECT), NDIM)
    with b.when(b.ne(ndim, b.i32(0))):
        fits = call_shared(
            b, "numel_fits", [m.pointer(Reg.OBJECT)], b.types.i1, keeps_registers=True
        )
        fail(m, b.eq(fits, b.i1(False)), Words.NUMEL)


def _offset(m: Machine) -> None:
    b = m.b
    data, offset = m.get(Reg.VALUE), m.get(Reg.EXPECTED)
    fail(m, b.ult(b.add(data, offset), data), Words.OFFSET)


def _align(m: Machine) -> None:
    b = m.b
    alignment = m.operand(64)
    offset = b.field(
        b.types.i64, m.pointer(Reg.OBJECT), abi.OBJECT_SIZE + abi.DLTENSOR_BYTE_OFFSET
    )
    address = b.add(m.get(Reg.VALUE), offset)
    m.set(Reg.VALUE, address)
    m.set(Reg.EXPECTED, alignment)
    low = b.and_(address, b.sub(alignment, b.i64(1)))
    check(m, b.ne(low, b.i64(0)), Words.ALIGNMENT)


def _same_device(m: Machine) -> None:
    b, t = m.b, m.b.types
    other = b.load(t.ptr, m.slot(m.operand(16)))
    id_ = b.field(t.i32, other, abi.OBJECT_SIZE + abi.DLTENSOR_DEVICE_ID)
    expected = b.sext(id_, t.i64)
    m.set(Reg.EXPECTED, expected)
    m.set(Reg.TEXT, m.pointer(Reg.PC))
    m.set(Reg.PC, b.offset(m.pointer(Reg.PC), 6))
    check(m, b.ne(m.get(Reg.VALUE), expected), Words.SAME_DEVICE)


def _eq_float(m: Machine) -> None:
    b, t = m.b, m.b.types
    expected = m.operand(64)
    m.set(Reg.EXPECTED, expected)
    same = b.same_float(b.bitcast(m.get(Reg.VALUE), t.f64), b.bitcast(expected, t.f64))
    fail(m, b.eq(same, b.i1(False)), Words.EQUAL)


CHECKS: Final[dict[Op, Callable[[Machine], None]]] = {
    Op.SCALE: _scale,
    Op.EQ: _eq,
    Op.NONZERO: _nonzero,
    Op.NONNEGATIVE: _nonnegative,
    Op.BOOL: _bool,
    Op.FITS: _fits,
    Op.MIN: _bound(Words.AT_LEAST, _below),
    Op.MAX: _bound(Words.AT_MOST, _above),
    Op.DIVISIBLE: _bound(Words.DIVISIBLE, _indivisible),
    Op.CONTIGUOUS: _contiguous,
    Op.NUMEL: _numel,
    Op.OFFSET: _offset,
    Op.ALIGN: _align,
    Op.SAME_DEVICE: _same_device,
    Op.EQFLOAT: _eq_float,
}

