"""Writes tables: collects instructions, symbols and text, and lays them out."""

from __future__ import annotations

import re
import struct
from typing import Final

from ffi_builder import spec
from ffi_builder.diagnosis.table import (
    LONGEST,
    NO_INDEX,
    SLOT_SIZE,
    SLOTS_AT,
    Code,
    Head,
    Op,
    Table,
    style_of,
)
from ffi_builder.errors import BuildError
from ffi_builder.plan.messages import SHOWN_ENTRIES, SIGNATURE_LIMIT

_SEARCHED: Final = 1 << 14
"""Length of the text that is searched for strings to share."""


class TableWriter:
    """A table while it is being written."""

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
        """Positions of texts in the text, by text: the words first."""
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
        """Let the instruction at :meth:`skip` skip to here."""
        struct.pack_into("<I", self._code, start - 4, len(self._code) - start)

    def new_slot(self) -> int:
        """Reserve a slot for an object."""
        self._slots += 1
        return self._slots - 1

    def note_rank(self, ndim: int) -> None:
        """Note that messages may show a shape and strides of this many entries."""
        self._rank = max(self._rank, min(ndim, SHOWN_ENTRIES + 1))

    def finish(self) -> Table:
        """Lay out the table."""
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
        """Return the code, with positions of texts relative to the table."""
        code = bytearray(self._code)
        for at, position in self._text_uses:
            struct.pack_into("<I", code, at, text_at + position)
        return bytes(code)

    def _intern(self, string: str) -> tuple[int, int]:
        data = string.encode()
        if len(data) > LONGEST:
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
        """Return a bound on messages: the signature, a layout, an expression's symbols."""
        longest = max(map(len, self._arguments), default=0)
        shown = min(self._length, max(SIGNATURE_LIMIT, longest)) + 24
        longest_name = max((len(var.name) for var in self.symbols), default=0)
        symbols = len(self.symbols) * (longest_name + 64 + min(len(self._text), 256))
        return 2048 + shown + 2 * 22 * self._rank + min(symbols + len(self._text), 1 << 16)


def dtype_word(dtype: spec.DataType) -> int:
    """Return the little-endian i32 that a ``DLDataType`` is in memory."""
    packed = dtype.code | dtype.bits << 8 | dtype.lanes << 16
    return packed - (1 << 32) if packed >> 31 else packed
