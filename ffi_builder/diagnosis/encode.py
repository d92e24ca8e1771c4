"""From a plan to its table: one flat ``match`` over the steps."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

from typing_extensions import assert_never

from ffi_builder import abi, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.diagnosis.table import (
    NO_INDEX,
    WORDS,
    Op,
    Right,
    Source,
    Table,
    TableWriter,
    dtype_word,
)
from ffi_builder.diagnosis.writing import (
    as_signed,
    integer_dtype,
    write_choice,
    write_expression,
    write_scalar,
)
from ffi_builder.errors import BuildError
from ffi_builder.plan import Part, Place, Plan, Words
from ffi_builder.plan import steps as s
from ffi_builder.plan.messages import SHOWN_ENTRIES
from ffi_builder.plan.optional_spans import regions

_OBJECT: Final = abi.TYPE_KEYS[TypeIndex.OBJECT]
_STATIC: Final = {key: index for index, key in abi.TYPE_KEYS.items()}


def encode(plan: Plan) -> Table:
    """The table that the diagnosis of a wrapper interprets.

    Raises:
        BuildError: if the signature is too large for the table's fields.
    """
    try:
        return _Encoder(plan).encode()
    except struct.error as error:
        raise BuildError(
            f"{plan.signature.name}: the signature is too large for one wrapper: {error}"
        ) from error


def symbols_of(plan: Plan) -> list[spec.Var]:
    """Every symbol of a plan, in the order in which they are bound."""
    bound = (step.symbol for step in plan if isinstance(step, (s.Bind, s.BindOrEqual)))
    return list(dict.fromkeys(bound))


class _Encoder:
    """Walks a plan, and remembers what the interpreter is looking at."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._out = TableWriter(plan.signature, symbols_of(plan))
        self._slots: dict[tuple[int, ...], int] = {}
        self._present: dict[tuple[int, ...], int] = {}
        self._ranks: dict[tuple[int, ...], int] = {}
        self._position: tuple[int, ...] | None = None
        self._object: tuple[int, ...] | None = None
        self._read: Place | None = None
        self._sized: tuple[int, ...] | None = None

    def encode(self) -> Table:
        steps = self._plan.steps
        self._run(steps[: self._plan.late])
        for step in steps[self._plan.late :]:
            self._guarded(step)
        return self._out.finish()

    def _run(self, steps: Sequence[s.AnyStep]) -> None:
        every = list(regions(steps))
        at = 0
        while at < len(every):
            step, inside = every[at]
            at += 1
            if isinstance(step, s.DecodeOptional):
                self._optional(step.place, inside)
            elif isinstance(step, s.NotNull) and self._head(
                [next_ for next_, _ in every[at : at + 3]]
            ):
                at += 3
            else:
                self._step(step)

    def _head(self, steps: Sequence[s.AnyStep]) -> bool:
        """What most tensors have behind NotNull, in one instruction; whether it was that."""
        match steps:
            case [
                s.CheckNdim(place, ndim),
                s.CheckDType(_, (dtype,)),
                s.CheckDeviceType() as device,
            ]:
                code = device.code
            case _:
                return False
        if max(ndim, code) > 0xFF:
            return False
        self._note_rank(place, ndim)
        self._out.emit(Op.HEAD, "BiB", ndim, dtype_word(dtype), code)
        return True

    def _note_rank(self, place: Place, ndim: int) -> None:
        self._ranks[place.position] = ndim
        self._out.note_rank(ndim)

    def _optional(self, place: Place, inside: Sequence[s.AnyStep]) -> None:
        self._look_at(place)
        slot = self._out.new_slot()
        self._present[place.position] = slot
        start = self._out.skip(Op.OPTIONAL, slot)
        self._run(inside)
        self._out.land(start)
        self._forget()

    def _guarded(self, step: s.AnyStep) -> None:
        """A step that had to wait; it is skipped if an Optional that it is in was absent."""
        position = step.place.position
        ends = [end for end in range(len(position), 0, -1) if position[:end] in self._present]
        if not ends:
            self._step(step)
            return
        # The innermost: it is noted as there only if those around it are.
        start = self._out.skip(Op.GUARD, self._present[position[: ends[0]]])
        self._forget()
        self._step(step)
        self._out.land(start)
        self._forget()

    def _forget(self) -> None:
        """What the interpreter looks at is not known here."""
        self._position = self._object = self._read = None

    def _step(self, step: s.AnyStep) -> None:
        out = self._out
        match step:
            # What there is most of comes first: a match tries one after the other.
            case s.NotNegative(place):
                if place.part is Part.SHAPE and (place.index or 0) <= 0xFF:
                    self._turn_to(place)
                    out.emit(Op.DIM, "B", place.index or 0)
                    self._read = place
                else:
                    self._value(place)
                    out.emit(Op.NONNEGATIVE)
            case s.CheckContiguous(place, order):
                if not place.index:  # all axes together: of a known rank, there is a step for each
                    self._turn_to(place)
                    out.emit(Op.LAYOUT, "B", order == "F")
                    self._read = None
            case s.EqualSymbol(place, symbol):
                self._value(place)
                out.emit(Op.EQSYM, "HB", out.symbols[symbol], WORDS.index(step.words))
            case s.Bind(place, symbol):
                self._value(place)
                out.emit(Op.BIND, "H", out.symbols[symbol])
            case s.NotNull():
                self._source(Source.OBJECT)
                self._nonzero(step.words)
            case s.DecodeTensor(place):
                self._look_at(place)
                out.emit(Op.TENSOR)
                self._save(place)
            case s.CheckNdim(place, expected):
                self._note_rank(place, expected)
                self._value(place)
                self._equal(expected, step.words)
            case s.CheckDType(place, dtypes):
                self._value(place)
                if len(dtypes) == 1:
                    self._equal(dtype_word(dtypes[0]), step.words)
                else:
                    out.emit(Op.DTYPES, "B", len(dtypes))
                    out.numbers(f"{len(dtypes)}i", *map(dtype_word, dtypes))
                    out.text(step.text)
            case s.CheckDeviceType(place):
                self._value(place)
                self._equal(step.code, step.words)
            case s.CheckSameDevice(place, others):
                self._turn_to(place)
                self._read = place
                out.emit(Op.SAME_DEVICE, "H", len(others))
                for other in others:
                    out.numbers("H", self._slots[other.position])
                    out.text(other.path)
            case s.CheckShapePointer(place):
                self._turn_to(place)
                out.emit(Op.SHAPED)
                self._read = None
            case s.CheckNumel(place):
                self._turn_to(place)
                out.emit(Op.DATA)
                self._sized = place.position
            case s.CheckOffset(place):
                assert self._sized == place.position, "stands behind CheckNumel, in one instruction"
            case s.CheckData(place):
                assert self._sized == place.position, "so does this one"
                self._read = place
            case s.CheckAlignment(place, alignment):
                self._value(place)
                out.emit(Op.ALIGN, "B", alignment.bit_length() - 1)
            case s.DecodeScalar(place, kind, dtype):
                self._look_at(place)
                write_scalar(out, kind, dtype)
                self._read = place
            case s.Fits(place, dtype):
                self._value(place)
                out.emit(Op.FITS, "BB", *integer_dtype(dtype))
            case s.CheckCount(place, expected):
                self._source(Source.COUNT)
                self._equal(expected, step.words)
            case s.CheckArguments():
                self._source(Source.ARGUMENTS)
                self._nonzero(step.words)
            case s.DecodeShape(place) | s.DecodeTuple(place):
                self._look_at(place)
                out.emit(Op.CONTAINER, "B", WORDS.index(step.words))
                self._save(place)
            case s.DecodeOptional():
                raise AssertionError("not by itself")
            case s.DecodeText(place, binary):
                self._look_at(place)
                out.emit(Op.TEXT, "B", binary)
                self._object = None  # it holds the str now
            case s.DecodeObject(place):
                self._look_at(place)
                self._decode_object(step)
            case s.CheckSmall():
                out.emit(Op.SMALL)
            case s.CheckBytes():
                out.emit(Op.BYTES)
            case s.CheckChoice(_, choice):
                write_choice(out, choice)
            case s.CheckLength(place, expected):
                self._source(Source.LENGTH)
                self._equal(expected, step.words)
            case s.CheckCells():
                self._source(Source.CELLS)
                self._nonzero(step.words)
            case s.CheckDims(place):
                out.note_rank(SHOWN_ENTRIES + 1)
                self._turn_to(place)
                out.emit(Op.DIMS)
                self._read = None
            case s.DecodeEntry(place):
                self._value(place)
            case s.CheckBool():
                out.emit(Op.BOOL)
            case s.CheckPacked(place):
                self._value(place)
            case s.AtLeast(place, symbol):
                self._bound(Op.MIN, place, symbol, symbol.min)
            case s.AtMost(place, symbol):
                self._bound(Op.MAX, place, symbol, symbol.max)
            case s.Divisible(place, symbol):
                self._bound(Op.DIVISIBLE, place, symbol, symbol.divisibility)
            case s.EqualInt(place, expected):
                self._value(place)
                self._equal(expected, step.words)
            case s.EqualFloat(_, expected):
                out.emit(Op.EQFLOAT, "d", expected.value)
            case s.BindOrEqual(place, symbol):
                self._value(place)
                out.emit(Op.BINDEQ, "HB", out.symbols[symbol], WORDS.index(step.words))
            case s.Solve(place, symbol, expr, scale, offset):
                self._value(place)
                out.emit(Op.SOLVE, "Hqq", out.symbols[symbol], scale, offset)
                out.text(str(expr))
                # The value is the symbol's now, though the place is the same.
                self._read = step.solved
            case s.EqualExpr(place, expr):
                self._value(place)
                write_expression(out, expr, step.words)
            case _:
                assert_never(step)

    # ---- what the interpreter looks at

    def _look_at(self, place: Place) -> None:
        """Make the argument, or the element of a tuple, the one that is decoded next."""
        out = self._out
        if place.position == self._position:
            return
        *outer, last = place.position
        if outer:
            self._restore(tuple(outer))
            out.emit(Op.ELEM, "H", last)
        else:
            out.emit(Op.ARG, "H", last)
        self._parameter(place)

    def _parameter(self, place: Place) -> None:
        out = self._out
        out.emit(Op.PARAM)
        out.text(place.path)
        out.numbers("H", place.argument)
        self._position = place.position
        self._read = None

    def _save(self, place: Place) -> None:
        self._slots[place.position] = self._out.new_slot()
        self._out.emit(Op.SAVE, "H", self._slots[place.position])
        self._object = place.position
        self._read = None

    def _restore(self, position: tuple[int, ...]) -> None:
        if self._object != position:
            self._out.emit(Op.RESTORE, "H", self._slots[position])
            self._object = position

    def _source(self, source: Source, index: int | None = None) -> None:
        if index is not None and index >= NO_INDEX:
            raise BuildError(
                f"{self._plan.signature.name}: a wrapper cannot look at more than {NO_INDEX} "
                f"dimensions or entries of one parameter"
            )
        if index is None:
            self._out.emit(Op.READ, "B", source)
        else:
            self._out.emit(Op.ENTRY, "BH", source, index)
        self._read = None

    def _turn_to(self, place: Place) -> None:
        """Have the object of a place be the one that is looked at."""
        if place.position != self._position:
            self._parameter(place)
        self._restore(place.position)

    def _value(self, place: Place) -> None:
        """Read the value at a place, unless it was read last."""
        if place is self._read or place == self._read:
            return
        if place.part is not Part.VALUE:
            self._turn_to(place)
            self._source(Source(place.part), place.index)
            if place.packing > 1:
                self._out.emit(Op.SCALE, "q", place.packing)
        self._read = place

    # ---- checks

    def _equal(self, expected: int, words: Words) -> None:
        op, layout = (Op.EQ8, "BB") if 0 <= expected <= 0xFF else (Op.EQ, "qB")
        self._out.emit(op, layout, expected, WORDS.index(words))

    def _nonzero(self, words: Words) -> None:
        self._out.emit(Op.NONZERO, "B", WORDS.index(words))

    def _decode_object(self, step: s.DecodeObject) -> None:
        right = step.type_index or Right.ANY
        if step.type_key not in (None, _OBJECT):
            right = Right.BY_KEY
        self._out.emit(Op.OBJECT, "BB", right, _STATIC.get(step.type_key or "", 0))
        self._out.text(step.text)
        self._object = None  # it holds this one now

    def _bound(self, op: Op, place: Place, symbol: spec.Var, bound: int | None) -> None:
        assert bound is not None
        self._value(place)
        self._out.emit(op, "qH", as_signed(bound), self._out.symbols[symbol])
