"""Writes tables: shared text, instructions and their operands, and the head."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from typing import Final

from ffi_builder import abi, spec
from ffi_builder.diagnosis.table import (
    COMPARISONS,
    NO_INDEX,
    OPERATIONS,
    OPERATOR_CODES,
    SLOT_SIZE,
    WORDS,
    Accepted,
    Code,
    Head,
    Op,
    Rounding,
    Style,
    style_of,
    type_mask,
)
from ffi_builder.errors import BuildError
from ffi_builder.plan import Place, Words
from ffi_builder.plan import steps as s
from ffi_builder.plan.messages import SHOWN_ENTRIES, SIGNATURE_LIMIT
from ffi_builder.plan.step import Byte, ExpectInt, Instruction, Short
from ffi_builder.records import dataclass
from ffi_builder.spec.expr import Combined, Condition, Expr, Relation
from ffi_builder.spec.functions import variables
from ffi_builder.spec.numbers import INT_RANGES
from ffi_builder.spec.outlines import argument_texts

_LONGEST: Final = 0xFFFF
_SEARCHED: Final = 1 << 14
"""Length of the part of the text that is searched for strings to share."""
_HEAD: Final = struct.Struct("<5I4H")
_U16: Final = struct.Struct("<H")
_I64: Final = struct.Struct("<q")
_F64: Final = struct.Struct("<d")

_OBJECT: Final = abi.TYPE_KEYS[abi.TypeIndex.OBJECT]
_LOGIC: Final = {"and": Code.AND, "or": Code.OR, "not": Code.NOT}
_STYLES: Final = {s.Kind.HANDLE: Style.HEX, s.Kind.CONST_BOOL: Style.BOOL}


@dataclass(frozen=True)
class Table:
    """A table without the parts that depend on the function's name."""

    rest: bytes
    """Symbols, instructions and text."""
    code: int
    text: int
    length: int
    frame: int
    """Size of the frame for an empty name."""
    slots: int
    arguments: tuple[int, ...]
    """Length of each parameter's text."""
    overlaps: int
    """Position of the comparisons of memory; 0 if there are none."""

    def named(self, name: str, backtrace: str) -> bytes:
        """Return the table of a function, with the backtrace of its errors.

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

    def __init__(self, signature: spec.Signature, symbols: Sequence[spec.Var]) -> None:
        self._name = signature.name
        self._code = bytearray()
        self._arguments = [text.encode() for text in argument_texts(signature)]
        self._text = bytearray(b", ".join(self._arguments) + b")")
        self._length = len(self._text)
        words = [*re.finditer(rb"\w+", bytes(self._text[_SEARCHED:]))]
        self._known: dict[bytes, int] = {
            word[0]: _SEARCHED + word.start() for word in reversed(words)
        }
        """Positions of strings in the text, by string; words come first."""
        self._text_uses: list[tuple[int, int]] = []
        self.symbols = {var: number for number, var in enumerate(symbols)}
        self.code_at: Final = Head.SIZE + 8 * len(symbols)
        """Position of the first instruction in the table."""
        self._slots = len(symbols)
        self._rank = 0

    def emit(self, op: Op | Code, layout: str = "", *operands: float) -> None:
        """Append an instruction, with operands packed by a format of ``struct``."""
        self._code += struct.pack(f"<B{layout}", op, *operands)

    def equal(self, expected: int, words: Words) -> None:
        """Append an instruction that compares the value with an int."""
        if 0 <= expected <= 0xFF:
            self.emit(Op.EQ8, "BB", expected, WORDS[words])
        else:
            self.emit(Op.EQ, "qB", expected, WORDS[words])

    def instruction(self, check: Instruction) -> None:
        """Append the instruction of a check."""
        if isinstance(check, ExpectInt):
            self.equal(check.expected, check.error)
            return
        code = self._code
        code.append(OPERATIONS[check.op])
        for operand in check.operands:
            match operand:
                case str():
                    self.text(operand)
                case Words():
                    code.append(WORDS[operand])
                case spec.Var():
                    code += _U16.pack(self.symbols[operand])
                case Byte():
                    code.append(operand)
                case Short():
                    code += _U16.pack(operand)
                case int():
                    code += _I64.pack(as_signed(operand))
                case float():
                    code += _F64.pack(operand)

    def text(self, string: str) -> None:
        """Append a text operand: u32 position, u16 length."""
        position, length = self._intern(string)
        self._text_uses.append((len(self._code), position))
        self._code += struct.pack("<IH", position, length)

    def numbers(self, layout: str, *values: int) -> None:
        """Append operands alone."""
        self._code += struct.pack(f"<{layout}", *values)

    @property
    def position(self) -> int:
        """The length of the code so far."""
        return len(self._code)

    def skip(self, op: Op | None, *slot: int) -> int:
        """Append an instruction, or its last operands, that may skip the code to :meth:`land`."""
        if op is not None:
            self.emit(op)
        self.numbers("H" * len(slot) + "I", *slot, 0)
        return len(self._code)

    def back(self, position: int) -> None:
        """Append an instruction that goes back to a position."""
        self.emit(Op.BACK, "I", 0)
        struct.pack_into("<I", self._code, len(self._code) - 4, len(self._code) - position)

    def land(self, start: int) -> None:
        """Set the target of the instruction at :meth:`skip` to this position."""
        struct.pack_into("<I", self._code, start - 4, len(self._code) - start)

    def new_slot(self) -> int:
        """Reserve a slot for an object."""
        self._slots += 1
        return self._slots - 1

    def note_rank(self, ndim: int) -> None:
        """Note that messages may show a shape and strides of this many entries."""
        self._rank = max(self._rank, min(ndim, SHOWN_ENTRIES + 1))

    def finish(self, overlaps: int) -> Table:
        """Lay out the table; ``overlaps`` is the position of the comparisons of memory."""
        text_at = self.code_at + len(self._code)
        if self._slots >= NO_INDEX:
            raise BuildError(
                f"{self._name}: a wrapper cannot keep {self._slots} symbols and tensors; "
                f"at most {NO_INDEX - 1}"
            )
        names = self._write_names()
        entries = [struct.pack("<I2H", text_at + at, size, style) for at, size, style in names]
        rest = b"".join((*entries, self._placed(text_at), self._text))
        frame = SLOT_SIZE * self._slots + self._message_size()
        lengths = tuple(map(len, self._arguments))
        start = self.code_at, text_at, self._length, frame
        return Table(rest, *start, self._slots, lengths, overlaps)

    def _placed(self, text_at: int) -> bytes:
        """Return the code, with positions of texts relative to the table."""
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
            # Searching a long text as a whole would take time in proportion to its length.
            position = self._text.find(data, 0, _SEARCHED)
            if position < 0:
                position = len(self._text)
                self._text += data
            self._known[data] = position
        return position, len(data)

    def _write_names(self) -> list[tuple[int, int, int]]:
        """Write the names of symbols; return their positions, lengths and styles.

        The name of a Choice is followed by its values, as errors show them.
        """
        names: list[tuple[int, int, int]] = []
        for var in self.symbols:
            name, style = var.name, style_of(var)
            if isinstance(var, s.Subject):
                style += Style.PROPERTY
                if isinstance(var.of.param, spec.Choice):
                    name = "\0".join((name, *map(repr, var.of.param.choices), ""))
            names.append((self._intern(name)[0], len(var.name.encode()), style))
        return names

    def _message_size(self) -> int:
        """Return a bound on messages: the signature, a layout, an expression's symbols."""
        longest = max(map(len, self._arguments), default=0)
        shown = min(self._length, max(SIGNATURE_LIMIT, longest)) + 24
        longest_name = max((len(var.name) for var in self.symbols), default=0)
        symbols = len(self.symbols) * (longest_name + 64 + min(len(self._text), 256))
        return 2048 + shown + 2 * 22 * self._rank + min(symbols + len(self._text), 1 << 16)


def write_scalar(out: TableWriter, kind: s.Kind, dtype: str | None) -> None:
    """Decode a scalar of a kind; round floats to a dtype."""
    style = Style.FLOAT if kind.is_float else _STYLES.get(kind, Style.INT)
    out.emit(Op.SCALAR, "IBB", type_mask(kind.accepts), WORDS[kind.words], style)
    if style is Style.FLOAT:
        out.emit(Op.FLOAT, "B", Rounding[(dtype or "float64").upper()])


_TEXTS: Final = {"String": abi.TypeIndex.STR, "Bytes": abi.TypeIndex.BYTES}


def write_usual(out: TableWriter, dtype: str) -> None:
    """Pass by elements of a list as most are. Others that are right are checked one by one."""
    low, high, index = 0, 2**64 - 1, abi.TypeIndex.FLOAT
    if dtype in INT_RANGES:
        low, high = INT_RANGES[dtype]
        high, index = min(high, 2**63 - 1), abi.TypeIndex.INT
    elif dtype == "bool":
        high, index = 1, abi.TypeIndex.BOOL
    elif dtype in _TEXTS:
        index = _TEXTS[dtype]
    out.emit(Op.USUAL, "Bqq", index, as_signed(-low), as_signed(high - low))


def write_object(out: TableWriter, step: s.DecodeObject) -> None:
    """Decode an object."""
    accepted = step.type_index or Accepted.ANY
    if step.type_key not in (None, _OBJECT):
        accepted = Accepted.BY_KEY
    if step.or_dict:
        accepted = Accepted.MAPPING
    out.emit(Op.OBJECT, "BB", accepted, abi.STATIC_TYPES.get(step.type_key or "", 0))
    out.text(step.text)


def write_variant(out: TableWriter, step: s.DecodeVariant) -> None:
    """Check that the value is of one of the types of a Variant."""
    types = (index for alternative in step.alternatives for index in alternative.types)
    out.emit(Op.VARIANT, "I", type_mask(types))
    out.text(step.text)


def write_nonzero(out: TableWriter, words: Words) -> None:
    """Check that the value is not 0."""
    out.emit(Op.NONZERO, "B", WORDS[words])


def write_dtypes(out: TableWriter, step: s.CheckDType) -> None:
    """Check that the value is one of the dtypes."""
    words = [dtype.word for dtype in step.dtypes]
    if len(words) == 1:
        out.equal(words[0], step.error)
        return
    out.emit(Op.DTYPES, "B", len(words))
    out.numbers(f"{len(words)}i", *words)
    out.text(step.text)


def holder(place: Place) -> tuple[int, ...]:
    """Return the position of a tensor, or of the list if the tensor stands for each element."""
    return place.position[:-1] if place.is_each else place.position


def write_others(out: TableWriter, others: Sequence[Place], slots: Sequence[int]) -> None:
    """Write the slots and texts of the tensors or lists to compare with."""
    out.numbers("H", len(others))
    for other, slot in zip(others, slots, strict=True):
        out.numbers("H", slot)
        out.text(other.fixed_path)


def write_expression(out: TableWriter, expr: Expr, words: Words) -> None:
    """Check that the value equals an expression."""
    out.emit(Op.EXPR, "B", WORDS[words])
    _write_shown(out, str(expr), expr)
    _write_postfix(out, expr)
    out.emit(Code.END)


def write_condition(out: TableWriter, step: s.CheckCondition) -> None:
    """Check that a condition is not false."""
    out.emit(Op.CONDITION, "B", WORDS[step.error])
    _write_shown(out, step.text, step.condition)
    _write_postfix(out, step.condition)
    out.emit(Code.END)
    symbols = [out.symbols[var] for var in step.symbols]
    out.numbers(f"B{len(symbols)}H", len(symbols), *symbols)


def _write_shown(out: TableWriter, text: str, value: Expr | Condition) -> None:
    """Write the text and the symbols of an expression or condition, for errors."""
    out.text(text)
    symbols = list(dict.fromkeys(variables(value)))
    out.numbers(f"{len(symbols) + 1}H", len(symbols), *(out.symbols[var] for var in symbols))


def _write_postfix(out: TableWriter, value: spec.Dim | Condition) -> None:
    match value:
        case spec.Var():
            # A uint64 beyond int64 counts as an overflow.
            out.emit(Code.SYMBOL, "HB", out.symbols[value], style_of(value) is Style.UINT)
        case Expr(op, lhs, rhs):
            _write_postfix(out, lhs)
            _write_postfix(out, rhs)
            out.emit(OPERATOR_CODES[op])
        case int():
            out.emit(Code.CONSTANT, "q", value)
        case Combined(op, (first, *others)):
            _write_postfix(out, first)
            for other in others:
                _write_postfix(out, other)
                out.emit(_LOGIC[op])
            if op == "not":
                out.emit(_LOGIC[op])
        case Relation(op, s.Subject() as subject, int() as number) if (
            style_of(subject) is Style.CHOICE
        ):
            choices = enumerate(subject.of.param.choices.values())
            members = [at for at, one in choices if (one == number) is (op == "==")]
            _write_members(out, subject, members or [-1])  # -1 stands for no choice
        case Relation(op, lhs, rhs):
            if isinstance(rhs, tuple):
                _write_members(out, lhs, rhs)
                return
            _write_postfix(out, lhs)
            _write_postfix(out, rhs)
            out.emit(Code.COMPARE, "B", COMPARISONS[op])
        case _:
            raise AssertionError(f"plans have no {value}")


def _write_members(out: TableWriter, value: spec.Dim, members: Sequence[int]) -> None:
    """Write a test whether a value is one of these."""
    for index, member in enumerate(members):
        _write_postfix(out, value)
        out.emit(Code.CONSTANT, "q", member)
        out.emit(Code.COMPARE, "B", COMPARISONS["=="])
        if index:
            out.emit(Code.OR)


def as_signed(value: int) -> int:
    """Return the int64 with the same bits as a uint64."""
    return value - (1 << 64) if value >= 1 << 63 else value
