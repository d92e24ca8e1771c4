"""The steps of a plan: pure data in a straight line, each with the error that it may raise.

Steps run in order, and the first that fails ends the call. A step reads the value at its
``place``. ``free`` marks checks of strides; they do not apply to dimensions of size 1 and to empty
tensors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, TypeAlias, Union

from typing_extensions import override

from ffi_builder import spec
from ffi_builder.plan.decode import Decode as Decode
from ffi_builder.plan.decode import (
    DecodeEntry,
    DecodeList,
    DecodeObject,
    DecodeOptional,
    DecodeScalar,
    DecodeShape,
    DecodeTensor,
    DecodeText,
    DecodeTuple,
    EachElement,
)
from ffi_builder.plan.decode import Kind as Kind
from ffi_builder.plan.messages import Words, choices_text, float_text
from ffi_builder.plan.path import Place
from ffi_builder.plan.step import ExpectInt, Step, Texts
from ffi_builder.plan.tensor_checks import (
    CheckAlignment,
    CheckContiguous,
    CheckData,
    CheckDeviceType,
    CheckDims,
    CheckDType,
    CheckNdim,
    CheckNumel,
    CheckOffset,
    CheckOverlap,
    CheckPacked,
    CheckSameDevice,
    CheckSameDType,
    CheckShapePointer,
)
from ffi_builder.records import dataclass


@dataclass(frozen=True)
class CheckCount(ExpectInt):
    """The number of arguments is ``expected``."""

    words = Words.COUNT


@dataclass(frozen=True)
class CheckArguments(Step):
    """The argument array is not NULL."""

    words = Words.ARGUMENTS_NULL


@dataclass(frozen=True)
class CheckSmall(Step):
    """A str or bytes that is held in place is at most 7 bytes long."""

    words = Words.SMALL


@dataclass(frozen=True)
class CheckBytes(Step):
    """The data pointer of a str or bytes is not NULL, unless its length is 0."""

    words = Words.CELLS_NULL


@dataclass(frozen=True)
class CheckChoice(Step):
    """The str is one of the choices; from here on, the value is the int that it stands for."""

    choice: spec.Choice
    words = Words.CHOICE

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"text": choices_text(self.choice.choices)}


@dataclass(frozen=True)
class NotNull(Step):
    """The object that was decoded at this place is not NULL."""

    words = Words.OBJECT_NULL


@dataclass(frozen=True)
class CheckLength(ExpectInt):
    """The Shape, Array or List has ``expected`` elements."""

    words = Words.LENGTH


@dataclass(frozen=True)
class CheckCells(Step):
    """The pointer to the elements of the Shape, Array or List is not NULL."""

    words = Words.CELLS_NULL


@dataclass(frozen=True)
class NotNegative(Step):
    """The value is not negative."""

    words = Words.NEGATIVE


@dataclass(frozen=True)
class CheckBool(Step):
    """The value is 0 or 1."""

    words = Words.BOOL


@dataclass(frozen=True)
class Fits(Step):
    """The value fits the integer dtype ``dtype``. Free strides must fit too."""

    dtype: str
    words = Words.FITS

    @override
    def placeholders(self, origins: Texts) -> Texts:
        low, high = spec.INT_RANGES[self.dtype]
        return {"expected_dtype": self.dtype, "range": f"{low} to {high}"}


@dataclass(frozen=True)
class AtLeast(Step):
    """The value is at least the ``min`` of ``symbol``."""

    symbol: spec.Var
    free: bool = False
    words = Words.AT_LEAST

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"expected": str(self.symbol.min), "symbol": self.symbol.name}


@dataclass(frozen=True)
class AtMost(Step):
    """The value is at most the ``max`` of ``symbol``."""

    symbol: spec.Var
    free: bool = False
    words = Words.AT_MOST

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"expected": str(self.symbol.max), "symbol": self.symbol.name}


@dataclass(frozen=True)
class Divisible(Step):
    """The value is a multiple of the ``divisibility`` of ``symbol``."""

    symbol: spec.Var
    free: bool = False
    words = Words.DIVISIBLE

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"expected": str(self.symbol.divisibility), "symbol": self.symbol.name}


@dataclass(frozen=True)
class EqualInt(ExpectInt):
    """The value is ``expected``. If that is a bool, the error shows True and False."""

    free: bool = False

    @property
    def words(self) -> Words:  # pyright: ignore[reportIncompatibleVariableOverride] # strides show the layout
        """The message; for a stride, it shows the layout of the tensor."""
        return Words.STRIDE if self.free else Words.EQUAL


@dataclass(frozen=True)
class EqualFloat(Step):
    """The value is ``expected``; NaN is equal to NaN."""

    expected: spec.ConstFloat
    words = Words.EQUAL

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"expected": float_text(self.expected.value)}


@dataclass(frozen=True)
class Bind(Step):
    """Bind the symbol to the value. This cannot fail."""

    symbol: spec.Var

    @override
    def row(self, origins: Texts) -> tuple[str, str, str]:
        return self.subject, f"binds {self.symbol}", ""


@dataclass(frozen=True)
class _CompareSymbol(Step):
    """A comparison with the value of a symbol."""

    symbol: spec.Var
    free: bool = False

    @property
    def words(self) -> Words:  # pyright: ignore[reportIncompatibleVariableOverride] # strides show the layout
        """The message; for a stride, it shows the layout of the tensor."""
        return Words.STRIDE_SYMBOL if self.free else Words.EQUAL_SYMBOL

    @override
    def placeholders(self, origins: Texts) -> Texts:
        name = self.symbol.name
        return {"expected": f"{{{name}}}", "symbol": name, "origin": _origin(name, origins)}


@dataclass(frozen=True)
class EqualSymbol(_CompareSymbol):
    """The value equals that of a symbol which is certainly bound."""


@dataclass(frozen=True)
class BindOrEqual(_CompareSymbol):
    """Bind the symbol to the value, or compare them if it is bound already.

    A free stride (only possible with ``free``) binds an unbound symbol provisionally; the first
    occurrence that is not free replaces that value. Two occurrences that are not free must be
    equal.
    """

    @override
    def row(self, origins: Texts) -> tuple[str, str, str]:
        if self.symbol.name not in origins:
            return self.subject, f"binds {self.symbol}, for now", ""
        return super().row(origins)


@dataclass(frozen=True)
class Solve(Step):
    """The value is ``scale * symbol + offset``; later steps at ``solved`` see the symbol's value.

    If the stride is free and the equation has no solution, the symbol is 0.
    """

    symbol: spec.Var
    expr: spec.Expr
    scale: int
    offset: int
    free: bool = False
    words = Words.SOLVE

    @property
    def solved(self) -> Place:
        """The place at which later steps see the value of the symbol."""
        return replace(self.place, solved=self.symbol.name)

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"text": str(self.expr), "symbol": self.symbol.name}


@dataclass(frozen=True)
class EqualExpr(Step):
    """The value equals that of the expression, if all symbols of the expression are bound.

    A late step may have a symbol that is bound only within an absent Optional; it then passes.
    """

    expr: spec.Expr
    free: bool = False
    overflow: ClassVar = Words.EXPR_OVERFLOW

    @property
    def words(self) -> Words:  # pyright: ignore[reportIncompatibleVariableOverride] # strides show the layout
        """The message; for a stride, it shows the layout of the tensor."""
        return Words.STRIDE_EXPR if self.free else Words.EQUAL_EXPR

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"expected": f"{{{self.expr}}}", **_evaluated(self.expr, origins)}


@dataclass(frozen=True)
class CheckRelation(Step):
    """The relation holds, if all of its symbols are bound; no part of it exceeds int64.

    ``place`` is where ``symbol`` is bound first, the one of its symbols for which that comes last.
    Errors show the place where that symbol was bound in the call.
    """

    relation: spec.Relation
    symbol: spec.Var
    overflow: ClassVar = Words.RELATION_OVERFLOW

    @property
    def words(self) -> Words:  # pyright: ignore[reportIncompatibleVariableOverride] # an int needs no showing
        """The message; it shows the value of the right side unless that is an int."""
        symbolic = isinstance(self.relation.rhs, (spec.Var, spec.Expr))
        return Words.RELATION if symbolic else Words.RELATION_INT

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return _evaluated(self.relation, origins)


def _evaluated(value: spec.Expr | spec.Relation, origins: Texts) -> Texts:
    """The text of an expression or relation, and where its symbols are bound."""
    names = dict.fromkeys(var.name for var in spec.variables(value))
    bindings = (f"{name} = {{{name}}} from {_origin(name, origins)}" for name in names)
    return {"text": str(value), "bindings": ", ".join(bindings)}


def _origin(name: str, origins: Texts) -> str:
    return origins.get(name, "where it is bound")


PlainStep: TypeAlias = Union[
    CheckCount,
    CheckArguments,
    DecodeObject,
    NotNull,
    CheckChoice,
    CheckShapePointer,
    CheckAlignment,
    CheckOverlap,
    DecodeScalar,
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
    CheckRelation,
]
"""The steps that :mod:`ffi_builder.plan.fuse` passes on as they are."""

AnyStep: TypeAlias = Union[
    PlainStep,
    DecodeOptional,
    DecodeTensor,
    DecodeShape,
    DecodeTuple,
    DecodeList,
    EachElement,
    DecodeText,
    CheckSmall,
    CheckBytes,
    CheckLength,
    CheckCells,
    CheckNdim,
    CheckDType,
    CheckDeviceType,
    CheckSameDevice,
    CheckSameDType,
    CheckDims,
    CheckNumel,
    CheckOffset,
    CheckData,
    CheckContiguous,
    DecodeEntry,
    NotNegative,
]
"""Every step of a plan, for ``match``."""
