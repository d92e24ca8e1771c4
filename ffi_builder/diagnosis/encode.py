"""Encodes a plan as a table.

A check that takes one instruction declares it. This module encodes decoding steps, and checks that
take several instructions.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable

from typing_extensions import assert_never

from ffi_builder import spec
from ffi_builder.diagnosis import writing
from ffi_builder.diagnosis.table import LATER, NO_INDEX, WORDS, Op, Source, type_mask
from ffi_builder.errors import BuildError
from ffi_builder.plan import Part, Place, Plan
from ffi_builder.plan import steps as s
from ffi_builder.plan.messages import SHOWN_ENTRIES
from ffi_builder.plan.step import Instruction


def encode(plan: Plan) -> writing.Table:
    """Encode a plan as the table that the diagnosis of a wrapper reads.

    Raises:
        BuildError: if the signature is too large for the table's fields.
    """
    try:
        return _Encoder(plan).encode()
    except struct.error as error:
        raise BuildError(
            f"{plan.signature.name}: the signature is too large for one wrapper: {error}"
        ) from error


class _Encoder:
    """Writes instructions, and tracks the state of the diagnosis to leave out redundant ones."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._out = writing.TableWriter(plan.signature, plan.symbols)
        self._slots: dict[tuple[int, ...], int] = {}
        self._present: dict[tuple[int, ...], int] = {}
        self._variants = {
            step.place.position for step in plan.every_step if isinstance(step, s.DecodeVariant)
        }
        self._position: tuple[int, ...] | None = None
        self._object: tuple[int, ...] | None = None
        self._read: Place | None = None

    def encode(self) -> writing.Table:
        plan = self._plan
        self._run(plan.steps)
        for step in plan.waiting:
            self._guarded(step)
        self._out.emit(Op.DONE)
        return self._out.finish(self._overlaps() if plan.overlaps else 0)

    def _overlaps(self) -> int:
        """Write the comparisons of memory, and return their position in the table.

        Where lists are compared, all other checks have passed. Repeating them for each element
        would take longer than comparing, so other instructions find the objects.
        """
        plan, out = self._plan, self._out
        code = out.code_at
        if plan.compares_lists:
            code += out.position
            self._forget()
            self._find(plan.steps)
            out.emit(Op.DONE)
        start = out.code_at + out.position
        out.numbers("IH", code, len(plan.overlaps))
        for step in plan.overlaps:
            self._operands(step.place)
            out.numbers("H", self._slots[writing.holder(step.place)])
            others = [other for other, _ in step.others]
            slots = [self._slots[writing.holder(o)] if o != step.place else LATER for o in others]
            writing.write_others(out, others, slots)
        return start

    def _find(self, steps: Iterable[s.AnyStep]) -> None:
        """Save tensors and lists, and the tuples around them, without checks."""
        for step in steps:
            match step:
                case s.DecodeOptional():
                    self._branch(step, self._find)
                case s.DecodeVariant(alternatives=alternatives):
                    for alternative in alternatives:
                        self._branch(alternative, self._find)
                case s.DecodeTensor() | s.DecodeList() | s.DecodeTuple():
                    self._decode_object(step)
                case _:
                    pass

    def _run(self, steps: Iterable[s.AnyStep]) -> None:
        for step in steps:
            self._step(step)

    def _guarded(self, step: s.AnyStep) -> None:
        """Encode a late step; it is skipped if an Optional around its place was absent."""
        position = step.place.position
        ends = [end for end in range(len(position), 0, -1) if position[:end] in self._present]
        # A condition belongs to no argument, and is unknown if a symbol is not bound.
        if not ends or isinstance(step, s.CheckCondition):
            self._step(step)
            return
        # The innermost Optional is noted as present only if the Optionals around it are.
        start = self._out.skip(Op.GUARD, self._present[position[: ends[0]]])
        self._forget()
        self._step(step)
        self._out.land(start)
        self._forget()

    def _forget(self) -> None:
        """Forget the state of the diagnosis."""
        self._position = self._object = self._read = None

    def _step(self, step: s.AnyStep) -> None:
        out, place = self._out, step.place
        match step:
            # The most frequent steps come first: a match tries one case after the other.
            case s.ReadDim():
                self._dim(place)
            case s.CheckCount() | s.CheckLeastCount():
                self._source(Source.COUNT)
                out.instruction(step)
            case Instruction():
                self._instruction(step)
            case s.DecodeTensor():
                self._tensor_header(step)
            case s.CheckShapePointer():
                self._shape(step)
            case s.CheckLayout(order=order):
                self._turn_to(place)
                out.emit(Op.LAYOUT, "B", order == "F")
                self._read = None
            case s.CheckData():
                self._turn_to(place)
                out.emit(Op.DATA)
                self._read = place
            case s.DecodeScalar():
                self._scalar(step)
            case s.DecodeOptional():
                self._branch(step, self._run)
            case s.DecodeVariant():
                self._look_at(place)
                writing.write_variant(out, step)
                for alternative in step.alternatives:
                    self._branch(alternative, self._run)
            case s.Alternative():
                raise AssertionError("a Variant writes its alternatives")
            case s.DecodeShape() | s.DecodeTuple():
                self._container(step)
            case s.DecodeList():
                self._decode_object(step)
                self._not_null()
                self._instructions(step)
            case s.EachElement():
                self._elements(step)
            case s.OpenMap():
                out.emit(Op.MAP)
                self._save(place)
            case s.DecodeEntry():
                self._instruction(s.NotNegative(place))
            case s.DecodeText():
                self._text(step)
            case s.DecodeObject():
                self._look_at(place)
                writing.write_object(out, step)
                self._object = None  # this object replaces it
                self._not_null()
            case s.CheckArguments():
                self._source(Source.ARGUMENTS)
                writing.write_nonzero(out, step.error)
            case s.CheckPacked():
                self._value(place)
            case s.EqualExpr():
                self._value(place)
                writing.write_expression(out, step.expr, step.error)
            case s.CheckCondition():
                writing.write_condition(out, step)
                self._read = None
            case s.CheckOverlap():
                raise AssertionError("overlaps are written behind all else")
            case _:
                assert_never(step)

    def _instruction(self, check: Instruction) -> None:
        self._value(check.place)
        self._out.instruction(check)
        if isinstance(check, s.Solve):  # from here on, the last value read is the symbol's
            self._read = check.solved

    def _instructions(self, step: s.Decode) -> None:
        """Write the checks of a decoded value that take one instruction each."""
        for check in step.checks:
            if isinstance(check, Instruction):
                self._instruction(check)

    # ---- decoding

    def _branch(
        self,
        step: s.DecodeOptional | s.Alternative,
        write: Callable[[Iterable[s.AnyStep]], None],
    ) -> None:
        """Write what is skipped if None, or a value of another type, was passed."""
        self._look_at(step.place)
        op = Op.OPTIONAL
        if isinstance(step, s.Alternative):
            op = None
            self._out.emit(Op.ALTERNATIVE, "I", type_mask(step.types))
        slot = self._out.new_slot()
        self._present[step.place.position] = slot
        start = self._out.skip(op, slot)
        write(step.inside)
        self._out.land(start)
        self._forget()

    def _scalar(self, step: s.DecodeScalar) -> None:
        self._look_at(step.place)
        writing.write_scalar(self._out, step.kind, step.dtype)
        self._read = step.place
        self._instructions(step)

    def _text(self, step: s.DecodeText) -> None:
        self._look_at(step.place)
        self._out.emit(Op.TEXT, "B", step.binary)
        self._object = None  # the str replaces it
        self._not_null()
        self._instructions(step)

    def _container(self, step: s.DecodeShape | s.DecodeTuple) -> None:
        self._decode_object(step)
        self._not_null()
        self._source(Source.LENGTH)
        self._out.instruction(s.CheckLength(step.place, step.length))
        if step.length:
            self._source(Source.CELLS)
            writing.write_nonzero(self._out, s.CheckCells.words)

    def _decode_object(
        self, step: s.DecodeTensor | s.DecodeShape | s.DecodeTuple | s.DecodeList
    ) -> None:
        self._look_at(step.place)
        if isinstance(step, s.DecodeTensor):
            self._out.emit(Op.TENSOR)
        else:
            self._out.emit(Op.CONTAINER, "B", WORDS[step.error])
        self._save(step.place)

    def _elements(self, step: s.EachElement) -> None:
        """Write a loop. At its head the state of the diagnosis is unknown."""
        out, place = self._out, step.place
        self._turn_to(place)
        none = out.skip(Op.EACH)
        head = out.position
        self._forget()
        self._restore(place.position)
        if isinstance(step.param, spec.List) and not isinstance(step.param.dtype, spec.List):
            writing.write_usual(out, step.param.dtype)
        done = out.skip(Op.NEXT)
        for symbol, bound in step.known:
            self._bind_again(symbol, bound)
        self._run(step.inside)
        out.back(head)
        out.land(done)
        out.land(none)
        self._forget()

    def _bind_again(self, symbol: spec.Var, place: Place) -> None:
        """Bind a symbol to its checked value in the same element of an earlier list."""
        self._look_at(place)
        if self._object != place.position:
            self._out.emit(Op.TENSOR)
            self._object = place.position
        self._value(place)
        self._out.instruction(s.Bind(place, symbol))

    def _tensor_header(self, step: s.DecodeTensor) -> None:
        out, rank = self._out, step.rank
        self._decode_object(step)
        if step.place.is_each:
            first = (*step.place.position[:-1], 0)
            self._slots[first] = out.new_slot()
            out.emit(Op.FIRST, "H", self._slots[first])
        if rank is not None:
            out.note_rank(rank)
        single, device = step.single_dtype, step.device_type
        if rank is not None and single and device and max(rank, device.code) <= 0xFF:
            out.emit(Op.HEAD, "BiB", rank, single.word, device.code)
        else:
            self._parts_of_header(step)
        if (same := step.same_device) is not None:
            self._turn_to(same.place)
            self._read = same.place
            slots = [self._slots[other.position] for other in same.others]
            out.emit(Op.SAME_DEVICE)
            writing.write_others(out, same.others, slots)

    def _parts_of_header(self, step: s.DecodeTensor) -> None:
        """Write one instruction for each part."""
        out, ndim, dtype, device = self._out, step.ndim, step.dtype, step.device_type
        self._not_null()
        self._value(ndim.place)
        out.instruction(ndim)
        self._value(dtype.place)
        if isinstance(dtype, s.CheckSameDType):
            out.emit(Op.SAME_DTYPE, "H", self._slots[dtype.other.position])
            out.text(dtype.other.path)
        else:
            writing.write_dtypes(out, dtype)
        if device is not None:
            self._value(device.place)
            out.equal(device.code, device.error)

    def _dim(self, place: Place) -> None:
        assert place.index is not None
        if place.index <= 0xFF:
            self._turn_to(place)
            self._out.emit(Op.DIM, "B", place.index)
            self._read = place
        else:
            self._instruction(s.NotNegative(place))

    def _shape(self, step: s.CheckShapePointer) -> None:
        if step.any_rank:
            self._out.note_rank(SHOWN_ENTRIES + 1)
        self._turn_to(step.place)
        self._out.emit(Op.SHAPED)
        if step.any_rank:
            self._out.emit(Op.DIMS)
        self._read = None

    def _not_null(self) -> None:
        self._source(Source.OBJECT)
        writing.write_nonzero(self._out, s.NotNull.words)

    # ---- selecting objects and values

    def _look_at(self, place: Place) -> None:
        """Select the argument, or the element of a tuple, that is decoded next."""
        out = self._out
        if place.position == self._position:
            return
        *outer, last = self._argument(place.position)
        if outer:
            self._restore(tuple(outer))
            if place.is_each:
                out.emit(Op.ITEM)
            else:
                out.emit(Op.ELEM, "H", last)
        else:
            out.emit(Op.ARG, "H", last)
        self._parameter(place)

    def _argument(self, position: tuple[int, ...]) -> tuple[int, ...]:
        """Return the position of the argument, or the element, that a Variant at it is."""
        return self._argument(position[:-1]) if position[:-1] in self._variants else position

    def _operands(self, place: Place) -> None:
        """Write the operands of PARAM."""
        self._out.text(place.fixed_path)
        self._out.numbers("H", place.argument)

    def _parameter(self, place: Place) -> None:
        self._out.emit(Op.PARAM)
        self._operands(place)
        self._position = place.position
        self._read = None

    def _save(self, place: Place) -> None:
        if place.position not in self._slots:
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
        """Select the object of a place."""
        if place.position != self._position:
            self._parameter(place)
        self._restore(place.position)

    def _value(self, place: Place) -> None:
        """Read the value at a place, unless it was the last value read."""
        if place is self._read or place == self._read:
            return
        if place.part is Part.PRESENT:
            self._parameter(place)
            self._source(Source.PRESENT, self._present[place.position])
        elif place.part is not Part.VALUE:
            self._turn_to(place)
            self._source(Source(place.part), place.index)
            if place.packing > 1:
                self._out.emit(Op.SCALE, "q", place.packing)
        self._read = place
