"""The vocabulary that the diagnosis is written in: registers by name, operations by name.

A *place* is packed into one register, so that a symbol can remember where it was bound: the
position of its PARAM record in the table (32 bits; 0 is no argument), the part (8), the index (16;
0xFFFF is none), and whether the value is that of a symbol that was solved for (8).
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum, auto
from functools import partial, partialmethod
from typing import Final

from ffi_builder.diagnosis import constants
from ffi_builder.diagnosis.assembler import ZERO, Assembler, Function, Operand, Reg
from ffi_builder.diagnosis.instructions import Instruction
from ffi_builder.diagnosis.table import (
    NO_INDEX,
    SCRATCH_AT,
    SLOT_SIZE,
    SLOTS_AT,
    STACK_AT,
    WORDS,
    Head,
)
from ffi_builder.plan import Words

PLACE_PART: Final = 32
PLACE_INDEX: Final = 40
PLACE_SOLVED: Final = 56
PARAMETER_MASK: Final = 0xFFFFFFFF

SLOT_PLACE: Final = 8
"""A slot of a symbol: value, place, state. Of an object: its address, its type index."""
SLOT_STATE: Final = 16
PROVISIONAL: Final = 1
BOUND: Final = 2

BIG_UNSIGNED: Final = 1
"""The value is at least 2^63, and its bits are those of a uint64."""
BIG_BEYOND: Final = 2
BIG_NEGATIVE: Final = 3


class Global(IntEnum):
    """Registers that all functions share."""

    ZERO = 0
    OVERFLOW = auto()
    STATUS = auto()
    """What the wrapper returns: -1."""
    FRAME = auto()
    """Address of register 0; what stands behind the registers, :mod:`.table` says."""
    ARGS = auto()
    COUNT = auto()
    TABLE = auto()
    CODE = auto()
    """Address of the constant that holds the words, then the code."""
    SLOTS = auto()
    PC = auto()
    """Address of the next byte of the table."""
    CURSOR = auto()
    START = auto()
    END = auto()
    SCRATCH = auto()
    """64 bytes."""
    STACK = auto()
    """Space for the evaluation of expressions."""
    ANY = auto()
    OBJECT = auto()
    OBJECT_TYPE = auto()
    TYPE = auto()
    """The type index to show where a kind is wrong."""
    PAYLOAD = auto()
    VALUE = auto()
    EXPECTED = auto()
    BIG = auto()
    STYLE = auto()
    FREE = auto()
    """When checks do not apply to the value: 0 never, -1 if the tensor is empty, or 1 more than
    the axis of a stride: if it is free."""
    OPTIONAL = auto()
    """Whether None would have been right for what is looked at."""
    INNER = auto()
    """Whether the object came as a moved object that holds it."""
    DATA = auto()
    """Of a str or bytes; and below, its length."""
    SIZE = auto()
    PLACE = auto()
    SYMBOL = auto()
    SLOT = auto()
    TEXT = auto()
    """Address of a text operand: u32 position, u16 length."""
    BINDINGS = auto()
    """Address of a list of symbols: u16 count, u16 symbols."""
    ROW = auto()
    """Address of the templates of the error: prefix, expected, got."""


def _global(name: Global) -> Reg:
    return Reg(int(name))


class Program(Assembler):
    """An assembler with names for everything; the routines are written against it."""

    frame = _global(Global.FRAME)
    args = _global(Global.ARGS)
    count = _global(Global.COUNT)
    table = _global(Global.TABLE)
    overflow = _global(Global.OVERFLOW)
    slots = _global(Global.SLOTS)
    pc = _global(Global.PC)
    cursor = _global(Global.CURSOR)
    start = _global(Global.START)
    end = _global(Global.END)
    scratch = _global(Global.SCRATCH)
    stack = _global(Global.STACK)
    any = _global(Global.ANY)
    object = _global(Global.OBJECT)
    object_type = _global(Global.OBJECT_TYPE)
    type = _global(Global.TYPE)
    payload = _global(Global.PAYLOAD)
    value = _global(Global.VALUE)
    expected = _global(Global.EXPECTED)
    big = _global(Global.BIG)
    style = _global(Global.STYLE)
    free = _global(Global.FREE)
    optional = _global(Global.OPTIONAL)
    inner = _global(Global.INNER)
    data = _global(Global.DATA)
    size = _global(Global.SIZE)
    place_ = _global(Global.PLACE)
    symbol = _global(Global.SYMBOL)
    slot = _global(Global.SLOT)
    text = _global(Global.TEXT)
    bindings = _global(Global.BINDINGS)
    row = _global(Global.ROW)

    def __init__(self) -> None:
        super().__init__(len(Global), constants.DATA)
        self.functions: dict[str, Function] = {}

    add = partialmethod(Assembler.binary, Instruction.ADD)
    sub = partialmethod(Assembler.binary, Instruction.SUB)
    mul = partialmethod(Assembler.binary, Instruction.MUL)
    and_ = partialmethod(Assembler.binary, Instruction.AND)
    or_ = partialmethod(Assembler.binary, Instruction.OR)
    shl = partialmethod(Assembler.binary, Instruction.SHL)
    lshr = partialmethod(Assembler.binary, Instruction.LSHR)
    sdiv = partialmethod(Assembler.binary, Instruction.SDIV)
    urem = partialmethod(Assembler.binary, Instruction.UREM)
    eq = partialmethod(Assembler.binary, Instruction.EQ)
    slt = partialmethod(Assembler.binary, Instruction.SLT)
    ult = partialmethod(Assembler.binary, Instruction.ULT)

    def ne(self, lhs: Reg, rhs: Operand) -> Reg:
        """Whether they differ."""
        return self.ult(ZERO, lhs if rhs == 0 else self.sub(lhs, rhs))

    def sle(self, lhs: Operand, rhs: Operand) -> Reg:
        """Whether the left one is at most the right one; numbers are not at the end of int64."""
        return self._at_most(Instruction.SLT, lhs, rhs)

    def ule(self, lhs: Operand, rhs: Operand) -> Reg:
        """The same, unsigned."""
        return self._at_most(Instruction.ULT, lhs, rhs)

    def _at_most(self, less: Instruction, lhs: Operand, rhs: Operand) -> Reg:
        if isinstance(rhs, int):
            return self.binary(less, lhs, rhs + 1)
        return self.not_(self.binary(less, rhs, lhs))

    def srem(self, lhs: Reg, rhs: Reg) -> Reg:
        """The remainder that goes with :attr:`sdiv`, whose sign is that of the left one."""
        return self.sub(lhs, self.mul(self.sdiv(lhs, rhs), rhs))

    def same_float(self, lhs: Reg, rhs: Reg) -> Reg:
        """Whether two float64 are equal or both NaN, which is equal to nothing."""
        first, second = (self.binary(Instruction.EQF, one, one) for one in (lhs, rhs))
        return self.or_(self.binary(Instruction.EQF, lhs, rhs), self.not_(self.or_(first, second)))

    # ---- the table

    def operand(self, bits: int, into: Reg | None = None) -> Reg:
        """The next operand of the table's instruction, zero-extended; moves past it."""
        value = self.unsigned(self.pc, bits, into=into)
        self.skip(bits // 8)
        return value

    def skip(self, size: Operand) -> None:
        """Move past operands."""
        self.add(self.pc, size, into=self.pc)

    def unsigned(self, address: Reg, bits: int, offset: int = 0, into: Reg | None = None) -> Reg:
        """A number of the table, zero-extended."""
        value = self.binary(Instruction[f"LD{bits}"], address, offset, into)
        return self.and_(value, PARAMETER_MASK, value) if bits == 32 else value

    def table_at(self, position: Reg) -> Reg:
        """The address of a position in the table."""
        return self.add(self.table, position)

    def slot_of(self, number: Reg, into: Reg | None = None) -> Reg:
        """The address of a slot."""
        return self.add(self.slots, self.mul(number, SLOT_SIZE), into)

    def symbol_record(self, number: Reg) -> Reg:
        """The address of a symbol's entry in the table: u32 start, u16 length, u16 style."""
        return self.add(self.add(self.table, self.shl(number, 3)), Head.SIZE)

    def head(self, field: Head, into: Reg | None = None) -> Reg:
        """A number of the table's head."""
        return self.unsigned(self.table, field.bits, field, into)

    def parameter(self) -> Reg:
        """The PARAM record's position of the current place; 0 is none."""
        return self.and_(self.place_, PARAMETER_MASK)

    def begin(self) -> None:
        """Set the registers that say where things are."""
        self.set(_global(Global.STATUS), -1)
        self.add(self.frame, SCRATCH_AT, self.scratch)
        self.add(self.frame, STACK_AT, self.stack)
        self.add(self.frame, SLOTS_AT, self.slots)
        self.slot_of(self.head(Head.SLOTS), self.start)
        self.set(self.cursor, self.start)
        self.add(self.frame, self.head(Head.FRAME), self.end)
        self.add(self.table, self.head(Head.CODE), self.pc)

    # ---- messages

    def constant(self, name: str) -> Reg:
        """The address of a part of the constants."""
        return self.add(_global(Global.CODE), constants.POSITIONS[name])

    def define(self, name: str, parameters: int, body: Callable[..., None]) -> None:
        """Assemble a function that others call by name; ``body(program, *parameters)`` does it."""
        self.functions[name] = self.function(parameters, partial(body, self))

    def run(self, name: str, *arguments: Operand) -> None:
        """Call a function by name."""
        self.call(self.functions[name], *arguments)

    def put(self, string: str) -> None:
        """Append a string of the constants to the message."""
        self.append(self.constant(string), len(string))

    def append(self, text: Reg, length: Operand) -> None:
        """Append text to the message, as much of it as there is room for."""
        self.binary(Instruction.PUT, text, length, into=self.cursor)

    # ---- failing

    def fail(self, condition: Reg, words: Words | Reg) -> None:
        """Report, and end, where the condition is not 0."""
        with self.when(condition):
            self.run("report", WORDS.index(words) if isinstance(words, Words) else words)

    def check(self, wrong: Reg, words: Words | Reg) -> None:
        """Report where the condition is not 0, unless checks do not apply to the value."""
        with self.when(wrong):
            self.run("refuse", WORDS.index(words) if isinstance(words, Words) else words)

    def not_(self, condition: Reg) -> Reg:
        """1 for 0, else 0."""
        return self.eq(condition, 0)

    def choose(self, condition: Reg, then: Operand, otherwise: Operand) -> Reg:
        """``condition ? then : otherwise``."""
        result = self.new()
        self.set(result, otherwise)
        with self.when(condition):
            self.set(result, then)
        return result

    def is_one_of(self, value: Reg, *numbers: int) -> Reg:
        """Whether the value is one of these."""
        found = self.eq(value, numbers[0])
        for number in numbers[1:]:
            found = self.or_(found, self.eq(value, number))
        return found


NO_INDEX_BITS: Final = NO_INDEX << PLACE_INDEX
