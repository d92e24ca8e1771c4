"""The instruction of the table that compares the memory of tensors.

The memory of a tensor is the range from its first to its last byte. Both ends stay within the
address space: where an end would lie outside, or is more than an int64 of elements away, it is
that of the address space.
"""

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
    SHAPE,
    SLOT_PLACE,
    Program,
)
from ffi_builder.diagnosis.routines.decoding import read_stride
from ffi_builder.diagnosis.table import LATER, Op
from ffi_builder.plan import Words

_DTYPE_BITS: Final = DL + abi.DLTENSOR_DTYPE_BITS
_DTYPE_LANES: Final = DL + abi.DLTENSOR_DTYPE_LANES
_DEVICE_TYPE: Final = DL + abi.DLTENSOR_DEVICE_TYPE
_LOW: Final = 0xFFFFFFFF
_MOST_CERTAIN: Final = 64
"""A bit for each of the others fits a register."""


def define_overlap(p: Program) -> None:
    """Assemble the functions, each before those that call it."""
    p.define("bytes", 3, _bytes)
    p.define("reach", 2, _reach)
    p.define("extent", 3, _extent)
    p.define("count", 3, _count)
    p.define("turn", 4, _turn)
    p.define("hull", 5, _hull)
    p.define("certain", 4, _certain)
    p.define("overlap others", 6, _overlap_others)
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

    ``found`` is 0 if there is none, it has no elements, or is on a device outside of the unified
    address space.
    """
    p.set(found, 0)
    with p.when(p.not_(p.object)):
        p.ret()
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


def _count(p: Program, kind: Reg, holder: Reg, result: Reg) -> None:
    """Count the tensors of a list; any other object is one tensor."""
    p.set(result, 1)
    with p.when(_is_list(p, kind)):
        p.binary(Instruction.LD64, holder, abi.CELL_SIZE, result)


def _turn(p: Program, kind: Reg, holder: Reg, index: Reg, result: Reg) -> None:
    """Turn to a tensor, or to an element of a list. The result is the number that errors show."""
    p.set(result, 0)
    p.set(p.object, holder)
    with p.when(_is_list(p, kind)):
        p.add(p.load(64, holder, abi.CELL_DATA), p.shl(index, 4), p.any)
        with p.when(p.not_(p.run_for("tensor"))):  # another thread has changed it
            p.set(p.object, 0)
        p.add(index, 1, result)


def _is_list(p: Program, kind: Reg) -> Reg:
    return p.is_one_of(kind, TypeIndex.ARRAY, TypeIndex.LIST)


def _hull(p: Program, kind: Reg, holder: Reg, first: Reg, last: Reg, in_order: Reg) -> None:
    """Find the first and last byte of all tensors of a list.

    ``in_order`` says that each lies outside of the bytes from the first to the last of those before
    it. So no two overlap.
    """
    p.set(first, -1)
    p.set(last, 0)
    p.set(in_order, 1)
    limit = p.new()
    p.set(limit, p.run_for("count", kind, holder))
    with p.loop(limit) as index:
        p.run_for("turn", kind, holder, index)
        start, end, found = _copied(p, "extent")
        with p.when(found):
            outside = p.or_(p.ult(end, first), p.ult(last, start))
            p.and_(in_order, outside, in_order)
            p.set(first, p.choose(p.ult(start, first), start, first))
            p.set(last, p.choose(p.ult(last, end), end, last))


def _certain(p: Program, kind: Reg, own: Reg, count: Reg, result: Reg) -> None:
    """Set a bit for each of the others that certainly overlaps with no element of the own list.

    Comparing all elements with all others takes long, and mostly it is not needed.
    """
    p.set(result, 0)
    with p.when(p.or_(p.not_(_is_list(p, kind)), p.ult(_MOST_CERTAIN, count))):
        p.ret()
    first, last, in_order = _copied(p, "hull", kind, own)
    with p.loop(count) as number:
        slot, apart = p.new(), p.new()
        p.operand(16, slot)
        p.skip(6)
        p.set(apart, in_order)
        with p.when(p.ne(slot, LATER)):
            at = p.slot_of(slot)
            other, other_kind = p.load(64, at), p.load(64, at, SLOT_PLACE)
            with p.when(other):
                start, end, _ = _copied(p, "hull", other_kind, other)
                p.or_(p.ult(last, start), p.ult(end, first), apart)
        p.or_(result, p.shl(apart, number), result)


def _overlap(p: Program, result: Reg) -> None:
    """Find the first tensor that overlaps with another one, and the first of these others."""
    p.set(result, 0)
    kind, own, limit, count, others, certain = (p.new() for _ in range(6))
    p.set(kind, p.object_type)
    p.set(own, p.object)
    p.set(limit, p.run_for("count", kind, own))
    p.operand(16, count)
    p.set(others, p.pc)
    p.set(certain, p.run_for("certain", kind, own, count))
    with p.loop(limit) as index:
        p.set(p.element, p.run_for("turn", kind, own, index))
        p.set(p.pc, others)
        with p.when(p.run_for("overlap others", count, certain, kind, own, index)):
            p.set(result, 1)
            p.ret()
    p.set(p.element, 0)
    p.add(others, p.shl(count, 3), p.pc)


def _overlap_others(
    p: Program, count: Reg, certain: Reg, own_kind: Reg, own: Reg, index: Reg, result: Reg
) -> None:
    """Find the first other tensor that overlaps with the current one, number ``index`` of its list.

    An absent one's slot holds 0. Messages then show both extents: the current tensor's is in
    ``value`` and ``expected``.
    """
    p.set(result, 0)
    first, last, found = _copied(p, "extent")
    with p.loop(count) as number:
        slot, kind, other, start = (p.new() for _ in range(4))
        p.operand(16, slot)
        p.set(p.text, p.pc)
        p.skip(6)
        p.set(kind, own_kind)
        p.set(other, own)
        p.add(index, 1, start)
        with p.when(p.ne(slot, LATER)):
            at = p.slot_of(slot)
            p.binary(Instruction.LD64, at, 0, other)
            p.binary(Instruction.LD64, at, SLOT_PLACE, kind)
            p.set(start, 0)
        # With more others than bits, none is set.
        skipped = p.and_(p.lshr(certain, p.and_(number, _MOST_CERTAIN - 1)), 1)
        with p.when(p.and_(p.and_(found, p.not_(skipped)), p.ne(other, 0))):
            limit = p.new()
            p.set(limit, p.run_for("count", kind, other))
            with p.loop(p.sub(limit, start)) as step:
                p.set(p.other, p.run_for("turn", kind, other, p.add(step, start)))
                p.run("extent", 0, 0, 0)
                from_, to, there = p.functions["extent"].parameters
                p.set(p.data, from_)
                p.set(p.size, to)
                apart = p.or_(p.ult(last, p.data), p.ult(p.size, first))
                with p.when(p.and_(there, p.not_(apart))):
                    p.set(p.value, first)
                    p.set(p.expected, last)
                    p.set(result, 1)
                    p.ret()


def _copied(p: Program, name: str, *arguments: Reg) -> list[Reg]:
    """Call a function that has three results; return copies of them."""
    p.run(name, *arguments, 0, 0, 0)
    copies = [p.new() for _ in range(3)]
    for register, value in zip(copies, p.functions[name].parameters[-3:], strict=True):
        p.set(register, value)
    return copies


def _check(p: Program) -> None:
    p.or_(p.parameter(), NO_INDEX_BITS, p.place_)
    p.fail(p.run_for("overlap"), Words.OVERLAP)


OVERLAP: Final[dict[Op, Callable[[Program], None]]] = {Op.OVERLAP: _check}
