"""A plan as bytes, for the diagnosis to interpret.

The table of a wrapper is one string constant: little-endian, packed, no relocations::

    u32 slots           how many registers the interpreter needs; the first ones are the symbols
    u32 code            where the instructions start
    u32 buffer          bytes that hold the longest message
    u32 text, length    the signature, whole: "name(a: …, b: …)"; a backtrace stands behind it
    u32 name            length of "name("
    u32 arguments       how many
    u32 backtrace       its length
    …                   for each argument: u32 start, u32 length, within the table
    …                   for each symbol: u32 start, u16 length, u16 Style
    …                   instructions: u8 opcode, operands
    …                   text

Strings are shared: a name or an expression that occurs in the signature's text points into it.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Final

from ffi_builder import spec
from ffi_builder.abi import TypeIndex
from ffi_builder.errors import BuildError
from ffi_builder.plan import Part
from ffi_builder.plan.words import SHOWN_ENTRIES, SIGNATURE_LIMIT, Words

NO_INDEX: Final = 0xFFFF
WORDS: Final = tuple(Words)
"""Rows of words by their number in the table."""


class Op(IntEnum):
    """Instructions. Checks look at the value that was read last."""

    DONE = 0
    PARAM = 1
    """u32 path, u16 length, u16 argument: what the following places belong to."""
    ARG = 2
    """u16 index: look at an argument."""
    ELEM = 3
    """u16 index: look at an element of the current tuple."""
    TENSOR = 4
    """Decode the tensor looked at."""
    CONTAINER = 5
    """u8 Words: decode the Shape or tuple looked at."""
    SAVE = 6
    """u16 slot: remember the current object."""
    RESTORE = 7
    """u16 slot: make it the current object again."""
    SCALAR = 8
    """u8 mask of :data:`SCALAR_BITS`; u8 Words; u8 Style: decode a scalar."""
    FLOAT = 9
    """u8 Rounding: make the scalar a float64, rounded to a dtype."""
    READ = 10
    """u8 Source, u16 index: read a part of the current object."""
    SCALE = 11
    """i64 factor: check that the value times this fits, and multiply."""
    EQ = 12
    """i64, u8 Words."""
    NONZERO = 13
    """u8 Words."""
    NONNEGATIVE = 14
    BOOL = 15
    FITS = 16
    """u8 bits, u8 signed."""
    MIN = 17
    """i64, u16 symbol."""
    MAX = 18
    """i64, u16 symbol."""
    DIVISIBLE = 19
    """i64, u16 symbol."""
    BIND = 20
    """u16 symbol."""
    EQSYM = 21
    """u16 symbol, u8 Words."""
    BINDEQ = 22
    """u16 symbol, u8 Words."""
    SOLVE = 23
    """u16 symbol, i64 scale, i64 offset, u32 text, u16 length."""
    EXPR = 24
    """u8 Words, u32 text, u16 length, u16 count, u16 symbols…, then Code until Code.END."""
    LAYOUT = 25
    """u8 whether column-major: all strides."""
    NUMEL = 26
    OFFSET = 27
    ALIGN = 28
    """i64 alignment."""
    SAME_DEVICE = 29
    """u16 count, then for each tensor that may be the one: u16 slot, u32 text, u16 length."""
    EQFLOAT = 30
    """f64."""
    OPTIONAL = 31
    """u16 slot, u32 size: if None is looked at, go on behind that many bytes; else note it."""
    GUARD = 32
    """u16 slot, u32 size: the same if None was found there."""
    TEXT = 33
    """u8 whether bytes: decode the str or bytes looked at."""
    SMALL = 34
    BYTES = 35
    CHOICE = 36
    """u32 text, u16 length: all; u16 count, then each: u32 text, u16 length."""
    OBJECT = 37
    """u8 what is right: :class:`Right`, or a type index; u8 the static type index of the key, or 0;
    u32 text, u16 length: the key, or what is expected."""
    DTYPES = 38
    """u8 count, u32 dtypes…, u32 text, u16 length."""
    DIMS = 39


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
    BYTE_OFFSET = Part.BYTE_OFFSET
    DATA = Part.DATA
    ENTRY = Part.ENTRY
    COUNT = Part.COUNT
    ARGUMENTS = Part.ARGUMENTS
    OBJECT = 12
    LENGTH = 13
    CELLS = 14
    SHAPE_POINTER = 15


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


class TableWriter:
    """Collects instructions, symbols and text, and lays them out."""

    def __init__(
        self, signature: spec.Signature, symbols: list[spec.Var], backtrace: str = ""
    ) -> None:
        self._signature = signature
        self._backtrace = backtrace.encode()
        self._code = bytearray()
        self._arguments = [text.encode() for text in spec.argument_texts(signature)]
        self._whole = b"".join((signature.name.encode(), b"(", b", ".join(self._arguments), b")"))
        self._text = bytearray(self._whole + self._backtrace)
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

    def finish(self) -> bytes:
        """The table."""
        self.emit(Op.DONE)
        arguments = self._arguments
        names = [(*self._intern(var.name), style_of(var.dtype)) for var in self.symbols]
        head_size = 4 * 8 + 8 * len(arguments) + 8 * len(self.symbols)
        text_at = head_size + len(self._code)
        if self._slots >= NO_INDEX:
            raise BuildError(
                f"{self._signature.name}: a wrapper cannot keep {self._slots} symbols and tensors; "
                f"at most {NO_INDEX - 1}"
            )
        head = struct.pack(
            "<8I",
            self._slots,
            head_size,
            self._buffer_size(),
            text_at,
            len(self._whole),
            len(self._signature.name) + 1,
            len(arguments),
            len(self._backtrace),
        )
        start = text_at + len(self._signature.name) + 1
        for argument in arguments:
            length = len(argument)
            head += struct.pack("<2I", start, length)
            start += length + 2
        for position, length, style in names:
            head += struct.pack("<I2H", text_at + position, length, style)
        return head + self._placed(text_at) + bytes(self._text)

    def _placed(self, text_at: int) -> bytes:
        """The code with text positions made relative to the table."""
        code = bytearray(self._code)
        for at, position in self._text_uses:
            struct.pack_into("<I", code, at, text_at + position)
        return bytes(code)

    def _intern(self, string: str) -> tuple[int, int]:
        data = string.encode()
        if len(data) > 0xFFFF:
            raise BuildError(f"{self._signature.name}: a text of {len(data)} bytes is too long")
        position = self._text.find(data)
        if position < 0:
            position = len(self._text)
            self._text += data
        return position, len(data)

    def _buffer_size(self) -> int:
        """Enough for any message: the shown signature, a layout, an expression's symbols."""
        shown = len(self._whole)
        if shown > SIGNATURE_LIMIT:
            shown = len(self._signature.name) + 24 + max(map(len, self._arguments), default=0)
        longest_name = max((len(var.name) for var in self.symbols), default=0)
        longest_path = len(self._text)
        symbols = len(self.symbols) * (longest_name + 64 + min(longest_path, 256))
        return 2048 + shown + 2 * 22 * self._rank + min(symbols + longest_path, 1 << 16)


def dtype_word(dtype: spec.DataType) -> int:
    """A ``DLDataType`` as the little-endian i32 that it is in memory."""
    packed = dtype.code | dtype.bits << 8 | dtype.lanes << 16
    return packed - (1 << 32) if packed >> 31 else packed
