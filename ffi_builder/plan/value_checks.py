"""Checks of the call as a whole, and of values by themselves."""

from __future__ import annotations

from typing import ClassVar, Final, TypeAlias, Union

from typing_extensions import override

from ffi_builder import spec
from ffi_builder.plan.messages import Words, choices_text, float_text, type_error, value_error
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

__all__ = [
    "CheckArguments",
    "CheckBool",
    "CheckBytes",
    "CheckCells",
    "CheckChoice",
    "CheckCount",
    "CheckLength",
    "CheckSmall",
    "EqualFloat",
    "EqualInt",
    "Fits",
    "NotNegative",
    "NotNull",
    "ValueCheck",
    "ValuePart",
]

_NULL: Final = "NULL"


@dataclass(frozen=True)
class CheckCount(ExpectInt):
    """The number of arguments is ``expected``."""

    words = type_error("{expected}")


@dataclass(frozen=True)
class CheckArguments(Check):
    """The argument array is not NULL."""

    words = value_error("a non-NULL pointer", _NULL)


@dataclass(frozen=True)
class NotNull(Check):
    """The object that was decoded at this place is not NULL."""

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
    """The str is one of the choices; from here on, the value is the int that it stands for."""

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
    """The value fits the integer dtype ``dtype``. Free strides must fit too."""

    dtype: str
    words = value_error("a value that fits {expected_dtype} ({range})")
    op = "FITS"

    @property
    @override
    def operands(self) -> tuple[Operand, ...]:
        signed = not self.dtype.startswith("u")
        return Byte(self.dtype.removeprefix("u").removeprefix("int")), Byte(signed)

    @override
    def placeholders(self, origins: Texts) -> Texts:
        low, high = spec.INT_RANGES[self.dtype]
        return {"expected_dtype": self.dtype, "range": f"{low} to {high}"}


@dataclass(frozen=True)
class EqualInt(ExpectInt):
    """The value is ``expected``. If that is a bool, the error shows True and False."""

    free: bool = False
    plain: ClassVar = value_error("{expected}")
    of_stride: ClassVar = value_error("{expected}", STRIDE_GOT)

    @property
    @override
    def error(self) -> Words:
        return self.of_stride if self.free else self.plain


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


ValueCheck: TypeAlias = Union[
    CheckCount,
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
"""Checks that other steps stand for."""
