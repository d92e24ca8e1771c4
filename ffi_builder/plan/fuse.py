"""The second form of a plan, for back ends: checks that are done together are one step.

A plan has one step per check, in the order of the errors. Back ends do some neighbouring checks
together; ndim and dtype of a tensor, for instance, are one comparison. These steps are fused here,
once, so that no back end looks at the steps before or after the current one. An Optional
contains the steps that it skips.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar, Union

from ffi_builder.plan.decode import (
    DecodeEntry,
    DecodeOptional,
    DecodeScalar,
    DecodeShape,
    DecodeTensor,
    DecodeText,
    DecodeTuple,
    Kind,
)
from ffi_builder.plan.path import Part, Place
from ffi_builder.plan.step import Step
from ffi_builder.plan.steps import (
    AnyStep,
    CheckBytes,
    CheckCells,
    CheckLength,
    CheckSmall,
    EqualInt,
    Fits,
    NotNegative,
    NotNull,
    PlainStep,
)
from ffi_builder.plan.tensor_checks import (
    CheckContiguous,
    CheckData,
    CheckDeviceType,
    CheckDims,
    CheckDType,
    CheckNdim,
    CheckNumel,
    CheckOffset,
    CheckSameDevice,
    CheckShapePointer,
)


@dataclass(frozen=True)
class OptionalSpan:
    """An Optional, and the steps that are skipped if the argument is None."""

    place: Place
    inside: tuple[FusedStep, ...]


@dataclass(frozen=True)
class TensorHeader:
    """Decode a tensor; check its ndim, dtype and device."""

    place: Place
    not_null: NotNull
    ndim: CheckNdim | NotNegative
    dtype: CheckDType
    device_type: CheckDeviceType | None
    same_device: CheckSameDevice | None

    @property
    def rank(self) -> int | None:
        """The number of dimensions; None if any is accepted."""
        return self.ndim.expected if isinstance(self.ndim, CheckNdim) else None


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
    decode: DecodeShape | DecodeTuple
    not_null: NotNull
    length: CheckLength
    cells: CheckCells | None
    """None if there are no elements."""


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
    not_null: NotNull


@dataclass(frozen=True)
class Integer:
    """Decode an int; check that it fits a dtype."""

    place: Place
    decode: DecodeScalar
    fits: Fits


@dataclass(frozen=True)
class Pointer:
    """Decode a pointer; an int is accepted if it is an address."""

    place: Place
    decode: DecodeScalar
    fits: Fits


FusedStep: TypeAlias = Union[
    PlainStep,
    OptionalSpan,
    TensorHeader,
    AnyShape,
    Dim,
    Layout,
    TensorData,
    Container,
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


def fuse(steps: Sequence[AnyStep]) -> tuple[FusedStep, ...]:
    """Fuse the steps of a plan."""
    return tuple(_fused(_Cursor(steps)))


_Kind = TypeVar("_Kind", bound=Step)


class _Cursor:
    """Reads steps in order."""

    def __init__(self, steps: Sequence[AnyStep]) -> None:
        self._steps = steps
        self._at = 0

    def __iter__(self) -> Iterator[AnyStep]:
        while self._at < len(self._steps):
            self._at += 1
            yield self._steps[self._at - 1]

    def next_is(self, *kinds: type[Step]) -> bool:
        """Return whether the next step is of one of these classes."""
        return self._at < len(self._steps) and isinstance(self._steps[self._at], kinds)

    def next_is_at(self, place: Place) -> bool:
        """Return whether the next step reads this place."""
        return self._at < len(self._steps) and self._steps[self._at].place == place

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

    def take_within(self, position: tuple[int, ...]) -> Sequence[AnyStep]:
        """Take the next steps as long as they look into the parameter at a position."""
        start, depth = self._at, len(position)
        steps = self._steps
        while self._at < len(steps) and steps[self._at].place.position[:depth] == position:
            self._at += 1
        return steps[start : self._at]


def _fused(steps: _Cursor) -> Iterator[FusedStep]:
    for step in steps:
        match step:
            case DecodeOptional(place):
                yield OptionalSpan(place, fuse(steps.take_within(place.position)))
            case DecodeTensor(place):
                yield _tensor_header(place, steps)
            case CheckShapePointer(place, any_rank=True):
                steps.take(CheckDims)
                yield AnyShape(place)
            case NotNegative(place):
                assert place.part is Part.SHAPE
                yield Dim(place)
            case CheckContiguous(place, order):  # all axes follow one another
                while steps.take_if(CheckContiguous):
                    pass
                yield Layout(place, order)
            case CheckNumel(place):
                steps.take(CheckOffset)
                yield TensorData(steps.take(CheckData).place)
            case DecodeShape(place) | DecodeTuple(place):
                not_null, length = steps.take(NotNull), steps.take(CheckLength)
                yield Container(place, step, not_null, length, steps.take_if(CheckCells))
            case DecodeEntry(place):
                steps.take(NotNegative)
                bounded = steps.next_is(EqualInt, Fits) and steps.next_is_at(place)
                yield Entry(place, bounded)
            case DecodeText(place, binary):
                text = Text(place, binary, steps.take(NotNull))
                steps.take(CheckSmall)
                steps.take(CheckBytes)
                yield text
            case DecodeScalar(place, Kind.INT):
                yield Integer(place, step, steps.take(Fits))
            case DecodeScalar(place, Kind.POINTER):
                steps.take(NotNegative)
                yield Pointer(place, step, steps.take(Fits))
            case (CheckNdim() | CheckDType() | CheckDeviceType() | CheckSameDevice()) | (
                CheckDims() | CheckOffset() | CheckData()
            ):
                raise AssertionError(f"no tensor header before {step}")
            case CheckLength() | CheckCells() | CheckSmall() | CheckBytes():
                raise AssertionError(f"nothing is decoded before {step}")
            case _:
                yield step


def _tensor_header(place: Place, steps: _Cursor) -> TensorHeader:
    return TensorHeader(
        place,
        steps.take(NotNull),
        steps.take_if(CheckNdim) or steps.take(NotNegative),
        steps.take(CheckDType),
        steps.take_if(CheckDeviceType),
        steps.take_if(CheckSameDevice),
    )
