"""The steps of a plan: pure data, straight-line, each with the error it may end in.

Steps are taken in order; the first that fails ends the call. A step reads the value at its
``place``. ``free`` marks checks on strides, which do not apply to sizes of 1 and empty tensors.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeAlias, Union

from ffi_builder import abi, spec
from ffi_builder.plan.decode import Decode as Decode
from ffi_builder.plan.decode import (
    DecodeEntry,
    DecodeObject,
    DecodeOptional,
    DecodeScalar,
    DecodeShape,
    DecodeTensor,
    DecodeText,
    DecodeTuple,
    Step,
)
from ffi_builder.plan.kinds import Kind as Kind
from ffi_builder.plan.messages import Words
from ffi_builder.plan.path import Place


@dataclass(frozen=True)
class CheckCount(Step):
    """The number of arguments is ``expected``."""

    expected: int
    words = Words.COUNT


@dataclass(frozen=True)
class CheckArguments(Step):
    """The argument array is not NULL."""

    words = Words.ARGUMENTS_NULL


@dataclass(frozen=True)
class CheckSmall(Step):
    """What is held in place is at most 7 bytes long."""

    words = Words.SMALL


@dataclass(frozen=True)
class CheckBytes(Step):
    """The bytes of a str or bytes are not behind a NULL pointer, unless there are none."""

    words = Words.CELLS_NULL


@dataclass(frozen=True)
class CheckChoice(Step):
    """The str is one of the choices; the value is then the int that it stands for."""

    choice: spec.Choice
    words = Words.CHOICE


@dataclass(frozen=True)
class NotNull(Step):
    """The object that was decoded at this place is not NULL."""

    words = Words.OBJECT_NULL


@dataclass(frozen=True)
class CheckLength(Step):
    """The Shape, Array or List has ``expected`` elements."""

    expected: int
    words = Words.LENGTH


@dataclass(frozen=True)
class CheckCells(Step):
    """The elements of the Shape, Array or List are not behind a NULL pointer."""

    words = Words.CELLS_NULL


@dataclass(frozen=True)
class CheckNdim(Step):
    """The tensor has ``expected`` dimensions."""

    expected: int
    words = Words.NDIM


@dataclass(frozen=True)
class CheckDType(Step):
    """The tensor's dtype is exactly one of ``dtypes``."""

    dtypes: tuple[spec.DataType, ...]

    @property
    def words(self) -> Words:  # pyright: ignore[reportIncompatibleVariableOverride] # of one or several
        """The error."""
        return Words.DTYPE if len(self.dtypes) == 1 else Words.DTYPES

    @property
    def text(self) -> str:
        """``float16, bfloat16``."""
        return ", ".join(map(str, self.dtypes))


@dataclass(frozen=True)
class CheckDeviceType(Step):
    """The tensor is on a device of type ``device_type`` (a DLPack name)."""

    device_type: str
    words = Words.DEVICE_TYPE

    @property
    def code(self) -> int:
        """The ``DLDeviceType``."""
        return abi.DEVICE_TYPES[self.device_type]


@dataclass(frozen=True)
class CheckSameDevice(Step):
    """The device id is that of the first of ``others`` that is there and on this device type.

    The last of them may be certain to be; otherwise there may be none, and any id is right.
    ``certain`` says that the first one is, so that it is the only one.
    """

    others: tuple[Place, ...]
    certain: bool
    words = Words.SAME_DEVICE


@dataclass(frozen=True)
class CheckShapePointer(Step):
    """The tensor's shape pointer is not NULL, unless with ``any_rank`` ndim is 0."""

    any_rank: bool = False
    words = Words.SHAPE_NULL


@dataclass(frozen=True)
class CheckDims(Step):
    """No dimension, of as many as the tensor has, is negative."""

    words = Words.NEGATIVE


@dataclass(frozen=True)
class CheckNumel(Step):
    """The product of the dimensions fits int64; it is 0 if one of them is."""

    words = Words.NUMEL


@dataclass(frozen=True)
class CheckOffset(Step):
    """data + byte_offset does not wrap around the address space."""

    words = Words.OFFSET


@dataclass(frozen=True)
class CheckData(Step):
    """data is not NULL, unless the tensor has no elements."""

    words = Words.DATA_NULL


@dataclass(frozen=True)
class CheckAlignment(Step):
    """data + byte_offset is a multiple of ``alignment``, unless the tensor has no elements."""

    alignment: int
    words = Words.ALIGNMENT


@dataclass(frozen=True)
class CheckContiguous(Step):
    """The stride of this axis is the product of the later dimensions, or free.

    In the ``order`` F it is that of the earlier dimensions. Without an index in its place this is
    about all axes, from the first one, of as many as the tensor has.
    """

    order: str = "C"

    @property
    def words(self) -> Words:  # pyright: ignore[reportIncompatibleVariableOverride] # by order
        """The error."""
        return Words.CONTIGUOUS if self.order == "C" else Words.COLUMN_MAJOR


@dataclass(frozen=True)
class NotNegative(Step):
    """The value is not negative."""

    words = Words.NEGATIVE


@dataclass(frozen=True)
class CheckBool(Step):
    """The value is 0 or 1."""

    words = Words.BOOL


@dataclass(frozen=True)
class CheckPacked(Step):
    """The stored value times the packing of the place fits int64."""

    words = Words.PACKED

    @property
    def limit(self) -> int:
        """The greatest magnitude that the stored value may have."""
        return (2**63 - 1) // self.place.packing


@dataclass(frozen=True)
class Fits(Step):
    """The value fits the integer dtype ``dtype``. Free strides too: nothing is ever wrapped."""

    dtype: str
    words = Words.FITS


@dataclass(frozen=True)
class AtLeast(Step):
    """The value is at least the ``min`` of ``symbol``."""

    symbol: spec.Var
    free: bool = False
    words = Words.AT_LEAST


@dataclass(frozen=True)
class AtMost(Step):
    """The value is at most the ``max`` of ``symbol``."""

    symbol: spec.Var
    free: bool = False
    words = Words.AT_MOST


@dataclass(frozen=True)
class Divisible(Step):
    """The value is a multiple of the ``divisibility`` of ``symbol``."""

    symbol: spec.Var
    free: bool = False
    words = Words.DIVISIBLE


@dataclass(frozen=True)
class EqualInt(Step):
    """The value is ``expected``; where that is a bool, the error shows True and False."""

    expected: int
    free: bool = False

    @property
    def words(self) -> Words:  # pyright: ignore[reportIncompatibleVariableOverride] # strides show the layout
        """The error: that of a stride shows the tensor's layout."""
        return Words.STRIDE if self.free else Words.EQUAL


@dataclass(frozen=True)
class EqualFloat(Step):
    """The value is ``expected``; NaN is equal to NaN."""

    expected: spec.ConstFloat
    words = Words.EQUAL


@dataclass(frozen=True)
class Bind(Step):
    """The symbol takes the value; this cannot fail."""

    symbol: spec.Var


@dataclass(frozen=True)
class EqualSymbol(Step):
    """The value is that of a symbol that is bound for certain."""

    symbol: spec.Var
    free: bool = False

    @property
    def words(self) -> Words:  # pyright: ignore[reportIncompatibleVariableOverride] # strides show the layout
        """The error: that of a stride shows the tensor's layout."""
        return Words.STRIDE_SYMBOL if self.free else Words.EQUAL_SYMBOL


@dataclass(frozen=True)
class BindOrEqual(Step):
    """The symbol takes the value, or must have it, where an occurrence may be a free stride.

    A free stride (only possible with ``free``) binds the symbol provisionally, and only if nothing
    has yet; the first occurrence that is not free then replaces it. Two that are not free must be
    equal.
    """

    symbol: spec.Var
    free: bool = False

    @property
    def words(self) -> Words:  # pyright: ignore[reportIncompatibleVariableOverride] # strides show the layout
        """The error: that of a stride shows the tensor's layout."""
        return Words.STRIDE_SYMBOL if self.free else Words.EQUAL_SYMBOL


@dataclass(frozen=True)
class Solve(Step):
    """The value is ``scale * symbol + offset``; later steps at ``solved`` see the symbol's value.

    Where the stride is free and nothing solves it, the symbol is 0.
    """

    symbol: spec.Var
    expr: spec.Expr
    scale: int
    offset: int
    free: bool = False
    words = Words.SOLVE

    @property
    def solved(self) -> Place:
        """The place whose value is the symbol's."""
        return replace(self.place, solved=self.symbol.name)


@dataclass(frozen=True)
class EqualExpr(Step):
    """The value is that of the expression, if all its symbols are bound.

    One that had to wait may have a symbol that only absent Optionals would bind.
    """

    expr: spec.Expr
    free: bool = False
    overflow: Words = field(default=Words.EXPR_OVERFLOW, init=False)

    @property
    def words(self) -> Words:  # pyright: ignore[reportIncompatibleVariableOverride] # strides show the layout
        """The error: that of a stride shows the tensor's layout."""
        return Words.STRIDE_EXPR if self.free else Words.EQUAL_EXPR


AnyStep: TypeAlias = Union[
    CheckCount,
    CheckArguments,
    DecodeOptional,
    DecodeTensor,
    DecodeShape,
    DecodeTuple,
    DecodeText,
    DecodeObject,
    NotNull,
    CheckSmall,
    CheckBytes,
    CheckChoice,
    CheckLength,
    CheckCells,
    CheckNdim,
    CheckDType,
    CheckDeviceType,
    CheckSameDevice,
    CheckShapePointer,
    CheckDims,
    CheckNumel,
    CheckOffset,
    CheckData,
    CheckAlignment,
    CheckContiguous,
    DecodeScalar,
    DecodeEntry,
    NotNegative,
    CheckBool,
    CheckPacked,
    Fits,
    AtLeast,
    AtMost,
    Divisible,
    EqualInt,
    EqualFloat,
    Bind,
    EqualSymbol,
    BindOrEqual,
    Solve,
    EqualExpr,
]
"""The closed set of steps, for ``match``."""
