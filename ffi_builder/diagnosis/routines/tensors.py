"""Instructions of the table about tensors as a whole, and their dimensions, strides and data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.diagnosis.assembler import Reg
from ffi_builder.diagnosis.instructions import Instruction
from ffi_builder.diagnosis.program import (
    DL,
    NDIM,
    NO_INDEX_BITS,
    PLACE_INDEX,
    PLACE_PART,
    SHAPE,
    STRIDES,
    Program,
)
from ffi_builder.diagnosis.routines.decoding import read_stride
from ffi_builder.diagnosis.table import WORDS, Op
from ffi_builder.plan import Part, Words

_DTYPE: Final = DL + abi.DLTENSOR_DTYPE
_DEVICE_TYPE: Final = DL + abi.DLTENSOR_DEVICE_TYPE
_DEVICE_ID: Final = DL + abi.DLTENSOR_DEVICE_ID
_OFFSET: Final = DL + abi.DLTENSOR_BYTE_OFFSET
_DATA: Final = DL + abi.DLTENSOR_DATA


def _turn_to(p: Program, part: Part, index: Reg | int) -> None:
    """Make this part, an int64, the one that is read next."""
    for register in (p.free, p.big, p.style):
        p.set(register, 0)
    if isinstance(index, int):
        p.or_(p.parameter(), part << PLACE_PART | index, p.place_)
    else:
        p.or_(p.or_(p.parameter(), part << PLACE_PART), index, p.place_)


def define_tensors(p: Program) -> None:
    """Assemble the function that other routines call, too."""
    p.define("tensor", 1, _find_tensor)


def _find_tensor(p: Program, result: Reg) -> None:
    """Turn to the tensor in the current ``TVMFFIAny``; the result is 0 if it holds none."""
    p.run("look inside")
    raw = p.and_(p.eq(p.type, TypeIndex.DL_TENSOR_PTR), p.not_(p.inner))
    kind = p.is_one_of(p.type, TypeIndex.TENSOR, TypeIndex.OBJECT_RVALUE_REF)
    p.or_(raw, kind, result)
    p.set(p.object, p.payload)
    p.set(p.object_type, p.type)
    with p.when(p.and_(raw, p.ne(p.payload, 0))):
        p.add(p.object, -DL, p.object)


def _tensor(p: Program) -> None:
    p.fail(p.not_(p.run_for("tensor")), Words.KIND_TENSOR)


def _head(p: Program) -> None:
    ndim = p.operand(8)
    dtype = p.load(32, p.pc)
    p.skip(4)
    device = p.operand(8)
    with p.when(p.not_(p.object)):
        _turn_to(p, Part.VALUE, NO_INDEX_BITS)
        p.run("report", WORDS.index(Words.OBJECT_NULL))
    for part, offset, expected, words in (
        (Part.NDIM, NDIM, ndim, Words.NDIM),
        (Part.DTYPE, _DTYPE, dtype, Words.DTYPE),
        (Part.DEVICE_TYPE, _DEVICE_TYPE, device, Words.DEVICE_TYPE),
    ):
        with p.when(p.sub(p.load(32, p.object, offset), expected)):
            p.binary(Instruction.LD32, p.object, offset, p.value)
            p.set(p.expected, expected)
            _turn_to(p, part, NO_INDEX_BITS)
            p.run("report", WORDS.index(words))


def _read_dim(p: Program, shape: Reg, axis: Reg) -> None:
    _turn_to(p, Part.SHAPE, p.shl(axis, PLACE_INDEX))
    p.binary(Instruction.LD64, p.add(shape, p.shl(axis, 3)), 0, p.value)
    p.fail(p.slt(p.value, 0), Words.NEGATIVE)


def _dim(p: Program) -> None:
    axis = p.operand(8)
    _read_dim(p, p.load(64, p.object, SHAPE), axis)


def _dims(p: Program) -> None:
    """Check every dimension, from the first on."""
    shape = p.load(64, p.object, SHAPE)
    with p.loop(p.load(32, p.object, NDIM)) as axis:
        _read_dim(p, shape, axis)


def _layout(p: Program) -> None:
    """Check every stride, from the first on, unless a quicker test finds all of them right."""
    column_major = p.operand(8)
    ndim = p.load(32, p.object, NDIM)
    with p.when(p.or_(column_major, _is_odd(p, ndim))), p.loop(ndim) as axis:
        _turn_to(p, Part.STRIDES, p.shl(axis, PLACE_INDEX))
        read_stride(p, axis)
        _check_layout(p, axis, column_major)


def _is_odd(p: Program, ndim: Reg) -> Reg:
    """Find out whether a stride is not the product of the dimensions behind it."""
    strides = p.load(64, p.object, STRIDES)
    odd, product, offset = p.new(), p.new(), p.new()
    p.set(odd, 0)
    with p.when(strides):
        p.set(product, 1)
        p.shl(ndim, 3, offset)
        shape = p.load(64, p.object, SHAPE)
        with p.loop(ndim):
            p.sub(offset, 8, offset)
            p.or_(odd, p.sub(p.load(64, p.add(strides, offset)), product), odd)
            p.mul(product, p.load(64, p.add(shape, offset)), product)
    return odd


def _check_layout(p: Program, axis: Reg, column_major: Reg) -> None:
    """Check that the stride just read is that of the order."""
    p.set(p.expected, p.run_for("row_major", axis))
    words = p.register(WORDS.index(Words.CONTIGUOUS))
    with p.when(column_major):
        p.set(p.expected, p.run_for("column_major", axis))
        p.set(words, WORDS.index(Words.COLUMN_MAJOR))
    p.check(p.ne(p.value, p.expected), words)


def _data(p: Program) -> None:
    """Check element count, offset and pointer. Dimensions are not negative here.

    A product with a dimension of 0 is 0, even if a part of it overflows.
    """
    product = p.new()
    p.set(product, 1)
    p.set(p.overflow, 0)
    shape = p.load(64, p.object, SHAPE)
    with p.loop(p.load(32, p.object, NDIM)) as axis:
        dim = p.load(64, p.add(shape, p.shl(axis, 3)))
        p.effect(Instruction.MULO, product, product, dim)
    with p.when(p.overflow), p.when(p.not_(p.run_for("is_empty"))):
        _turn_to(p, Part.SHAPE, NO_INDEX_BITS)
        p.run("report", WORDS.index(Words.NUMEL))
    _turn_to(p, Part.BYTE_OFFSET, NO_INDEX_BITS)
    p.binary(Instruction.LD64, p.object, _DATA, p.value)
    p.binary(Instruction.LD64, p.object, _OFFSET, p.expected)
    p.fail(p.ult(p.add(p.value, p.expected), p.value), Words.OFFSET)
    _turn_to(p, Part.DATA, NO_INDEX_BITS)
    p.set(p.free, -1)
    p.check(p.not_(p.value), Words.DATA_NULL)


def _align(p: Program) -> None:
    p.shl(p.register(1), p.operand(8), p.expected)
    p.add(p.value, p.load(64, p.object, _OFFSET), p.value)
    p.check(p.and_(p.value, p.sub(p.expected, 1)), Words.ALIGNMENT)


def _shaped(p: Program) -> None:
    """Check that the array of dimensions is there, unless there are no dimensions."""
    with p.when(p.not_(p.load(64, p.object, SHAPE))), p.when(p.load(32, p.object, NDIM)):
        _turn_to(p, Part.SHAPE, NO_INDEX_BITS)
        p.run("report", WORDS.index(Words.SHAPE_NULL))


def _same_device(p: Program) -> None:
    """Compare with the first other tensor that is present and on the same device type."""
    _turn_to(p, Part.DEVICE_ID, NO_INDEX_BITS)
    p.binary(Instruction.LD32, p.object, _DEVICE_ID, p.value)
    own = p.load(32, p.object, _DEVICE_TYPE)
    found = p.new()
    p.set(found, 0)
    with p.loop(p.operand(16)):
        other = p.load(64, p.slot_of(p.operand(16)))
        with p.when(p.and_(p.not_(found), p.ne(other, 0))):
            theirs = p.load(32, other, _DEVICE_TYPE)
            with p.when(p.eq(own, theirs)):
                p.set(found, 1)
                p.binary(Instruction.LD32, other, _DEVICE_ID, p.expected)
                p.set(p.text, p.pc)
        p.skip(6)
    p.fail(p.and_(found, p.ne(p.value, p.expected)), Words.SAME_DEVICE)


def _dtypes(p: Program) -> None:
    """Check that the value is one of these."""
    right = p.new()
    p.set(right, 0)
    with p.loop(p.operand(8)):
        dtype = p.load(32, p.pc)
        p.skip(4)
        p.or_(right, p.eq(p.value, dtype), right)
    p.set(p.text, p.pc)
    p.skip(6)
    p.fail(p.not_(right), Words.DTYPES)


def _same_dtype(p: Program) -> None:
    """Check that the value is the dtype of another tensor."""
    other = p.load(64, p.slot_of(p.operand(16)))
    p.binary(Instruction.LD32, other, _DTYPE, p.expected)
    p.set(p.text, p.pc)
    p.skip(6)
    p.fail(p.ne(p.value, p.expected), Words.SAME_DTYPE)


TENSORS: Final[dict[Op, Callable[[Program], None]]] = {
    Op.TENSOR: _tensor,
    Op.HEAD: _head,
    Op.SHAPED: _shaped,
    Op.DIM: _dim,
    Op.DIMS: _dims,
    Op.LAYOUT: _layout,
    Op.DATA: _data,
    Op.ALIGN: _align,
    Op.SAME_DEVICE: _same_device,
    Op.DTYPES: _dtypes,
    Op.SAME_DTYPE: _same_dtype,
}
