"""A plan as bytes, for the diagnosis to interpret.

The table of a wrapper is one string constant: little-endian, packed, no relocations::

    u32 frame           how many bytes the interpreter works in, see below
    u32 code            where the instructions start
    u32 text, length    the arguments, as messages show them: "a: …, b: …)"
    u32 name            the function's name, and "("; a backtrace stands behind it
    u16 name length, u16 backtrace length
    u16 slots           how many there are; the first ones are the symbols
    u16 arguments       how many
    …                   for each symbol: u32 start, u16 length, u16 Style
    …                   instructions: u8 opcode, operands
    …                   text
    …                   name, backtrace
    …                   if messages cannot show all arguments: for each, u32 start, u32 length

Strings are shared: a name or an expression that occurs in the text of the arguments points into
it. Nothing points into the name of the function, and all that depends on it is at the end, so that
a :class:`Table` serves functions of every name.

The frame is registers, 64 bytes of scratch, a stack for expressions, the slots, and the message.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum, auto
from typing import Final

from ffi_builder import spec
from ffi_builder.abi import TypeIndex
from ffi_builder.diagnosis.instructions import REGISTERS
from ffi_builder.errors import BuildError
from ffi_builder.plan import Part
from ffi_builder.plan.messages import SHOWN_ENTRIES, SIGNATURE_LIMIT, Words

NO_INDEX: Final = 0xFFFF
WORDS: Final = tuple(Words)
"""Rows of words by their number in the table."""


class Op(IntEnum):
    """Instructions. Checks look at the value that was read last."""

    DONE = 0
    PARAM = auto()
    """u32 path, u16 length, u16 argument: what the following places belong to."""
    ARG = auto()
    """u16 index: look at an argument."""
    ELEM = auto()
    """u16 index: look at an element of the current tuple."""
    TENSOR = auto()
    """Decode the tensor looked at."""
    HEAD = auto()
    """u8 rank, u32 dtype, u8 device type: what that is not, nor NULL."""
    SHAPED = auto()
    """The array of dimensions is there."""
    DIM = auto()
    """u8 axis: read a dimension, which is not negative."""
    DIMS = auto()
    """No dimension is negative."""
    LAYOUT = auto()
    """u8 whether column-major: all strides."""
    DATA = auto()
    """Read the data, which is there: of how many elements, and from which offset on."""
    ALIGN = auto()
    """u8 alignment, as a power of two."""
    SAME_DEVICE = auto()
    """Read the device id, which is that of the first of these tensors that is there: u16 count,
    then for each u16 slot, u32 text, u16 length."""
    DTYPES = auto()
    """u8 count, u32 dtypes…, u32 text, u16 length."""
    CONTAINER = auto()
    """u8 Words: decode the Shape or tuple looked at."""
    SAVE = auto()
    """u16 slot: remember the current object."""
    RESTORE = auto()
    """u16 slot: make it the current object again."""
    SCALAR = auto()
    """u8 mask of :data:`SCALAR_BITS`; u8 Words; u8 Style: decode a scalar."""
    FLOAT = auto()
    """u8 Rounding: make the scalar a float64, rounded to a dtype."""
    READ = auto()
    """u8 Source: read a part of the current object."""
    ENTRY = auto()
    """u8 Source, u16 index: read an entry of a part."""
    SCALE = auto()
    """i64 factor: check that the value times this fits, and multiply."""
    EQ = auto()
    """i64, u8 Words."""
    EQ8 = auto()
    """u8, u8 Words."""
    NONZERO = auto()
    """u8 Words."""
    NONNEGATIVE = auto()
    BOOL = auto()
    FITS = auto()
    """u8 bits, u8 signed."""
    MIN = auto()
    """i64, u16 symbol."""
    MAX = auto()
    """i64, u16 symbol."""
    DIVISIBLE = auto()
    """i64, u16 symbol."""
    BIND = auto()
    """u16 symbol."""
    EQSYM = auto()
    """u16 symbol, u8 Words."""
    BINDEQ = auto()
    """u16 symbol, u8 Words."""
    SOLVE = auto()
    """u16 symbol, i64 scale, i64 offset, u32 text, u16 length."""
    EXPR = auto()
    """u8 Words, u32 text, u16 length, u16 count, u16 symbols…, then Code until Code.END."""
    EQFLOAT = auto()
    """f64."""
    OPTIONAL = auto()
    """u16 slot, u32 size: if None is looked at, go on behind that many bytes; else note it."""
    GUARD = auto()
    """u16 slot, u32 size: the same if None was found there."""
    TEXT = auto()
    """u8 whether bytes: decode the str or bytes looked at."""
    SMALL = auto()
    BYTES = auto()
    CHOICE = auto()
    """u32 text, u16 length: all; u16 count, then each: u32 text, u16 length."""
    OBJECT = auto()
    """u8 what is right: :class:`Right`, or a type index; u8 the static type index of the key, or 0;
    u32 text, u16 length: the key, or what is expected."""


class Right(IntEnum):
    """Which objects are right, where that is not those of one static type."""

    ANY = 0
    BY_KEY = 1


SCALAR_BITS: Final = (
    *(TypeIndex.NONE, TypeIndex.INT, TypeIndex.BOOL, TypeIndex.FLOAT, TypeIndex.OPAQUE_PTR),
    *(TypeIndex.DATA_TYPE, TypeIndex.DEVICE, TypeIndex.BIG_INT),
)
"""The type index that each bit of a scalar's mask stands for."""


class Source(IntEnum):
    """What READ reads: the parts of :class:`plan.Part`, and more."""

    NDIM = Part.NDIM
    DTYPE = Part.DTYPE
    DEVICE_TYPE = Part.DEVICE_TYPE
    DEVICE_ID = Part.DEVICE_ID
    SHAPE = Part.SHAPE
    STRIDES = Part.STRIDES
    ENTRY = Part.ENTRY
    COUNT = Part.COUNT
    ARGUMENTS = Part.ARGUMENTS
    OBJECT = 12
    LENGTH = 13
    CELLS = 14


class Code(IntEnum):
    """Instructions of expressions, in postfix order, on a stack of int64."""

    END = 0
    SYMBOL = 1
    """u16 symbol, u8 whether it is unsigned."""
    CONSTANT = 2
    """i64."""
    ADD = 3
    SUB = 4
    MUL = 5
    FLOORDIV = 6
    MOD = 7
    CEILDIV = 8


STACK_DEPTH: Final = 64
"""How many values the stack of expressions holds: as many as an expression may have leaves."""

SCRATCH_SIZE: Final = 64
SCRATCH_AT: Final = 8 * REGISTERS
STACK_AT: Final = SCRATCH_AT + SCRATCH_SIZE
SLOTS_AT: Final = STACK_AT + 8 * STACK_DEPTH
SLOT_SIZE: Final = 24


class Head(IntEnum):
    """The numbers that a table begins with, by where they stand."""

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
        """How wide it is."""
        return 32 if self < Head.NAME_LENGTH else 16


_LONGEST: Final = 0xFFFF
_SEARCHED: Final = 1 << 14
"""How much of the text is searched for what may stand in it already."""
_HEAD: Final = struct.Struct("<5I4H")

OPERATOR_CODES: Final = {
    "+": Code.ADD,
    "-": Code.SUB,
    "*": Code.MUL,
    "//": Code.FLOORDIV,
    "%": Code.MOD,
    "ceildiv": Code.CEILDIV,
}


class Style(IntEnum):
    """How values are shown."""

    INT = 0
    UINT = 1
    FLOAT = 2
    HEX = 3
    BOOL = 4


class Rounding(IntEnum):
    """What a float64 is rounded to."""

    FLOAT64 = 0
    FLOAT32 = 1
    FLOAT16 = 2
    BFLOAT16 = 3


def style_of(dtype: str) -> Style:
    """How values of a symbol's dtype are shown."""
    if dtype in spec.FLOAT_DTYPES:
        return Style.FLOAT
    return {"handle": Style.HEX, "bool": Style.BOOL, "uint64": Style.UINT}.get(dtype, Style.INT)


@dataclass(frozen=True)
class Table:
    """A table for a function of any name."""

    rest: bytes
    """Without head and name."""
    code: int
    text: int
    length: int
    frame: int
    """With a message for a name of no letters."""
    slots: int
    arguments: tuple[int, ...]
    """How long each is."""

    def named(self, name: str, backtrace: str) -> bytes:
        """The table of a function; ``backtrace`` is that of its errors.

        Raises:
            BuildError: if the name or the backtrace is too long.
        """
        own, lines = f"{name}(".encode(), backtrace.encode()
        if max(len(own), len(lines)) > _LONGEST:
            raise BuildError(
                f"{name[:40]}: the function's name, or that of the file it is in, is too long for "
                f"a wrapper: over {_LONGEST} bytes, with what stands around it"
            )
        count = len(self.arguments)
        head = _HEAD.pack(
            *(self.frame + len(own), self.code, self.text, self.length),
            *(Head.SIZE + len(self.rest), len(own), len(lines), self.slots, count),
        )
        parts = self._parts() if len(own) + self.length > SIGNATURE_LIMIT else ()
        return b"".join((head, self.rest, own, lines, *parts))

    def _parts(self) -> Iterator[bytes]:
        start = self.text
        for length in self.arguments:
            yield struct.pack("<2I", start, length)
            start += length + len(", ")


class TableWriter:
    """Collects instructions, symbols and text, and lays them out."""

    def __init__(self, signature: spec.Signature, symbols: list[spec.Var]) -> None:
        self._name = signature.name
        self._code = bytearray()
        self._arguments = [text.encode() for text in spec.argument_texts(signature)]
        self._text = bytearray(b", ".join(self._arguments) + b")")
        self._length = len(self._text)
        words = [*re.finditer(rb"\w+", bytes(self._text[_SEARCHED:]))]
        self._known: dict[bytes, int] = {
            word[0]: _SEARCHED + word.start() for word in reversed(words)
        }
        """Return the places where some texts occur first."""
        self._text_uses: list[tuple[int, int]] = []
        self.symbols = {var: number for number, var in enumerate(symbols)}
        self._slots = len(symbols)
        self._rank = 0

    def emit(self, op: Op | Code, layout: str = "", *operands: float) -> None:
        """Append an instruction: its operands packed as ``struct`` says."""
        self._code += struct.pack(f"<B{layout}", op, *operands)

    def text(self, string: str) -> None:
        """Append a text operand: u32 position, u16 length."""
        position, length = self._intern(string)
        self._text_uses.append((len(self._code), position))
        self._code += struct.pack("<IH", position, length)

    def numbers(self, layout: str, *values: int) -> None:
        """Append operands alone."""
        self._code += struct.pack(f"<{layout}", *values)

    def skip(self, op: Op, slot: int) -> int:
        """Append an instruction that may skip what follows, up to :meth:`land`."""
        self.emit(op, "HI", slot, 0)
        return len(self._code)

    def land(self, start: int) -> None:
        """What :meth:`skip` began ends here."""
        struct.pack_into("<I", self._code, start - 4, len(self._code) - start)

    def new_slot(self) -> int:
        """A slot to save an object in."""
        self._slots += 1
        return self._slots - 1

    def note_rank(self, ndim: int) -> None:
        """Messages may show a shape and strides of this many entries."""
        self._rank = max(self._rank, min(ndim, SHOWN_ENTRIES + 1))

    def finish(self) -> Table:
        """The table."""
        self.emit(Op.DONE)
        names = [(*self._intern(var.name), style_of(var.dtype)) for var in self.symbols]
        code_at = Head.SIZE + 8 * len(names)
        text_at = code_at + len(self._code)
        if self._slots >= NO_INDEX:
            raise BuildError(
                f"{self._name}: a wrapper cannot keep {self._slots} symbols and tensors; "
                f"at most {NO_INDEX - 1}"
            )
        entries = [struct.pack("<I2H", text_at + at, size, style) for at, size, style in names]
        rest = b"".join((*entries, self._placed(text_at), self._text))
        frame = SLOTS_AT + SLOT_SIZE * self._slots + self._message_size()
        lengths = tuple(map(len, self._arguments))
        return Table(rest, code_at, text_at, self._length, frame, self._slots, lengths)

    def _placed(self, text_at: int) -> bytes:
        """The code with text positions made relative to the table."""
        code = bytearray(self._code)
        for at, position in self._text_uses:
            struct.pack_into("<I", code, at, text_at + position)
        return bytes(code)

    def _intern(self, string: str) -> tuple[int, int]:
        data = string.encode()
        if len(data) > _LONGEST:
            raise BuildError(f"{self._name}: a text of {len(data)} bytes is too long")
        position = self._known.get(data)
        if position is None:
            # All of a long text would take time in proportion to its length, each time.
            position = self._text.find(data, 0, _SEARCHED)
            if position < 0:
                position = len(self._text)
                self._text += data
            self._known[data] = position
        return position, len(data)

    def _message_size(self) -> int:
        """Enough for any message: the shown signature, a layout, an expression's symbols."""
        longest = max(map(len, self._arguments), default=0)
        shown = min(self._length, max(SIGNATURE_LIMIT, longest)) + 24
        longest_name = max((len(var.name) for var in self.symbols), default=0)
        symbols = len(self.symbols) * (longest_name + 64 + min(len(self._text), 256))
        return 2048 + shown + 2 * 22 * self._rank + min(symbols + len(self._text), 1 << 16)


def dtype_word(dtype: spec.DataType) -> int:
    """A ``DLDataType`` as the little-endian i32 that it is in memory."""
    packed = dtype.code | dtype.bits << 8 | dtype.lanes << 16
    return packed - (1 << 32) if packed >> 31 else packed
