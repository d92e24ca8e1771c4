"""Instructions of the table that check the value that was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ffi_builder import abi
from ffi_builder.builder.diagnosis.assembler import Instruction, Reg
from ffi_builder.builder.diagnosis.program import (
    BIG_NEGATIVE,
    BIG_UNSIGNED,
    PLACE_INDEX,
    PLACE_PART,
    Program,
)
from ffi_builder.builder.diagnosis.routines.decoding import DL, call_for, read_stride
from ffi_builder.builder.diagnosis.table import WORDS, Op, Style
from ffi_builder.plan import Part, Words

_OFFSET: Final = DL + abi.DLTENSOR_BYTE_OFFSET


def use_symbol(p: Program) -> None:
    """The operand is the symbol that messages name, and its style theirs."""
    p.operand(16, p.symbol)
    p.unsigned(p.symbol_record(p.symbol), 16, 6, p.style)
    p.slot_of(p.symbol, p.slot)


def _eq(p: Program) -> None:
    p.operand(64, p.expected)
    p.check(p.ne(p.value, p.expected), p.operand(8))


def _nonzero(p: Program) -> None:
    p.check(p.not_(p.value), p.operand(8))


def _nonnegative(p: Program) -> None:
    small = p.and_(p.not_(p.big), p.slt(p.value, 0))
    p.fail(p.or_(small, p.eq(p.big, BIG_NEGATIVE)), Words.NEGATIVE)


def _bool(p: Program) -> None:
    p.fail(p.ult(p.register(1), p.value), Words.BOOL)


def _fits(p: Program) -> None:
    """Also where the value is free: nothing is ever wrapped."""
    bits, signed = p.operand(8), p.operand(8)
    unsigned = p.not_(signed)
    # As a DLDataType: int is code 0, uint code 1; one lane.
    p.or_(p.or_(p.shl(bits, 8), 1 << 16), unsigned, p.expected)
    wide = p.and_(unsigned, p.eq(bits, 64))
    small = p.not_(p.big)
    # value + 2^(bits - 1) is at most 2^bits - 1, as an unsigned number.
    greatest = p.lshr(p.register(-1), p.sub(64, bits))
    shifted = p.add(p.value, p.choose(signed, p.add(p.lshr(greatest, 1), 1), 0))
    fits = p.and_(small, p.ule(shifted, greatest))
    with p.when(wide):
        fits_small = p.and_(small, p.sle(0, p.value))
        p.or_(fits_small, p.eq(p.big, BIG_UNSIGNED), fits)
    p.fail(p.not_(fits), Words.FITS)


def _scale(p: Program) -> None:
    """Also where the value is free."""
    factor = p.operand(64)
    p.sdiv(2**63 - 1, factor, p.expected)
    below = p.slt(p.value, p.sub(0, p.expected))
    p.fail(p.or_(p.slt(p.expected, p.value), below), Words.PACKED)
    p.mul(p.value, factor, p.value)


def _bound(words: Words, wrong: Callable[[Program, Reg], Reg]) -> Callable[[Program], None]:
    def body(p: Program) -> None:
        p.operand(64, p.expected)
        use_symbol(p)
        p.check(wrong(p, p.eq(p.style, Style.UINT)), words)

    return body


def _less(p: Program, lhs: Reg, rhs: Reg, unsigned: Reg) -> Reg:
    return p.choose(unsigned, p.ult(lhs, rhs), p.slt(lhs, rhs))


def _indivisible(p: Program, unsigned: Reg) -> Reg:
    return p.choose(unsigned, p.urem(p.value, p.expected), p.srem(p.value, p.expected))


def _check_layout(p: Program, axis: Reg, column_major: Reg) -> None:
    """Whether the stride that was read is that of the order."""
    p.set(p.expected, call_for(p, "row_major", axis))
    words = p.register(WORDS.index(Words.CONTIGUOUS))
    with p.when(column_major):
        p.set(p.expected, call_for(p, "column_major", axis))
        p.set(words, WORDS.index(Words.COLUMN_MAJOR))
    p.check(p.ne(p.value, p.expected), words)


def _layout(p: Program) -> None:
    """Every stride, from the first; unless a quick look, from the last, says that all are right."""
    column_major = p.operand(8)
    ndim = p.load(32, p.object, DL + abi.DLTENSOR_NDIM)
    with p.when(p.or_(column_major, _is_odd(p, ndim))), p.loop(ndim) as axis:
        _at_axis(p, Part.STRIDES, axis)
        read_stride(p, axis)
        _check_layout(p, axis, column_major)


def _is_odd(p: Program, ndim: Reg) -> Reg:
    """Whether a stride is not the product of the dimensions behind it; NULL stands for those."""
    strides = p.load(64, p.object, DL + abi.DLTENSOR_STRIDES)
    odd, product, offset = p.new(), p.new(), p.new()
    p.set(odd, 0)
    with p.when(strides):
        p.set(product, 1)
        p.shl(ndim, 3, offset)
        shape = p.load(64, p.object, DL + abi.DLTENSOR_SHAPE)
        with p.loop(ndim):
            p.sub(offset, 8, offset)
            p.or_(odd, p.ne(p.load(64, p.add(strides, offset)), product), odd)
            p.mul(product, p.load(64, p.add(shape, offset)), product)
    return odd


def _dims(p: Program) -> None:
    """Every dimension, from the first."""
    shape = p.load(64, p.object, DL + abi.DLTENSOR_SHAPE)
    with p.loop(p.load(32, p.object, DL + abi.DLTENSOR_NDIM)) as axis:
        _at_axis(p, Part.SHAPE, axis)
        p.binary(Instruction.LD64, p.add(shape, p.shl(axis, 3)), 0, p.value)
        p.fail(p.slt(p.value, 0), Words.NEGATIVE)


def _at_axis(p: Program, part: Part, axis: Reg) -> None:
    """Turn to a dimension or stride, which is shown as an int64, whatever was read before."""
    for register in (p.big, p.style):
        p.set(register, 0)
    place = p.or_(p.parameter(), p.shl(p.register(part), PLACE_PART))
    p.or_(place, p.shl(axis, PLACE_INDEX), p.place_)


def _dtypes(p: Program) -> None:
    """The value is one of these."""
    right = p.new()
    p.set(right, 0)
    with p.loop(p.operand(8)):
        dtype = p.load(32, p.pc)
        p.skip(4)
        p.or_(right, p.eq(p.value, dtype), right)
    p.set(p.text, p.pc)
    p.skip(6)
    p.fail(p.not_(right), Words.DTYPES)


def _numel(p: Program) -> None:
    """Dimensions are not negative here; one of 0 makes the product 0, whatever the others are."""
    product = p.new()
    p.set(product, 1)
    p.set(p.overflow, 0)
    shape = p.load(64, p.object, DL + abi.DLTENSOR_SHAPE)
    with p.loop(p.load(32, p.object, DL + abi.DLTENSOR_NDIM)) as axis:
        dim = p.load(64, p.add(shape, p.shl(axis, 3)))
        p.effect(Instruction.MULO, product, product, dim)
    with p.when(p.overflow):
        p.fail(p.not_(call_for(p, "is_empty")), Words.NUMEL)


def _offset(p: Program) -> None:
    p.fail(p.ult(p.add(p.value, p.expected), p.value), Words.OFFSET)


def _align(p: Program) -> None:
    p.operand(64, p.expected)
    p.add(p.value, p.load(64, p.object, _OFFSET), p.value)
    p.check(p.and_(p.value, p.sub(p.expected, 1)), Words.ALIGNMENT)


def _same_device(p: Program) -> None:
    """The first of the others that is there, and on this tensor's device type, counts."""
    own = p.load(32, p.object, DL + abi.DLTENSOR_DEVICE_TYPE)
    found = p.new()
    p.set(found, 0)
    with p.loop(p.operand(16)):
        other = p.load(64, p.slot_of(p.operand(16)))
        with p.when(p.and_(p.not_(found), p.ne(other, 0))):
            theirs = p.load(32, other, DL + abi.DLTENSOR_DEVICE_TYPE)
            with p.when(p.eq(own, theirs)):
                p.set(found, 1)
                p.binary(Instruction.LD32, other, DL + abi.DLTENSOR_DEVICE_ID, p.expected)
                p.set(p.text, p.pc)
        p.skip(6)
    p.fail(p.and_(found, p.ne(p.value, p.expected)), Words.SAME_DEVICE)


def _eq_float(p: Program) -> None:
    p.operand(64, p.expected)
    p.fail(p.not_(p.binary(Instruction.SAME, p.value, p.expected)), Words.EQUAL)


CHECKS: Final[dict[Op, Callable[[Program], None]]] = {
    Op.SCALE: _scale,
    Op.EQ: _eq,
    Op.NONZERO: _nonzero,
    Op.NONNEGATIVE: _nonnegative,
    Op.BOOL: _bool,
    Op.FITS: _fits,
    Op.MIN: _bound(Words.AT_LEAST, lambda p, u: _less(p, p.value, p.expected, u)),
    Op.MAX: _bound(Words.AT_MOST, lambda p, u: _less(p, p.expected, p.value, u)),
    Op.DIVISIBLE: _bound(Words.DIVISIBLE, _indivisible),
    Op.LAYOUT: _layout,
    Op.DIMS: _dims,
    Op.DTYPES: _dtypes,
    Op.NUMEL: _numel,
    Op.OFFSET: _offset,
    Op.ALIGN: _align,
    Op.SAME_DEVICE: _same_device,
    Op.EQFLOAT: _eq_float,
}
