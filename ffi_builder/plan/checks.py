"""Checks of the call as a whole, of values, and of symbols: how they are bound and limited."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any, ClassVar, Final, TypeAlias, Union

from typing_extensions import override

from ffi_builder import spec
from ffi_builder.plan.messages import Words, choices_text, float_text, type_error, value_error
from ffi_builder.plan.path import Part, Place
from ffi_builder.plan.step import (
    STRIDE_GOT,
    Byte,
    Check,
    ExpectInt,
    Instruction,
    Operand,
    Short,
    Texts,
)
from ffi_builder.records import dataclass
from ffi_builder.spec.expr import Condition, Expr, Relation
from ffi_builder.spec.functions import variables
from ffi_builder.spec.numbers import INT_RANGES
from ffi_builder.spec.properties import Property

_NULL: Final = "NULL"


@dataclass(frozen=True)
class CheckCount(ExpectInt):
    """The number of arguments is ``expected``."""

    words = type_error("{expected}")


@dataclass(frozen=True)
class CheckLeastCount(Instruction):
    """The number of arguments is at least ``expected``; VarArgs take the others."""

    expected: int
    words = type_error("at least {expected}")
    op = "COUNT"

    @property
    @override
    def operands(self) -> tuple[Operand, ...]:
        return (Short(self.expected),)


@dataclass(frozen=True)
class CheckArguments(Check):
    """The argument array is not NULL."""

    words = value_error("a non-NULL pointer", _NULL)


@dataclass(frozen=True)
class NotNull(Check):
    """The object at this place is not NULL."""

    words = value_error("a non-NULL object", _NULL)


@dataclass(frozen=True)
class CheckSmall(Instruction):
    """A str or bytes that is held in place is at most 7 bytes long."""

    words = value_error("at most 7, as it is held in place", of="length")
    op = "SMALL"


@dataclass(frozen=True)
class CheckBytes(Instruction):
    """The data pointer of a str or bytes is not NULL, unless its length is 0."""

    words = value_error("non-NULL elements", _NULL)
    op = "BYTES"


@dataclass(frozen=True)
class CheckChoice(Instruction):
    """The str is one of the choices. Later steps see the int that stands for it."""

    choice: spec.Choice
    words = value_error("one of {text}", "{string}{nearest}")
    op = "CHOICE"

    @property
    @override
    def operands(self) -> tuple[Operand, ...]:
        texts = self.choice.choices
        return choices_text(texts), Short(len(texts)), *texts

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"text": choices_text(self.choice.choices)}


@dataclass(frozen=True)
class CheckLength(ExpectInt):
    """The Shape, Array or List has ``expected`` elements."""

    words = value_error("{expected}", of="length")


@dataclass(frozen=True)
class CheckCells(Check):
    """The pointer to the elements of the Shape, Array or List is not NULL."""

    words = CheckBytes.words


@dataclass(frozen=True)
class NotNegative(Instruction):
    """The value is not negative."""

    words = value_error("a non-negative value")
    op = "NONNEGATIVE"


@dataclass(frozen=True)
class CheckBool(Instruction):
    """The value is 0 or 1."""

    words = value_error("True, False, 0 or 1")
    op = "BOOL"


@dataclass(frozen=True)
class Fits(Instruction):
    """The value fits the integer dtype ``dtype``. Free strides must fit too.

    The value of ``symbol``, which is that of the place unless a later step fails, has this dtype.
    """

    dtype: str
    symbol: spec.Var | None = None
    words = value_error("a value that fits {expected_dtype} ({range})")
    op = "FITS"

    @property
    @override
    def operands(self) -> tuple[Operand, ...]:
        signed = not self.dtype.startswith("u")
        return Byte(self.dtype.removeprefix("u").removeprefix("int")), Byte(signed)

    @override
    def placeholders(self, origins: Texts) -> Texts:
        low, high = INT_RANGES[self.dtype]
        return {"expected_dtype": self.dtype, "range": f"{low} to {high}"}


class _Equal(Check):
    """A check that a value is the expected one; a stride may be ``free`` instead."""

    free: bool
    plain: ClassVar[Words]
    of_stride: ClassVar[Words]

    @property
    @override
    def error(self) -> Words:
        return self.of_stride if self.free else self.plain


@dataclass(frozen=True)
class EqualInt(_Equal, ExpectInt):
    """The value is ``expected``. If ``expected`` is a bool, the error shows True and False."""

    free: bool = False
    plain: ClassVar = value_error("{expected}")
    of_stride: ClassVar = value_error("{expected}", STRIDE_GOT)


@dataclass(frozen=True)
class EqualFloat(Instruction):
    """The value is ``expected``; NaN is equal to NaN."""

    expected: spec.ConstFloat
    words = EqualInt.plain
    op = "EQFLOAT"

    @property
    @override
    def operands(self) -> tuple[Operand, ...]:
        return (float(self.expected.value),)

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"expected": float_text(self.expected.value)}


CHECKS: Final[Mapping[type, Callable[[Place, Any], ValueCheck]]] = {
    spec.Choice: CheckChoice,
    spec.ConstInt: lambda place, param: EqualInt(place, param.value),
    spec.ConstBool: lambda place, param: EqualInt(place, param.value),
    spec.ConstFloat: EqualFloat,
}
"""The check of each kind of parameter that has one, which follows the decoding."""

ValueCheck: TypeAlias = Union[
    CheckCount,
    CheckLeastCount,
    CheckArguments,
    CheckChoice,
    CheckBool,
    Fits,
    EqualInt,
    EqualFloat,
]

ValuePart: TypeAlias = Union[
    NotNull,
    CheckSmall,
    CheckBytes,
    CheckLength,
    CheckCells,
    NotNegative,
]
"""Checks that occur only as parts of other steps."""


@dataclass(frozen=True)
class Bind(Instruction):
    """Bind the symbol to the value. This cannot fail."""

    symbol: spec.Var
    op = "BIND"

    @property
    @override
    def operands(self) -> tuple[Operand, ...]:
        return (self.symbol,)

    @override
    def row(self, origins: Texts) -> tuple[str, str, str]:
        of = self.symbol.of if isinstance(self.symbol, Subject) else None
        is_symbol = of is not None and isinstance(of.param, spec.Var) and not of.field
        return self.subject, f"{'conditions see' if is_symbol else 'binds'} {self.symbol}", ""


@dataclass(frozen=True)
class _CompareSymbol(_Equal, Instruction):
    """A comparison with the value of a symbol."""

    symbol: spec.Var
    free: bool = False
    plain: ClassVar = value_error("{expected} ({symbol} = {origin})")
    of_stride: ClassVar = value_error("{expected} ({symbol} = {origin})", STRIDE_GOT)

    @property
    @override
    def operands(self) -> tuple[Operand, ...]:
        return self.symbol, self.error

    @override
    def placeholders(self, origins: Texts) -> Texts:
        name = self.symbol.name
        return {"expected": f"{{{name}}}", "origin": _origin(name, origins)}


@dataclass(frozen=True)
class EqualSymbol(_CompareSymbol):
    """The value equals the value of a symbol that is certainly bound."""

    op = "EQSYM"


@dataclass(frozen=True)
class BindOrEqual(_CompareSymbol):
    """Bind the symbol to the value; if the symbol is bound already, compare the two.

    A free stride (only possible with ``free``) binds an unbound symbol provisionally; the first
    occurrence that is not free replaces that value. Two occurrences that are not free must be
    equal.
    """

    op = "BINDEQ"

    @override
    def row(self, origins: Texts) -> tuple[str, str, str]:
        if self.symbol.name not in origins:
            return self.subject, f"binds {self.symbol}, for now", ""
        return super().row(origins)


@dataclass(frozen=True)
class Solve(Instruction):
    """The value is ``scale * symbol + offset``; later steps at ``solved`` see the symbol's value.

    If the stride is free and the equation has no solution, the symbol is 0.
    """

    symbol: spec.Var
    expr: Expr
    scale: int
    offset: int
    free: bool = False
    words = value_error("a value of {text} for an integer {symbol}")
    op = "SOLVE"

    @property
    @override
    def operands(self) -> tuple[Operand, ...]:
        return self.symbol, self.scale, self.offset, str(self.expr)

    @property
    def solved(self) -> Place:
        """The place at which later steps see the value of the symbol."""
        return replace(self.place, solved=self.symbol.name)

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"text": str(self.expr)}


@dataclass(frozen=True)
class EqualExpr(_Equal):
    """The value equals the expression, if all symbols of the expression are bound.

    A late step passes if one of its symbols is bound only within an Optional that is absent.
    """

    expr: Expr
    free: bool = False
    plain: ClassVar = value_error("{expected} ({text} with {bindings})")
    of_stride: ClassVar = value_error("{expected} ({text} with {bindings})", STRIDE_GOT)
    overflow: ClassVar = value_error("{text} within int64, with {bindings}")

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"expected": f"{{{self.expr}}}", **_evaluated(self.expr, origins)}


@dataclass(frozen=True)
class CheckCondition(Check):
    """The condition is not false; no part that it depends on exceeds int64.

    A relation is unknown if one of its symbols is not bound. ``symbols`` are the symbols of the
    condition, the last to be bound first; ``place`` is where the first of them is bound. Errors
    show the place of the first of ``symbols`` that is bound in the call.
    """

    condition: Condition
    """The condition with a :class:`Subject` in place of each property, so it has only symbols."""
    text: str
    """The text of the condition in the signature."""
    symbols: tuple[spec.Var, ...]
    plain: ClassVar = value_error("{text} with {bindings}")
    of_two: ClassVar = value_error("{text} with {bindings}", "{got} and {expected}")
    overflow: ClassVar = value_error("{text} with {bindings}", "a value beyond int64")
    of_several: ClassVar = value_error("{text}", "{bindings}")

    @property
    @override
    def error(self) -> Words:
        if any(isinstance(var, Subject) for var in self.symbols):
            return self.of_several
        match self.condition:
            case Relation(_, _, rhs):
                return self.of_two if isinstance(rhs, (spec.Var, Expr)) else self.plain
            case _:
                return self.of_several

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {**_evaluated(self.condition, origins), "text": self.text}


@dataclass(frozen=True, repr=False)
class Subject(spec.Var):
    """A property of an argument, such as ``x.dtype``, which a plan binds like a symbol."""

    of: Property = field(kw_only=True)

    __hash__ = spec.Var.__hash__

    @override
    def __post_init__(self) -> None:
        pass  # the name is not an identifier

    @property
    def part(self) -> Part:
        """The part of the argument that holds the property's value."""
        return Part[self.of.field.upper()] if self.of.field else Part.VALUE


def _evaluated(value: Expr | Condition, origins: Texts) -> Texts:
    """The text of an expression or condition, and where its symbols are bound."""
    names = dict.fromkeys(var.name for var in variables(value))
    bindings = (f"{name} = {{{name}}} from {_origin(name, origins)}" for name in names)
    return {"text": str(value), "bindings": ", ".join(bindings)}


def _origin(name: str, origins: Texts) -> str:
    return origins.get(name, "where it is bound")


SymbolCheck: TypeAlias = Union[
    Bind,
    EqualSymbol,
    BindOrEqual,
    Solve,
    EqualExpr,
    CheckCondition,
]


@dataclass(frozen=True)
class _Limit(Instruction):
    """A comparison with a limit of the symbol."""

    symbol: spec.Var
    free: bool = False

    field: ClassVar[str]
    """The symbol's field that holds the limit."""

    @property
    def expected(self) -> int:
        """The limit itself."""
        return int(getattr(self.symbol, self.field))

    @property
    @override
    def operands(self) -> tuple[Operand, ...]:
        return self.expected, self.symbol


@dataclass(frozen=True)
class AtLeast(_Limit):
    """The value is at least the ``min`` of ``symbol``."""

    words = value_error("at least {expected} (min of {symbol})")
    op = "MIN"
    field = "min"


@dataclass(frozen=True)
class AtMost(_Limit):
    """The value is at most the ``max`` of ``symbol``."""

    words = value_error("at most {expected} (max of {symbol})")
    op = "MAX"
    field = "max"


@dataclass(frozen=True)
class Divisible(_Limit):
    """The value is a multiple of the ``divisibility`` of ``symbol``."""

    words = value_error("a multiple of {expected} (divisibility of {symbol})")
    op = "DIVISIBLE"
    field = "divisibility"


LimitCheck: TypeAlias = Union[AtLeast, AtMost, Divisible]


def plan_limits(place: Place, var: spec.Var, *, free: bool = False) -> Iterator[LimitCheck]:
    """Check the limits of a symbol at one of its places."""
    for check in (AtLeast, AtMost, Divisible):
        if getattr(var, check.field) is not None:
            yield check(place, var, free)
