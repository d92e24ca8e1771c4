"""The instruction of the table that compares the memory of tensors.

The memory of a tensor is the range from its first to its last byte. Both ends stay within the
address space: where an end would lie outside, or is more than an int64 of elements away, it is
that of the address space.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ffi_builder import abi
from ffi_builder.diagnosis.assembler import Reg
from ffi_builder.diagnosis.instructions import Instruction
from ffi_builder.diagnosis.program import DL, NDIM, NO_INDEX_BITS, SHAPE, Program
from ffi_builder.diagnosis.routines.decoding import read_stride
from ffi_builder.diagnosis.table import Op
from ffi_builder.plan import Words

_DTYPE_BITS: Final = DL + abi.DLTENSOR_DTYPE_BITS
_DTYPE_LANES: Final = DL + abi.DLTENSOR_DTYPE_LANES
_DEVICE_TYPE: Final = DL + abi.DLTENSOR_DEVICE_TYPE
_LOW: Final = 0xFFFFFFFF


def define_overlap(p: Program) -> None:
    """Assemble the functions, each before those that call it."""
    p.define("bytes", 3, _bytes)
    p.define("reach", 2, _reach)
    p.define("extent", 3, _extent)
    p.define("overlap", 1, _overlap)


def _bytes(p: Program, count: Reg, bits: Reg, result: Reg) -> None:
    """Set ``result`` to the bytes that elements of ``bits`` bits need, at most 2^64 - 1.

    Eight elements are ``bits`` bytes. The product is computed by halves, to notice an overflow.
    """
    eights = p.lshr(count, 3)
    upper = p.mul(p.lshr(eights, 32), bits)
    lower = p.lshr(p.mul(p.and_(eights, _LOW), bits), 32)
    too_many = p.lshr(p.add(upper, lower), 32)
    whole = p.mul(eights, bits)
    rest = p.lshr(p.add(p.mul(p.and_(count, 7), bits), 7), 3)
    p.add(whole, rest, result)
    with p.when(p.or_(too_many, p.ult(result, whole))):
        p.set(result, -1)


def _reach(p: Program, negative: Reg, result: Reg) -> None:
    """Count the elements before the first one of the current tensor, or those from it on.

    Strides of one sign lead there. Sets the overflow register if their sum does not fit int64.
    """
    p.set(result, 0)
    p.set(p.overflow, 0)
    shape = p.load(64, p.object, SHAPE)
    step = p.new()
    with p.loop(p.load(32, p.object, NDIM)) as axis:
        read_stride(p, axis)
        with p.when(p.eq(p.slt(p.value, 0), negative)):
            dim = p.load(64, p.add(shape, p.shl(axis, 3)))
            p.effect(Instruction.MULO, step, p.value, p.sub(dim, 1))
            p.effect(Instruction.ADDO, result, result, step)
    with p.when(negative):
        p.sub(0, result, result)
        p.ret()
    p.add(result, 1, result)


def _extent(p: Program, first: Reg, last: Reg, found: Reg) -> None:
    """Find the first and last byte of the current tensor.

    ``found`` is 0 if it has no elements, or is on a device outside of the unified address space.
    """
    p.set(found, 0)
    device = p.load(32, p.object, _DEVICE_TYPE)
    codes = [abi.DEVICE_TYPES[name] for name in abi.UNIFIED_DEVICES]
    with p.when(p.or_(p.not_(p.is_one_of(device, *codes)), p.run_for("is_empty"))):
        p.ret()
    p.set(found, 1)
    bits = p.mul(p.load(8, p.object, _DTYPE_BITS), p.load(16, p.object, _DTYPE_LANES))
    start = p.add(
        p.load(64, p.object, DL + abi.DLTENSOR_DATA),
        p.load(64, p.object, DL + abi.DLTENSOR_BYTE_OFFSET),
    )
    before = _side(p, 1, bits)
    p.set(first, p.choose(p.ult(start, before), 0, p.sub(start, before)))
    behind = _side(p, 0, bits)
    p.add(start, p.sub(behind, 1), last)
    with p.when(p.ult(last, start)):
        p.set(last, -1)


def _side(p: Program, negative: int, bits: Reg) -> Reg:
    """Return the number of bytes before the first element, or from it on."""
    count = p.run_for("reach", negative)
    size = p.new()
    p.set(size, p.run_for("bytes", count, bits))
    with p.when(p.overflow):
        p.set(size, -1)
    return size


def _overlap(p: Program, result: Reg) -> None:
    """Find the first other tensor that is present and overlaps. An absent one's slot holds 0.

    Messages then show both extents: the current tensor's is in ``value`` and ``expected``.
    """
    p.set(result, 0)
    own, first, last, found = (p.new() for _ in range(4))
    p.set(own, p.object)
    _copy_extent(p, first, last, found)
    with p.loop(p.operand(16)):
        p.binary(Instruction.LD64, p.slot_of(p.operand(16)), 0, p.object)
        p.set(p.text, p.pc)
        p.skip(6)
        with p.when(p.and_(found, p.ne(p.object, 0))):
            there = p.new()
            _copy_extent(p, p.data, p.size, there)
            apart = p.or_(p.ult(last, p.data), p.ult(p.size, first))
            with p.when(p.and_(there, p.not_(apart))):
                p.set(p.value, first)
                p.set(p.expected, last)
                p.set(result, 1)
                p.ret()
    p.set(p.object, own)


def _copy_extent(p: Program, *registers: Reg) -> None:
    """Copy the extent of the current tensor into registers."""
    p.run("extent", 0, 0, 0)
    for register, value in zip(registers, p.functions["extent"].parameters, strict=True):
        p.set(register, value)


def _check(p: Program) -> None:
    p.or_(p.parameter(), NO_INDEX_BITS, p.place_)
    p.fail(p.run_for("overlap"), Words.OVERLAP)


OVERLAP: Final[dict[Op, Callable[[Program], None]]] = {Op.OVERLAP: _check}
