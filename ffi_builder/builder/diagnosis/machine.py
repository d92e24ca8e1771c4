"""The state of the interpreter: registers in one stack array, shared by its functions.

A *place* is packed into one i64, so that a symbol can remember where it was bound: the position of
its PARAM record in the table (32 bits), the part (8), the index (16; 0xFFFF is none), and whether
the value is that of a symbol that was solved for (8).
"""

from __future__ import annotations

from enum import IntEnum, auto
from typing import Final

from ffi_builder.builder.diagnosis.table import NO_INDEX
from ffi_builder.ir import Builder, Type, Value

PLACE_PART: Final = 32
PLACE_INDEX: Final = 40
PLACE_SOLVED: Final = 56
NO_INDEX_BITS: Final = NO_INDEX << PLACE_INDEX

SLOT_SIZE: Final = 24
"""A symbol: value, place, state. An object: its address, its type index."""
SLOT_PLACE: Final = 8
SLOT_STATE: Final = 16
PROVISIONAL: Final = 1
BOUND: Final = 2

BIG_UNSIGNED: Final = 1
"""The value is at least 2^63, and its bits are those of a uint64."""
BIG_BEYOND: Final = 2
BIG_NEGATIVE: Final = 3


class Reg(IntEnum):
    """Registers, each an i64."""

    ARGS = 0
    COUNT = auto()
    TABLE = auto()
    SLOTS = auto()
    PC = auto()
    ANY = auto()
    OBJECT = auto()
    OBJECT_TYPE = auto()
    TYPE = auto()
    """The type index to show where a kind is wrong."""
    VALUE = auto()
    EXPECTED = auto()
    BIG = auto()
    STYLE = auto()
    FREE = auto()
    PLACE = auto()
    SYMBOL = auto()
    TEXT = auto()
    """Address of a text operand: u32 position, u16 length."""
    BINDINGS = auto()
    """Address of a list of symbols: u16 count, u16 symbols."""
    ROW = auto()
    """Address of the templates of the error: prefix, expected, got."""
    CURSOR = auto()
    END = auto()


class Machine:
    """Reads and writes the registers, from the functions of the interpreter."""

    def __init__(self, b: Builder, registers: Value) -> None:
        self.b = b
        self.registers = registers

    def get(self, register: Reg) -> Value:
        """An i64 register."""
        return self.b.field(self.b.types.i64, self.registers, 8 * register)

    def pointer(self, register: Reg) -> Value:
        """A register as a pointer."""
        return self.b.field(self.b.types.ptr, self.registers, 8 * register)

    def set(self, register: Reg, value: Value) -> None:
        """Store an i64 or a pointer."""
        self.b.store(value, self.b.offset(self.registers, 8 * register))

    def table_at(self, position: Value) -> Value:
        """The address of a position in the table."""
        return self.b.element(self.pointer(Reg.TABLE), position)

    def unsigned(self, address: Value, bits: int, offset: int = 0) -> Value:
        """An unaligned number of the table, as an i64."""
        b = self.b
        raw = b.load(b.types.integer(bits), b.offset(address, offset), align=1)
        return raw if bits == 64 else b.zext(raw, b.types.i64)

    def operand(self, bits: int) -> Value:
        """The next operand, as an i64 (zero-extended); moves the program counter."""
        b = self.b
        pc = self.pointer(Reg.PC)
        value = self.unsigned(pc, bits)
        self.set(Reg.PC, b.offset(pc, bits // 8))
        return value

    def slot(self, number: Value) -> Value:
        """The address of a slot."""
        return self.b.element(
            self.pointer(Reg.SLOTS), self.b.mul(number, self.b.i64(SLOT_SIZE))
        )

    def symbol_record(self, number: Value) -> Value:
        """The address of a symbol's entry in the table's head."""
        b = self.b
        arguments = self.unsigned(self.pointer(Reg.TABLE), 32, 24)
        before = b.add(b.i64(32), b.mul(arguments, b.i64(8)))
        return self.table_at(b.add(before, b.mul(number, b.i64(8))))

    def flag(self, register: Reg) -> Value:
        """Whether a register is not 0."""
        return self.b.ne(self.get(register), self.b.i64(0))

    def type_for(self, bits: int) -> Type:
        """The integer type of a width."""
        return self.b.types.integer(bits)
