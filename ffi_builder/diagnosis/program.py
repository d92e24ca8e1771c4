"""The vocabulary that the diagnosis is written in: names for registers and operations.

A *place* says what a message is about. It is packed into one register, so that a symbol can
remember where it was bound. From the lowest bit on:

* 32 bits: position of the PARAM record in the table, or 0 if the place is no argument
* 8 bits: the :class:`~ffi_builder.plan.Part`
* 16 bits: the index, or 0xFFFF
* 8 bits: whether the value is that of a symbol that an expression was solved for

If the place is in an element of a list, the register ``element`` has its number, from 1 on.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum, auto
from functools import partial, partialmethod
from typing import Final

from ffi_builder import abi
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

DL: Final = abi.OBJECT_SIZE
"""A Tensor object holds a ``DLTensor`` behind its header."""
NDIM: Final = DL + abi.DLTENSOR_NDIM
SHAPE: Final = DL + abi.DLTENSOR_SHAPE
STRIDES: Final = DL + abi.DLTENSOR_STRIDES

SLOT_PLACE: Final = 8
"""A slot holds value, place and state of a symbol, or address and type index of an object."""
SLOT_STATE: Final = 16
SLOT_ELEMENT: Final = 20
"""The state is an i32, and so is the number of the element that the place is in."""
PROVISIONAL: Final = 1
BOUND: Final = 2

BIG_UNSIGNED: Final = 1
"""The integer is from 2^63 to 2^64 - 1; the value has its bits."""
BIG_BEYOND: Final = 2
"""The integer is greater, or missing."""
BIG_NEGATIVE: Final = 3
"""The integer is below -2^63."""


class Global(IntEnum):
    """Registers that all functions share, by their numbers."""

    ZERO = 0
    OVERFLOW = auto()
    STATUS = auto()
    """The result of the wrapper: -1."""
    FRAME = auto()
    """Address of register 0. :mod:`.table` describes the frame behind the registers."""
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
    """Address of the stack for expressions."""
    ANY = auto()
    OBJECT = auto()
    OBJECT_TYPE = auto()
    TYPE = auto()
    """Type index of the current argument or element, which errors show if the kind is wrong."""
    PAYLOAD = auto()
    VALUE = auto()
    EXPECTED = auto()
    BIG = auto()
    STYLE = auto()
    FREE = auto()
    """When checks do not apply to the value. 0: they always do. -1: they do not if the tensor is
    empty. 1 more than the axis of a stride: they do not if the stride is free."""
    OPTIONAL = auto()
    """Whether the current argument or element may be None."""
    INNER = auto()
    """Whether the object was inside a moved reference."""
    DATA = auto()
    """Address of the bytes of a str or bytes; SIZE is their number."""
    SIZE = auto()
    PLACE = auto()
    SYMBOL = auto()
    SLOT = auto()
    TEXT = auto()
    """Address of a text operand: u32 position, u16 length."""
    BINDINGS = auto()
    """Address of a list of symbols (u16 count, u16 symbols) or choices."""
    ROW = auto()
    """Address of the templates of the error: prefix, expected, got."""
    ELEMENT = auto()
    """The number of the current element of a list, from 1 on; 0 outside of lists."""
    OTHER = auto()
    """The same of the other tensor that an error is about, which TEXT names."""


def _global(name: Global) -> Reg:
    return Reg(int(name))


class Program(Assembler):
    """An assembler with names for registers and operations, which the routines use."""

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
    element = _global(Global.ELEMENT)
    other = _global(Global.OTHER)

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
        """Compare for inequality."""
        return self.ult(ZERO, lhs if rhs == 0 else self.sub(lhs, rhs))

    def sle(self, lhs: Operand, rhs: Operand) -> Reg:
        """Compare signed; a number on the right is below the greatest int64."""
        return self._at_most(Instruction.SLT, lhs, rhs)

    def ule(self, lhs: Operand, rhs: Operand) -> Reg:
        """Compare unsigned; a number on the right is below the greatest uint64."""
        return self._at_most(Instruction.ULT, lhs, rhs)

    def _at_most(self, less: Instruction, lhs: Operand, rhs: Operand) -> Reg:
        if isinstance(rhs, int):
            return self.binary(less, lhs, rhs + 1)
        return self.not_(self.binary(less, rhs, lhs))

    def srem(self, lhs: Reg, rhs: Reg) -> Reg:
        """Return the remainder of :attr:`sdiv`, which has the sign of ``lhs``."""
        return self.sub(lhs, self.mul(self.sdiv(lhs, rhs), rhs))

    def same_float(self, lhs: Reg, rhs: Reg) -> Reg:
        """Compare two float64; NaN equals NaN."""
        first, second = (self.binary(Instruction.EQF, one, one) for one in (lhs, rhs))
        return self.or_(self.binary(Instruction.EQF, lhs, rhs), self.not_(self.or_(first, second)))

    # ---- the table

    def operand(self, bits: int, into: Reg | None = None) -> Reg:
        """Read the next operand of the table's instruction, zero-extended."""
        value = self.unsigned(self.pc, bits, into=into)
        self.skip(bits // 8)
        return value

    def skip(self, size: Operand) -> None:
        """Skip operands of this many bytes."""
        self.add(self.pc, size, into=self.pc)

    def unsigned(self, address: Reg, bits: int, offset: int = 0, into: Reg | None = None) -> Reg:
        """Load a number of the table, zero-extended."""
        value = self.binary(Instruction[f"LD{bits}"], address, offset, into)
        return self.and_(value, PARAMETER_MASK, value) if bits == 32 else value

    def table_at(self, position: Reg) -> Reg:
        """Return the address of a position in the table."""
        return self.add(self.table, position)

    def slot_of(self, number: Reg, into: Reg | None = None) -> Reg:
        """Return the address of a slot."""
        return self.add(self.slots, self.mul(number, SLOT_SIZE), into)

    def symbol_record(self, number: Reg) -> Reg:
        """Return the address of a symbol's entry in the table: u32 start, u16 length, u16 style."""
        return self.add(self.add(self.table, self.shl(number, 3)), Head.SIZE)

    def head(self, field: Head, into: Reg | None = None) -> Reg:
        """Load a number of the table's head."""
        return self.unsigned(self.table, field.bits, field, into)

    def parameter(self) -> Reg:
        """Return the position of the current place's PARAM record, or 0."""
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
        """Return the address of a part of the constants."""
        return self.add(_global(Global.CODE), constants.POSITIONS[name])

    def define(self, name: str, parameters: int, body: Callable[..., None]) -> None:
        """Assemble a function by ``body(program, *parameters)``, for others to call by name."""
        self.functions[name] = self.function(parameters, partial(body, self))

    def run(self, name: str, *arguments: Operand) -> None:
        """Call a function by name."""
        self.call(self.functions[name], *arguments)

    def run_for(self, name: str, *arguments: Operand) -> Reg:
        """Call a function whose last parameter is its result."""
        self.run(name, *arguments, 0)
        return self.functions[name].parameters[-1]

    def put(self, string: str) -> None:
        """Append a string of the constants to the message."""
        self.append(self.constant(string), len(string))

    def append(self, text: Reg, length: Operand) -> None:
        """Append text to the message, as far as there is room."""
        self.binary(Instruction.PUT, text, length, into=self.cursor)

    # ---- failing

    def fail(self, condition: Reg, words: Words | Reg) -> None:
        """Report an error if the condition is not 0."""
        with self.when(condition):
            self.run("report", WORDS.index(words) if isinstance(words, Words) else words)

    def check(self, wrong: Reg, words: Words | Reg) -> None:
        """Report an error if the condition is not 0 and checks apply to the value."""
        with self.when(wrong):
            self.run("refuse", WORDS.index(words) if isinstance(words, Words) else words)

    def not_(self, condition: Reg) -> Reg:
        """Return 1 for 0, else 0."""
        return self.eq(condition, 0)

    def choose(self, condition: Reg, then: Operand, otherwise: Operand) -> Reg:
        """Return ``then`` if the condition is not 0, else ``otherwise``."""
        result = self.new()
        self.set(result, otherwise)
        with self.when(condition):
            self.set(result, then)
        return result

    def is_one_of(self, value: Reg, *numbers: int) -> Reg:
        """Compare with each of these numbers."""
        found = self.eq(value, numbers[0])
        for number in numbers[1:]:
            found = self.or_(found, self.eq(value, number))
        return found


NO_INDEX_BITS: Final = NO_INDEX << PLACE_INDEX
