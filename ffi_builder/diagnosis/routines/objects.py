"""Instructions of the table that look at objects, strs and bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.diagnosis.assembler import Label, Reg
from ffi_builder.diagnosis.instructions import Instruction
from ffi_builder.diagnosis.program import Program
from ffi_builder.diagnosis.table import WORDS, Op, Right
from ffi_builder.plan import Words


def define_objects(p: Program) -> None:
    """Assemble the functions that decoding uses."""
    p.define("look", 0, _look)
    p.define("look inside", 0, _look_inside)
    p.define("text parts", 0, _text_parts)
    p.define("same text", 4, _same_text)
    p.define("has key", 1, _has_key)


def _look(p: Program) -> None:
    """Load type index and payload of the current ``TVMFFIAny``."""
    p.binary(Instruction.LD32, p.any, abi.ANY_TYPE_INDEX, p.type)
    p.binary(Instruction.LD64, p.any, abi.ANY_PAYLOAD, p.payload)


def _look_inside(p: Program) -> None:
    """Load the same, but of a moved reference those of the object in it.

    If a pointer on the way is NULL, the type stays that of a moved reference, with a NULL payload.
    """
    p.run("look")
    p.set(p.inner, 0)
    with p.when(p.and_(p.eq(p.type, TypeIndex.OBJECT_RVALUE_REF), p.ne(p.payload, 0))):
        p.binary(Instruction.LD64, p.payload, 0, p.payload)
        with p.when(p.payload):
            p.binary(Instruction.LD32, p.payload, abi.OBJECT_TYPE_INDEX, p.type)
            p.set(p.inner, 1)


# ---- strs and bytes


def _text(p: Program) -> None:
    """Decode a str or bytes. Of small ones, whose bytes are in place, the object is not NULL."""
    binary = p.operand(8)
    p.run("look inside")
    first, words = p.new(), p.new()
    p.set(words, WORDS.index(Words.KIND_STR))
    # By how much the type indices of bytes are greater than those of strs.
    with p.when(binary):
        p.set(words, WORDS.index(Words.KIND_BYTES))
    p.sub(p.type, binary, first)
    small = p.eq(first, TypeIndex.SMALL_STR)
    plain = p.and_(p.or_(small, p.eq(first, TypeIndex.RAW_STR)), p.not_(p.inner))
    object_ = p.or_(p.eq(first, TypeIndex.STR), p.eq(p.type, TypeIndex.OBJECT_RVALUE_REF))
    p.fail(p.not_(p.or_(plain, object_)), words)
    p.set(p.object, p.choose(small, p.any, p.payload))


def _text_parts(p: Program) -> None:
    """Find address and number of the bytes of a str or bytes."""
    p.set(p.data, p.payload)
    p.set(p.size, 0)
    with p.when(p.eq(p.type, TypeIndex.RAW_STR)):
        with p.when(p.not_(p.payload)):
            p.ret()
        _measure(p)
        p.ret()
    with p.when(p.is_one_of(p.type, TypeIndex.SMALL_STR, TypeIndex.SMALL_BYTES)):
        p.add(p.any, abi.ANY_PAYLOAD, p.data)
        p.unsigned(p.any, 32, abi.ANY_SMALL_LENGTH, p.size)
        p.ret()
    array = p.new()
    p.set(array, p.payload)
    with p.when(p.ne(p.type, TypeIndex.BYTE_ARRAY_PTR)):
        p.add(array, abi.CELL_DATA, array)
    p.binary(Instruction.LD64, array, abi.BYTE_ARRAY_DATA, p.data)
    p.binary(Instruction.LD64, array, abi.BYTE_ARRAY_LENGTH, p.size)


def _measure(p: Program) -> None:
    """Count bytes up to the NUL."""
    head = Label()
    p.place(head)
    with p.when(p.load(8, p.add(p.data, p.size))):
        p.add(p.size, 1, p.size)
        p.jump(head)


def _small(p: Program) -> None:
    p.run("text parts")
    p.set(p.value, p.size)
    small = p.is_one_of(p.type, TypeIndex.SMALL_STR, TypeIndex.SMALL_BYTES)
    p.fail(p.and_(small, p.ult(abi.SMALL_CAPACITY, p.size)), Words.SMALL)


def _bytes(p: Program) -> None:
    p.fail(p.and_(p.not_(p.data), p.ne(p.size, 0)), Words.CELLS_NULL)


def _same_text(p: Program, data: Reg, size: Reg, other: Reg, result: Reg) -> None:
    p.set(result, 1)
    with p.loop(size) as index:
        byte, wanted = p.load(8, p.add(data, index)), p.load(8, p.add(other, index))
        with p.when(p.ne(byte, wanted)):
            p.set(result, 0)
            p.ret()


def _choice(p: Program) -> None:
    p.set(p.text, p.pc)
    p.skip(6)
    p.set(p.bindings, p.pc)
    found = p.new()
    p.set(found, 0)
    with p.loop(p.operand(16)):
        text, length = p.table_at(p.operand(32)), p.operand(16)
        with p.when(p.eq(length, p.size)):
            p.or_(found, p.run_for("same text", p.data, length, text), found)
    p.fail(p.not_(found), Words.CHOICE)


# ---- objects


def _object(p: Program) -> None:
    right, static = p.operand(8), p.operand(8)
    p.set(p.text, p.pc)
    p.skip(6)
    p.run("look inside")
    fine = p.new()
    p.set(fine, p.is_one_of(p.type, TypeIndex.OBJECT_RVALUE_REF))
    with p.when(p.inner):
        p.set(fine, 0)
    object_ = p.sle(abi.FIRST_OBJECT, p.type)
    with p.when(p.eq(right, Right.ANY)):
        p.or_(fine, object_, fine)
    with p.when(p.eq(right, Right.BY_KEY)):
        by_key = p.run_for("has key")
        p.or_(by_key, p.and_(object_, p.eq(p.type, static)), by_key)
        p.or_(fine, by_key, fine)
    with p.when(p.and_(object_, p.eq(p.type, right))):
        p.set(fine, 1)
    p.fail(p.not_(fine), Words.KIND_OBJECT)
    p.set(p.object, p.payload)


def _has_key(p: Program, result: Reg) -> None:
    """Find out whether the object's dynamic type, or one of its ancestors, has the key."""
    p.set(result, 0)
    with p.when(p.or_(p.slt(p.type, abi.FIRST_DYNAMIC), p.not_(p.payload))):
        p.ret()
    with p.when(p.ne(p.load(32, p.payload, abi.OBJECT_TYPE_INDEX), p.type)):
        p.ret()
    info = p.binary(Instruction.INFO, p.type, 0)
    key, length = p.table_at(p.unsigned(p.text, 32)), p.unsigned(p.text, 16, 4)
    ancestors = p.load(64, info, abi.TYPE_INFO_ANCESTORS)
    depth, one = p.load(32, info, abi.TYPE_INFO_DEPTH), p.new()
    p.set(one, info)
    # The type itself, then its ancestors.
    with p.loop(p.add(depth, 1)) as index:
        own = p.add(one, abi.TYPE_INFO_KEY)
        with p.when(p.eq(p.load(64, own, abi.BYTE_ARRAY_LENGTH), length)):
            p.or_(result, p.run_for("same text", p.load(64, own), length, key), result)
        with p.when(p.slt(index, depth)):
            p.binary(Instruction.LD64, p.add(ancestors, p.shl(index, 3)), 0, one)


OBJECTS: Final[dict[Op, Callable[[Program], None]]] = {
    Op.TEXT: _text,
    Op.SMALL: _small,
    Op.BYTES: _bytes,
    Op.CHOICE: _choice,
    Op.OBJECT: _object,
}
