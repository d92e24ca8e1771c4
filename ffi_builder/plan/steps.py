"""The steps of a plan: pure data, straight-line, each with the error it may end in.

Steps are taken in order; the first that fails ends the call. A step reads the value at its
``place``. ``free`` marks checks on strides, which do not apply to sizes of 1 and empty tensors.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeAlias, Union

from ffi_builder import spec
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
)
from ffi_builder.plan.decode import Kind as Kind
from ffi_builder.plan.messages import Words, choices_text, float_text
from ffi_builder.plan.path import Place
from ffi_builder.plan.step import Step, Texts
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
    CheckPacked,
    CheckSameDevice,
    CheckShapePointer,
)


@dataclass(frozen=True)
class CheckCount(Step):
    """The number of arguments is ``expected``."""

    expected: int
    words = Words.COUNT

    def placeholders(self, origins: Texts) -> Texts:
        """The number."""
        return {"expected": str(self.expected)}


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

    def placeholders(self, origins: Texts) -> Texts:
        """All choices."""
        return {"text": choices_text(self.choice.choices)}


@dataclass(frozen=True)
class NotNull(Step):
    """The object that was decoded at this place is not NULL."""

    words = Words.OBJECT_NULL


@dataclass(frozen=True)
class CheckLength(Step):
    """The Shape, Array or List has ``expected`` elements."""

    expected: int
    words = Words.LENGTH

    def placeholders(self, origins: Texts) -> Texts:
        """The number."""
        return {"expected": str(self.expected)}


@dataclass(frozen=True)
class CheckCells(Step):
    """The elements of the Shape, Array or List are not behind a NULL pointer."""

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
    """The value fits the integer dtype ``dtype``. Free strides too: nothing is ever wrapped."""

    dtype: str
    words = Words.FITS

    def placeholders(self, origins: Texts) -> Texts:
        """The dtype and its range."""
        low, high = spec.INT_RANGES[self.dtype]
        return {"expected_dtype": self.dtype, "range": f"{low} to {high}"}


@dataclass(frozen=True)
class AtLeast(Step):
    """The value is at least the ``min`` of ``symbol``."""

    symbol: spec.Var
    free: bool = False
    words = Words.AT_LEAST

    def placeholders(self, origins: Texts) -> Texts:
        """The bound, and whose it is."""
        return {"expected": str(self.symbol.min), "symbol": self.symbol.name}


@dataclass(frozen=True)
class AtMost(Step):
    """The value is at most the ``max`` of ``symbol``."""

    symbol: spec.Var
    free: bool = False
    words = Words.AT_MOST

    def placeholders(self, origins: Texts) -> Texts:
        """The bound, and whose it is."""
        return {"expected": str(self.symbol.max), "symbol": self.symbol.name}


@dataclass(frozen=True)
class Divisible(Step):
    """The value is a multiple of the ``divisibility`` of ``symbol``."""

    symbol: spec.Var
    free: bool = False
    words = Words.DIVISIBLE

    def placeholders(self, origins: Texts) -> Texts:
        """The divisor, and whose it is."""
        return {"expected": str(self.symbol.divisibility), "symbol": self.symbol.name}


@dataclass(frozen=True)
class EqualInt(Step):
    """The value is ``expected``; where that is a bool, the error shows True and False."""

    expected: int
    free: bool = False

    @property
    def words(self) -> Words:  # pyright: ignore[reportIncompatibleVariableOverride] # strides show the layout
        """The error: that of a stride shows the tensor's layout."""
        return Words.STRIDE if self.free else Words.EQUAL

    def placeholders(self, origins: Texts) -> Texts:
        """The int."""
        return {"expected": str(self.expected)}


@dataclass(frozen=True)
class EqualFloat(Step):
    """The value is ``expected``; NaN is equal to NaN."""

    expected: spec.ConstFloat
    words = Words.EQUAL

    def placeholders(self, origins: Texts) -> Texts:
        """The float."""
        return {"expected": float_text(self.expected.value)}


@dataclass(frozen=True)
class Bind(Step):
    """The symbol takes the value; this cannot fail."""

    symbol: spec.Var

    def row(self, origins: Texts) -> tuple[str, str, str]:
        """It cannot fail."""
        return self.subject, f"binds {self.symbol}", ""


@dataclass(frozen=True)
class EqualSymbol(Step):
    """The value is that of a symbol that is bound for certain."""

    symbol: spec.Var
    free: bool = False

    @property
    def words(self) -> Words:  # pyright: ignore[reportIncompatibleVariableOverride] # strides show the layout
        """The error: that of a stride shows the tensor's layout."""
        return Words.STRIDE_SYMBOL if self.free else Words.EQUAL_SYMBOL

    def placeholders(self, origins: Texts) -> Texts:
        """The symbol, and where it is bound."""
        return _bound(self.symbol, origins)


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

    def row(self, origins: Texts) -> tuple[str, str, str]:
        """It cannot fail where nothing has bound the symbol before."""
        if self.symbol.name not in origins:
            return self.subject, f"binds {self.symbol}, for now", ""
        return super().row(origins)

    def placeholders(self, origins: Texts) -> Texts:
        """The symbol, and where it is bound."""
        return _bound(self.symbol, origins)


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

    def placeholders(self, origins: Texts) -> Texts:
        """The expression and its symbol."""
        return {"text": str(self.expr), "symbol": self.symbol.name}


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

    def placeholders(self, origins: Texts) -> Texts:
        """The expression, and where its symbols are bound."""
        names = dict.fromkeys(var.name for var in spec.variables(self.expr))
        bindings = (f"{name} = {{{name}}} from {_origin(name, origins)}" for name in names)
        return {
            "expected": f"{{{self.expr}}}",
            "text": str(self.expr),
            "bindings": ", ".join(bindings),
        }


def _origin(name: str, origins: Texts) -> str:
    return origins.get(name, "where it is bound")


def _bound(symbol: spec.Var, origins: Texts) -> Texts:
    return {
        "expected": f"{{{symbol}}}",
        "symbol": symbol.name,
        "origin": _origin(symbol.name, origins),
    }


PlainStep: TypeAlias = Union[
    CheckCount,
    CheckArguments,
    DecodeObject,
    NotNull,
    CheckChoice,
    CheckShapePointer,
    CheckAlignment,
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
]
"""Steps that back ends see as they are."""

AnyStep: TypeAlias = Union[
    PlainStep,
    DecodeOptional,
    DecodeTensor,
    DecodeShape,
    DecodeTuple,
    DecodeText,
    CheckSmall,
    CheckBytes,
    CheckLength,
    CheckCells,
    CheckNdim,
    CheckDType,
    CheckDeviceType,
    CheckSameDevice,
    CheckDims,
    CheckNumel,
    CheckOffset,
    CheckData,
    CheckContiguous,
    DecodeEntry,
    NotNegative,
]
"""Every step of a plan, for ``match``. Back ends see the others as :mod:`plan.fuse` joins them."""
