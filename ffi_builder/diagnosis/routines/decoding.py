"""Instructions of the table that look at arguments and read their parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.diagnosis.assembler import Reg
from ffi_builder.diagnosis.instructions import Instruction
from ffi_builder.diagnosis.program import (
    BIG_BEYOND,
    BIG_NEGATIVE,
    BIG_UNSIGNED,
    DL,
    NDIM,
    NO_INDEX_BITS,
    PLACE_INDEX,
    PLACE_PART,
    SHAPE,
    SLOT_PLACE,
    STRIDES,
    Program,
)
from ffi_builder.diagnosis.routines.rounding import define_rounding
from ffi_builder.diagnosis.table import (
    NO_INDEX,
    SCALAR_BITS,
    WORDS,
    Op,
    Rounding,
    Source,
)
from ffi_builder.plan import Words


def define_decoding(p: Program) -> None:
    """Assemble the functions that the instructions below use."""
    define_rounding(p)
    p.define("is_empty", 1, _is_empty)
    p.define("is_free", 1, _is_free)
    p.define("refuse", 1, _refuse)
    p.define("row_major", 2, _row_major)
    p.define("column_major", 2, _column_major)
    p.define("big_int", 0, _big_int)
    p.define("read", 2, _read_part)


def _is_empty(p: Program, result: Reg) -> None:
    """Find out whether a dimension of the current tensor is 0."""
    p.set(result, 0)
    shape = p.load(64, p.object, SHAPE)
    with p.loop(p.load(32, p.object, NDIM)) as axis:
        dim = p.load(64, p.add(shape, p.shl(axis, 3)))
        p.or_(result, p.not_(dim), result)


def _is_free(p: Program, result: Reg) -> None:
    """Find out whether checks do not apply to the value. Called only once one has failed."""
    p.set(result, 0)
    with p.when(p.free):
        with p.when(p.slt(0, p.free)):
            shape = p.load(64, p.object, SHAPE)
            single = p.eq(p.load(64, p.add(shape, p.shl(p.free, 3)), -8), 1)
            with p.when(single):
                p.set(result, 1)
                p.ret()
        p.set(result, p.run_for("is_empty"))


def _refuse(p: Program, words: Reg) -> None:
    """Report an error if checks apply to the value."""
    with p.when(p.not_(p.run_for("is_free"))):
        p.run("report", words)


def _row_major(p: Program, axis: Reg, result: Reg) -> None:
    """Multiply the dimensions behind an axis, modulo 2^64."""
    p.set(result, 1)
    following = p.add(axis, 1)
    shape = p.add(p.load(64, p.object, SHAPE), p.shl(following, 3))
    with p.loop(p.sub(p.load(32, p.object, NDIM), following)) as index:
        dim = p.load(64, p.add(shape, p.shl(index, 3)))
        p.mul(result, dim, result)


def _column_major(p: Program, axis: Reg, result: Reg) -> None:
    """Multiply the dimensions before an axis, modulo 2^64."""
    p.set(result, 1)
    shape = p.load(64, p.object, SHAPE)
    with p.loop(axis) as index:
        dim = p.load(64, p.add(shape, p.shl(index, 3)))
        p.mul(result, dim, result)


def _big_int(p: Program) -> None:
    """Read value and kind of a BigInt: a word count and the words, least significant first."""
    p.set(p.value, 0)
    p.set(p.big, BIG_BEYOND)
    with p.when(p.not_(p.payload)):
        p.ret()
    count = p.load(64, p.payload, abi.BIG_INT_COUNT)
    words = p.add(p.payload, abi.BIG_INT_WORDS)
    p.set(p.big, 0)
    with p.when(p.sle(count, 0)):
        p.ret()
    p.binary(Instruction.LD64, words, 0, p.value)
    last = p.load(64, p.add(words, p.shl(count, 3)), -8)
    with p.when(p.slt(last, 0)):
        # One word is an int64 like any other.
        with p.when(p.ne(count, 1)):
            p.set(p.big, BIG_NEGATIVE)
        p.ret()
    p.set(p.big, p.slt(p.value, 0))
    with p.loop(p.sub(count, 1)) as index, p.when(p.load(64, p.add(words, p.shl(index, 3)), 8)):
        p.set(p.big, BIG_BEYOND)


# ---- instructions


def _param(p: Program) -> None:
    """Set the place to the position of this record's operands in the table."""
    p.or_(p.sub(p.pc, p.table), NO_INDEX_BITS, p.place_)
    p.skip(8)


def _arg(p: Program) -> None:
    p.add(p.args, p.shl(p.operand(16), 4), p.any)
    p.set(p.optional, 0)


def _elem(p: Program) -> None:
    p.add(p.load(64, p.object, abi.CELL_DATA), p.shl(p.operand(16), 4), p.any)
    p.set(p.optional, 0)


def _optional(p: Program) -> None:
    """Skip steps if None came; the slot remembers whether something else did."""
    slot, size = p.slot_of(p.operand(16)), p.operand(32)
    p.run("look")
    p.store(p.type, slot)
    p.set(p.optional, 1)
    with p.when(p.not_(p.type)):
        p.skip(size)


def _guard(p: Program) -> None:
    slot, size = p.slot_of(p.operand(16)), p.operand(32)
    with p.when(p.not_(p.load(64, slot))):
        p.skip(size)


def _container(p: Program) -> None:
    words = p.operand(8)
    p.run("look inside")
    list_ = p.is_one_of(p.type, TypeIndex.ARRAY, TypeIndex.LIST, TypeIndex.OBJECT_RVALUE_REF)
    wants_shape = p.eq(words, WORDS.index(Words.KIND_SHAPE))
    shape = p.and_(wants_shape, p.eq(p.type, TypeIndex.SHAPE))
    p.fail(p.not_(p.or_(list_, shape)), words)
    p.set(p.object, p.payload)
    p.set(p.object_type, p.type)


def _save(p: Program) -> None:
    slot = p.slot_of(p.operand(16))
    p.store(p.object, slot)
    p.store(p.object_type, slot, SLOT_PLACE)


def _restore(p: Program) -> None:
    slot = p.slot_of(p.operand(16))
    p.binary(Instruction.LD64, slot, 0, p.object)
    p.binary(Instruction.LD64, slot, SLOT_PLACE, p.object_type)


def _scalar(p: Program) -> None:
    mask, words = p.operand(8), p.operand(8)
    p.operand(8, p.style)
    p.run("look")
    p.set(p.free, 0)
    p.set(p.big, 0)
    is_big = p.eq(p.type, TypeIndex.BIG_INT)
    last = SCALAR_BITS.index(TypeIndex.BIG_INT)
    bit = p.choose(is_big, last, p.choose(p.ult(p.type, last), p.type, 63))
    p.fail(p.not_(p.and_(p.lshr(mask, bit), 1)), words)
    p.set(p.value, p.choose(p.type, p.payload, 0))
    with p.when(is_big):
        p.run("big_int")
    # An address is unsigned.
    with p.when(p.eq(p.type, TypeIndex.OPAQUE_PTR)):
        p.set(p.big, p.choose(p.slt(p.value, 0), BIG_UNSIGNED, 0))


def _float(p: Program) -> None:
    rounding = p.operand(8)
    with p.when(p.ne(p.type, TypeIndex.FLOAT)):
        p.effect(Instruction.FLOAT, p.value, p.value)
    with p.when(p.eq(rounding, Rounding.FLOAT32)):
        p.effect(Instruction.SINGLE, p.value, p.value)
    for half, (precision, least) in {
        Rounding.FLOAT16: (11, -14),
        Rounding.BFLOAT16: (8, -126),
    }.items():
        with p.when(p.eq(rounding, half)):
            p.run("round", precision, least)


def _read(p: Program) -> None:
    source = p.operand(8)
    p.run("read", source, NO_INDEX)


def _read_entry(p: Program) -> None:
    source, index = p.operand(8), p.operand(16)
    p.run("read", source, index)


def _read_part(p: Program, source: Reg, index: Reg) -> None:
    """Read a part. Each body sets the value, and ``free`` if checks may not apply to it."""
    for register in (p.free, p.big, p.style):
        p.set(register, 0)
    is_part = p.or_(p.sle(source, Source.ARGUMENTS), p.eq(source, Source.ELEMENTS))
    part = p.choose(is_part, source, 0)
    place = p.or_(p.parameter(), p.shl(part, PLACE_PART))
    p.or_(place, p.shl(index, PLACE_INDEX), p.place_)
    nothing: Callable[[Program, Reg], None] = lambda p, index: None  # noqa: E731
    bodies = [_SOURCES.get(number, nothing) for number in range(max(Source) + 1)]
    p.cases(source, [lambda body=body: body(p, index) for body in bodies])


def _field(bits: int, offset: int) -> Callable[[Program, Reg], None]:
    return lambda p, _: _set(p, p.load(bits, p.object, offset))


def _register(register: Reg) -> Callable[[Program, Reg], None]:
    return lambda p, _: _set(p, register)


def _set(p: Program, value: Reg) -> None:
    p.set(p.value, value)


def _dim(p: Program, index: Reg) -> None:
    shape = p.load(64, p.object, SHAPE)
    _set(p, p.load(64, p.add(shape, p.shl(index, 3))))


def read_stride(p: Program, index: Reg) -> None:
    """Read a stride as it is stored, or the row-major one if the pointer is NULL."""
    strides = p.load(64, p.object, STRIDES)
    with p.when(strides):
        _set(p, p.load(64, p.add(strides, p.shl(index, 3))))
    with p.when(p.not_(strides)):
        _set(p, p.run_for("row_major", index))
    p.add(index, 1, p.free)


def _entry(p: Program, index: Reg) -> None:
    """Read an int64 of a Shape, or an int or bool of an Array or List."""
    cells = p.load(64, p.object, abi.CELL_DATA)
    is_shape = p.eq(p.object_type, TypeIndex.SHAPE)
    with p.when(is_shape):
        _set(p, p.load(64, p.add(cells, p.shl(index, 3))))
    with p.when(p.not_(is_shape)):
        p.add(cells, p.shl(index, 4), p.any)
        p.set(p.optional, 0)
        p.run("look")
        p.fail(p.not_(p.is_one_of(p.type, TypeIndex.INT, TypeIndex.BOOL)), Words.KIND_INT)
        _set(p, p.payload)


_SOURCES: Final[dict[int, Callable[[Program, Reg], None]]] = {
    Source.NDIM: _field(32, NDIM),
    Source.DTYPE: _field(32, DL + abi.DLTENSOR_DTYPE),
    Source.DEVICE_TYPE: _field(32, DL + abi.DLTENSOR_DEVICE_TYPE),
    Source.DEVICE_ID: _field(32, DL + abi.DLTENSOR_DEVICE_ID),
    Source.SHAPE: _dim,
    Source.STRIDES: read_stride,
    Source.ENTRY: _entry,
    Source.COUNT: _register(Program.count),
    Source.ARGUMENTS: _register(Program.args),
    Source.OBJECT: _register(Program.object),
    Source.LENGTH: _field(64, abi.CELL_SIZE),
    Source.CELLS: _field(64, abi.CELL_DATA),
    Source.ELEMENTS: _field(64, abi.CELL_SIZE),
}

DECODING: Final[dict[Op, Callable[[Program], None]]] = {
    Op.PARAM: _param,
    Op.ARG: _arg,
    Op.ELEM: _elem,
    Op.OPTIONAL: _optional,
    Op.GUARD: _guard,
    Op.CONTAINER: _container,
    Op.SAVE: _save,
    Op.RESTORE: _restore,
    Op.SCALAR: _scalar,
    Op.FLOAT: _float,
    Op.READ: _read,
    Op.ENTRY: _read_entry,
}
