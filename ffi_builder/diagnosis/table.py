"""The table of a wrapper: its plan as bytes, which the diagnosis reads.

The table is one constant: little-endian, packed, without relocations::

    u32 frame           size in bytes of the memory for slots and message, see below
    u32 code            where the instructions start
    u32 text, length    the parameters, as messages show them: "a: …, b: …)"
    u32 name            the function's name and "(", then the backtrace of its errors
    u16 name length, u16 backtrace length
    u16 slots           number of slots; the first ones are the symbols'
    u16 arguments       number of parameters
    …                   for each symbol: u32 start, u16 length, u16 Style
    …                   instructions: u8 opcode, operands
    …                   if memory of lists is compared: instructions that only find the objects
    …                   if memory is compared: u32 start of the instructions to run before, u16
                        count, then for each tensor or list the operands of PARAM, u16 slot, and
                        others as with SAME_DEVICE. The slot :data:`LATER` stands for the later
                        elements of the same list
    …                   text
    …                   name, backtrace
    …                   if messages cannot show all parameters: for each, u32 start, u32 length

Strings are shared: a name or an expression that occurs in the text of the parameters refers to that
text. Nothing refers into the function's name, and everything that depends on the name is at the
end. So one :class:`Table` serves functions of any name.

The frame holds the slots and the message.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum, auto
from typing import Final

from ffi_builder import spec
from ffi_builder.abi import TypeIndex
from ffi_builder.plan import Part
from ffi_builder.plan.steps import Subject, named_operations, named_words
from ffi_builder.spec.numbers import FLOAT_DTYPES, OPERATORS

NO_INDEX: Final = 0xFFFF
LATER: Final = 0xFFFF
WORDS: Final = {words: number for number, words in enumerate(dict.fromkeys(named_words().values()))}
"""The number of an error's words in the table."""


class Op(IntEnum):
    """Instructions of the table, with their operands, besides those that checks declare.

    Checks apply to the last value that was read. The *current* argument, element or object is the
    one that ARG, ELEM, RESTORE or a decoding instruction has selected last.
    """

    DONE = 0
    PARAM = auto()
    """u32 path, u16 length, u16 argument. Set the parameter that the next places belong to."""
    ARG = auto()
    """u16 index. Turn to an argument."""
    ELEM = auto()
    """u16 index. Turn to an element of the current tuple."""
    TENSOR = auto()
    """Decode a tensor."""
    HEAD = auto()
    """u8 rank, u32 dtype, u8 device type. Check that the tensor is not NULL and matches them."""
    SHAPED = auto()
    """Check that the array of dimensions is not NULL."""
    DIM = auto()
    """u8 axis. Read a dimension and check that it is not negative."""
    DIMS = auto()
    """Check that no dimension is negative."""
    LAYOUT = auto()
    """u8 column-major. Check all strides."""
    DATA = auto()
    """Check the number of elements and the offset; read the data pointer, and check it."""
    SAME_DEVICE = auto()
    """u16 count, then for each tensor u16 slot, u32 text, u16 length. Read the device id and check
    that it matches the first of these tensors that is present and on the same device type."""
    DTYPES = auto()
    """u8 count, u32 dtypes…, u32 text, u16 length. Check that the dtype is one of these."""
    CONTAINER = auto()
    """u8 Words. Decode a Shape or tuple."""
    SAVE = auto()
    """u16 slot. Save the current object."""
    RESTORE = auto()
    """u16 slot. Turn to the object saved there."""
    SCALAR = auto()
    """u32 :func:`type_mask`, u8 Words, u8 Style. Decode a scalar."""
    FLOAT = auto()
    """u8 Rounding. Convert the scalar to float64 and round it to a dtype."""
    READ = auto()
    """u8 Source. Read a part of the current object."""
    ENTRY = auto()
    """u8 Source, u16 index. Read an entry of a part."""
    SCALE = auto()
    """i64 factor. Check that the product with the value fits int64, and multiply."""
    EQ = auto()
    """i64, u8 Words. Check that the value equals a number."""
    EQ8 = auto()
    """u8, u8 Words. Check that the value equals a small number."""
    NONZERO = auto()
    """u8 Words. Check that the value is not 0."""
    EXPR = auto()
    """u8 Words, u32 text, u16 length, u16 count, u16 symbols…, then Code until Code.END. Check that
    the value equals an expression."""
    CONDITION = auto()
    """u8 Words, u32 text, u16 length, u16 count, u16 symbols…, Code until Code.END, u8 count, u16
    the same symbols, the last to be bound first. Check that a condition is not false."""
    OPTIONAL = auto()
    """u16 slot, u32 size. Skip that many bytes if the argument or element is None. Note in the slot
    whether it is present."""
    VARIANT = auto()
    """u32 mask, u32 text, u16 length. Check that the type is one of these."""
    ALTERNATIVE = auto()
    """u32 mask, u16 slot, u32 size. Skip that many bytes if the type is none
    of these. Note in the slot whether it is one."""
    GUARD = auto()
    """u16 slot, u32 size. Skip that many bytes if the slot notes an absent Optional."""
    TEXT = auto()
    """u8 binary. Decode a str, or bytes."""
    OBJECT = auto()
    """u8 :class:`Accepted`, or the accepted type index; u8 static type index of the key, or 0; u32
    text, u16 length of the key, or of the expected type."""
    MAP = auto()
    """Turn to a tuple of two lists, of the keys and of the values of the current Map."""
    EACH = auto()
    """u32 size. Begin with the elements of the current list: skip that many bytes if it is empty,
    else check that the pointer to the elements is not NULL."""
    USUAL = auto()
    """u8 type index, i64 shift, u64 greatest. Pass by the next elements of this type whose payload
    and the shift, as a u64, are at most the greatest: no check of the loop fails for them."""
    NEXT = auto()
    """u32 size. Go on with the next element of the current list; behind the last one, skip that
    many bytes."""
    ITEM = auto()
    """Turn to the element of the current list with the number that EACH and NEXT count."""
    FIRST = auto()
    """u16 slot. Save the current object if it is in the first element of a list."""
    BACK = auto()
    """u32 size. Go back that many bytes."""
    SAME_DTYPE = auto()
    """u16 slot, u32 text, u16 length. Check that the value is the dtype of a saved tensor."""


OPERATIONS: Final = {
    name: number
    for number, name in enumerate(dict.fromkeys((*Op.__members__, *named_operations())))
}
"""The numbers of all instructions: those of :class:`Op`, then the subclasses of
:class:`~ffi_builder.plan.step.Instruction`, which declare their operands."""


class Accepted(IntEnum):
    """Accepted objects, if not those of one static type."""

    ANY = 0
    BY_KEY = 1
    MAPPING = 2
    """A Map or Dict."""


OBJECT_BITS: Final = 48
"""Type indices below 16 are bits of masks, and those of objects, from 64 on, 48 less."""


def type_mask(types: Iterable[TypeIndex]) -> int:
    """Return the mask of type indices, of 32 bits."""
    return sum(1 << (index if index < 16 else index - OBJECT_BITS) for index in types)


class Source(IntEnum):
    """Parts that READ can read: the parts of :class:`plan.Part`, and more."""

    NDIM = Part.NDIM
    DTYPE = Part.DTYPE
    DEVICE_TYPE = Part.DEVICE_TYPE
    DEVICE_ID = Part.DEVICE_ID
    SHAPE = Part.SHAPE
    STRIDES = Part.STRIDES
    DATA = Part.DATA
    ENTRY = Part.ENTRY
    COUNT = Part.COUNT
    ARGUMENTS = Part.ARGUMENTS
    OBJECT = 12
    LENGTH = 13
    CELLS = 14
    ELEMENTS = Part.LENGTH
    """The number of elements of a list."""
    CONTIGUOUS = Part.CONTIGUOUS
    PRESENT = Part.PRESENT
    """Whether an Optional is present, which the slot with this index notes."""


class Code(IntEnum):
    """Instructions of expressions and conditions, in postfix order, on a stack of int64.

    A truth value has a bit for each of four readings: whether the condition holds if an unknown
    comparison counts as false or true (bit 0 of the bit's number), and one that overflows as false
    or true (bit 1). So 0 is false, 15 true, 10 unknown and 12 an overflow.
    """

    END = 0
    SYMBOL = 1
    """u16 symbol, u8 unsigned."""
    CONSTANT = 2
    """i64."""
    ADD = 3
    SUB = 4
    MUL = 5
    FLOORDIV = 6
    MOD = 7
    CEILDIV = 8
    MAX = 9
    MIN = 10
    COMPARE = 11
    """u8 :data:`COMPARISONS`. Compare the last two values."""
    AND = 12
    OR = 13
    NOT = 14


STACK_DEPTH: Final = 64
"""Size of the stack of expressions: the most leaves of an expression."""

SLOT_SIZE: Final = 24


class Head(IntEnum):
    """Numbers at the beginning of a table, by their offsets."""

    FRAME = 0
    CODE = 4
    TEXT = 8
    LENGTH = 12
    NAME = 16
    NAME_LENGTH = 20
    BACKTRACE = 22
    SLOTS = 24
    ARGUMENTS = 26
    SIZE = 28

    @property
    def bits(self) -> int:
        """Width of the number."""
        return 32 if self < Head.NAME_LENGTH else 16


OPERATOR_CODES: Final = {op: Code(Code.ADD + number) for number, op in enumerate(OPERATORS)}

COMPARISONS: Final = {"<": 1, "==": 2, "<=": 3, ">": 4, "!=": 5, ">=": 6}
"""Operators of relations, each with its number in the table: the sum of 1 if it holds for a value
less than the other, 2 if for an equal value and 4 if for a greater one."""


class Style(IntEnum):
    """Ways to show a value."""

    INT = 0
    UINT = 1
    FLOAT = 2
    HEX = 3
    BOOL = 4
    DTYPE = 5
    CHOICE = 6
    """The value is the index of a choice. The choices follow the name, each ending in NUL."""
    PROPERTY = 16
    """Added to another style for properties, whose places are not shown."""


class Rounding(IntEnum):
    """Dtypes that a float64 is rounded to."""

    FLOAT64 = 0
    FLOAT32 = 1
    FLOAT16 = 2
    BFLOAT16 = 3


def style_of(symbol: spec.Var) -> Style:
    """Return how to show values of a symbol, without ``PROPERTY``."""
    if isinstance(symbol, Subject):
        if isinstance(symbol.of.param, spec.Choice):
            return Style.CHOICE
        if symbol.of.is_address:
            return Style.HEX
        return {"dtype": Style.DTYPE, "ndim": Style.INT}.get(symbol.of.field, Style.BOOL)
    dtype = symbol.dtype
    if dtype in FLOAT_DTYPES:
        return Style.FLOAT
    return {"handle": Style.HEX, "bool": Style.BOOL, "uint64": Style.UINT}.get(dtype, Style.INT)
