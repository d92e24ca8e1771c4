"""Showing a str that came, what it is near to, and the kind of an object."""

from __future__ import annotations

from typing import Final

from ffi_builder import abi
from ffi_builder.diagnosis.assembler import Reg
from ffi_builder.diagnosis.instructions import Instruction
from ffi_builder.diagnosis.program import Program
from ffi_builder.diagnosis.table import STACK_DEPTH
from ffi_builder.plan.messages import (
    LONGEST_NEAREST,
    LONGEST_TYPE_KEY,
    NEAREST,
    SHOWN_ENTRIES,
)

_BEFORE, _BEHIND = NEAREST.split("{nearest}")
_UNPRINTABLE: Final = b"'\"\\"

assert LONGEST_NEAREST < STACK_DEPTH, "the stack holds a row of distances"


def define_strings(p: Program) -> None:
    """Assemble the functions."""
    p.define("put_type", 0, _put_type)
    p.define("put_string", 0, _put_string)
    p.define("distance", 3, _distance)
    p.define("put_nearest", 0, _put_nearest)


def _put_type(p: Program) -> None:
    """Append the type key of an object, or the name of another kind.

    The registry is asked only for a type index that the object itself has. It ends the process if
    asked for one that was never registered.
    """
    with p.when(p.and_(p.sle(abi.FIRST_DYNAMIC, p.type), p.ne(p.payload, 0))):
        own = p.load(32, p.payload, abi.OBJECT_TYPE_INDEX)
        with p.when(p.eq(own, p.type)):
            info = p.binary(Instruction.INFO, p.type, 0)
            key = p.add(info, abi.TYPE_INFO_KEY)
            length = p.load(64, key, abi.BYTE_ARRAY_LENGTH)
            with p.when(p.ule(length, LONGEST_TYPE_KEY)):
                p.append(p.load(64, key), length)
                p.ret()
    p.run("put_name", p.constant("types"), p.type, p.constant("type index %lld"))


def _put_string(p: Program) -> None:
    """Append the str in quotes, with escapes; of a long one the first bytes."""
    p.put("'")
    shown = p.choose(p.ult(SHOWN_ENTRIES, p.size), SHOWN_ENTRIES, p.size)
    with p.loop(shown) as index:
        at = p.add(p.data, index)
        byte = p.load(8, at)
        plain = p.ult(p.sub(byte, 0x20), 0x7F - 0x20)
        plain = p.and_(plain, p.not_(p.is_one_of(byte, *_UNPRINTABLE)))
        with p.when(plain):
            p.append(at, 1)
        with p.when(p.not_(plain)):
            p.run("put_number", p.constant("\\x%02llx"), byte)
    p.put("'")
    with p.when(p.ne(shown, p.size)):
        p.put("...")


def _distance(p: Program, text: Reg, length: Reg, result: Reg) -> None:
    """Count the bytes to insert, delete or replace to get from the str to ``text``.

    This is Levenshtein's distance. The stack holds a row: the distances from the bytes read so far
    to each prefix of the text.
    """
    with p.loop(p.add(length, 1)) as column:
        p.store(column, p.add(p.stack, p.shl(column, 3)))
    with p.loop(p.size) as row:
        byte = p.load(8, p.add(p.data, row))
        diagonal = p.load(64, p.stack)
        left = p.add(row, 1)
        p.store(left, p.stack)
        with p.loop(length) as column:
            at = p.add(p.stack, p.shl(column, 3))
            above = p.load(64, at, 8)
            differs = p.ne(byte, p.load(8, p.add(text, column)))
            p.add(diagonal, differs, diagonal)
            _least(p, diagonal, p.add(above, 1))
            _least(p, diagonal, p.add(left, 1))
            p.set(left, diagonal)
            p.store(left, at, 8)
            p.set(diagonal, above)
    p.binary(Instruction.LD64, p.add(p.stack, p.shl(length, 3)), 0, result)


def _least(p: Program, value: Reg, other: Reg) -> None:
    with p.when(p.slt(other, value)):
        p.set(value, other)


def _put_nearest(p: Program) -> None:
    """Append the first of the nearest choices, unless more than half of the longer str differs."""
    # A str more than twice as long differs in more than half of its characters.
    with p.when(p.ult(2 * LONGEST_NEAREST, p.size)):
        p.ret()
    best, entry, longer = p.new(), p.new(), p.new()
    p.set(best, 2**15 - 1)
    p.set(entry, 0)
    p.set(longer, 0)
    with p.loop(p.unsigned(p.bindings, 16)) as index:
        choice = p.add(p.add(p.bindings, p.mul(index, 6)), 2)
        length = p.unsigned(choice, 16, 4)
        with p.when(p.sle(length, LONGEST_NEAREST)):
            text = p.table_at(p.unsigned(choice, 32))
            distance = p.run_for("distance", text, length)
            with p.when(p.slt(distance, best)):
                p.set(best, distance)
                p.set(entry, choice)
                p.set(longer, p.choose(p.slt(length, p.size), p.size, length))
    with p.when(p.and_(p.sle(p.shl(best, 1), longer), p.ne(entry, 0))):
        p.put(_BEFORE)
        p.append(p.table_at(p.unsigned(entry, 32)), p.unsigned(entry, 16, 4))
        p.put(_BEHIND)
