"""The second form of a plan, for back ends: checks that are done together are one step.

A plan has one step per check, in the order of the errors. Back ends do some neighbouring checks
together; ndim and dtype of a tensor, for instance, are one comparison. These steps are fused here,
once, so that no back end looks at the steps before or after the current one. An Optional
contains the steps that it skips.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias, TypeVar, Union

from ffi_builder import spec
from ffi_builder.plan import steps as s
from ffi_builder.plan.path import Part, Place
from ffi_builder.plan.step import Step
from ffi_builder.records import dataclass


@dataclass(frozen=True)
class OptionalSpan:
    """An Optional, and the steps that are skipped if the argument is None."""

    place: Place
    inside: tuple[FusedStep, ...]


@dataclass(frozen=True)
class TensorHeader:
    """Decode a tensor; check its ndim, dtype and device."""

    place: Place
    not_null: s.NotNull
    ndim: s.CheckNdim | s.NotNegative
    dtype: s.CheckDType | s.CheckSameDType
    device_type: s.CheckDeviceType | None
    same_device: s.CheckSameDevice | None

    @property
    def rank(self) -> int | None:
        """The number of dimensions; None if any is accepted."""
        return self.ndim.expected if isinstance(self.ndim, s.CheckNdim) else None

    @property
    def single_dtype(self) -> spec.DataType | None:
        """The only dtype that is accepted; None if it depends on the call."""
        dtypes = () if isinstance(self.dtype, s.CheckSameDType) else self.dtype.dtypes
        return next(iter(dtypes)) if len(dtypes) == 1 else None


@dataclass(frozen=True)
class AnyShape:
    """Check the shape pointer and the dimensions of a tensor of any rank."""

    place: Place


@dataclass(frozen=True)
class Dim:
    """Read a dimension; check that it is not negative."""

    place: Place


@dataclass(frozen=True)
class Layout:
    """Check that all strides of a tensor are those of ``order``, or free."""

    place: Place
    order: str


@dataclass(frozen=True)
class TensorData:
    """Check that the number of elements fits int64, the offset does not wrap, data is not NULL."""

    place: Place


@dataclass(frozen=True)
class Container:
    """Decode a Shape or tuple; check its length."""

    place: Place
    decode: s.DecodeShape | s.DecodeTuple
    not_null: s.NotNull
    length: s.CheckLength
    cells: s.CheckCells | None
    """None if there are no elements."""


@dataclass(frozen=True)
class ListHeader:
    """Decode a list; check that its length is not negative and fits an int32."""

    place: Place
    not_null: s.NotNull
    not_negative: s.NotNegative
    fits: s.Fits


@dataclass(frozen=True)
class Elements:
    """Check the pointer to the elements, and then each element of a list.

    ``param`` and ``known`` are those of :class:`~ffi_builder.plan.steps.EachElement`.
    """

    place: Place
    cells: s.CheckCells
    param: spec.TensorList
    known: tuple[tuple[spec.Var, Place], ...]
    inside: tuple[FusedStep, ...]


@dataclass(frozen=True)
class Entry:
    """Decode an entry of a Shape; check that it is not negative.

    ``bounded`` says that another check of this entry rejects negative values too.
    """

    place: Place
    bounded: bool


@dataclass(frozen=True)
class Text:
    """Decode a str or bytes; check its pointers."""

    place: Place
    binary: bool
    not_null: s.NotNull


@dataclass(frozen=True)
class Integer:
    """Decode an int; check that it fits a dtype."""

    place: Place
    decode: s.DecodeScalar
    fits: s.Fits


@dataclass(frozen=True)
class Pointer:
    """Decode a pointer; an int is accepted if it is an address."""

    place: Place
    decode: s.DecodeScalar
    fits: s.Fits


FusedStep: TypeAlias = Union[
    s.PlainStep,
    OptionalSpan,
    TensorHeader,
    AnyShape,
    Dim,
    Layout,
    TensorData,
    Container,
    ListHeader,
    Elements,
    Entry,
    Text,
    Integer,
    Pointer,
]
"""Every step that back ends read, for ``match``."""


@dataclass(frozen=True)
class FusedPlan:
    """The second form of a plan; ``late`` holds the steps that had to wait for a later argument."""

    steps: tuple[FusedStep, ...]
    late: tuple[FusedStep, ...]


def fuse(steps: Sequence[s.AnyStep]) -> tuple[FusedStep, ...]:
    """Fuse the steps of a plan."""
    return tuple(_fused(_Cursor(steps)))


_Kind = TypeVar("_Kind", bound=Step)


class _Cursor:
    """Reads steps in order."""

    def __init__(self, steps: Sequence[s.AnyStep]) -> None:
        self._steps = steps
        self._at = 0

    def __iter__(self) -> Iterator[s.AnyStep]:
        while self._at < len(self._steps):
            self._at += 1
            yield self._steps[self._at - 1]

    def next_is(self, place: Place, *kinds: type[Step]) -> bool:
        """Return whether the next step reads this place and is of one of these classes."""
        if self._at == len(self._steps):
            return False
        step = self._steps[self._at]
        return isinstance(step, kinds) and step.place == place

    def take(self, kind: type[_Kind]) -> _Kind:
        """Take the next step, which is of this class in every plan."""
        found = self.take_if(kind)
        assert found is not None, f"{kind.__name__} does not follow"
        return found

    def take_if(self, kind: type[_Kind]) -> _Kind | None:
        """Take the next step if it is of this class."""
        if self._at == len(self._steps):
            return None
        step = self._steps[self._at]
        if not isinstance(step, kind):
            return None
        self._at += 1
        return step

    def take_within(self, position: tuple[int, ...]) -> Sequence[s.AnyStep]:
        """Take the next steps as long as they look into the parameter at a position."""
        start, depth = self._at, len(position)
        steps = self._steps
        while self._at < len(steps) and steps[self._at].place.position[:depth] == position:
            self._at += 1
        return steps[start : self._at]


def _fused(steps: _Cursor) -> Iterator[FusedStep]:
    for step in steps:
        match step:
            case s.DecodeOptional(place):
                yield OptionalSpan(place, fuse(steps.take_within(place.position)))
            case s.DecodeTensor(place):
                yield _tensor_header(place, steps)
            case s.CheckShapePointer(place, any_rank=True):
                steps.take(s.CheckDims)
                yield AnyShape(place)
            case s.NotNegative(place):
                assert place.part is Part.SHAPE
                yield Dim(place)
            case s.CheckContiguous(place, order):  # all axes follow one another
                while steps.take_if(s.CheckContiguous):
                    pass
                yield Layout(place, order)
            case s.CheckNumel(place):
                steps.take(s.CheckOffset)
                yield TensorData(steps.take(s.CheckData).place)
            case s.DecodeShape(place) | s.DecodeTuple(place):
                not_null, length = steps.take(s.NotNull), steps.take(s.CheckLength)
                yield Container(place, step, not_null, length, steps.take_if(s.CheckCells))
            case s.DecodeList(place):
                not_null, not_negative = steps.take(s.NotNull), steps.take(s.NotNegative)
                yield ListHeader(place, not_null, not_negative, steps.take(s.Fits))
            case s.CheckCells(place):  # that of a Container has been taken
                each = steps.take(s.EachElement)
                inside = fuse(steps.take_within(place.each.position))
                yield Elements(place, step, each.param, each.known, inside)
            case s.DecodeEntry(place):
                steps.take(s.NotNegative)
                yield Entry(place, bounded=steps.next_is(place, s.EqualInt, s.Fits))
            case s.DecodeText(place, binary):
                text = Text(place, binary, steps.take(s.NotNull))
                steps.take(s.CheckSmall)
                steps.take(s.CheckBytes)
                yield text
            case s.DecodeScalar(place, s.Kind.INT):
                yield Integer(place, step, steps.take(s.Fits))
            case s.DecodeScalar(place, s.Kind.POINTER):
                steps.take(s.NotNegative)
                yield Pointer(place, step, steps.take(s.Fits))
            case (
                (s.CheckNdim() | s.CheckDType() | s.CheckSameDType() | s.CheckDeviceType())
                | s.CheckSameDevice()
                | (s.CheckDims() | s.CheckOffset() | s.CheckData())
            ):
                raise AssertionError(f"no tensor header before {step}")
            case s.CheckLength() | s.EachElement() | s.CheckSmall() | s.CheckBytes():
                raise AssertionError(f"nothing is decoded before {step}")
            case _:
                yield step


def _tensor_header(place: Place, steps: _Cursor) -> TensorHeader:
    return TensorHeader(
        place,
        steps.take(s.NotNull),
        steps.take_if(s.CheckNdim) or steps.take(s.NotNegative),
        steps.take_if(s.CheckSameDType) or steps.take(s.CheckDType),
        steps.take_if(s.CheckDeviceType),
        steps.take_if(s.CheckSameDevice),
    )
