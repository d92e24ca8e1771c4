"""The base of what conditions compare: a property of a call, as an integer.

A dtype is its ``DLDataType``, a bool is 0 or 1. So each comparison is one of integers, both when
the variants are planned and in the wrapper.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, TypeAlias

from ffi_builder import spec
from ffi_builder.errors import SpecError
from ffi_builder.ir import CheckingBuilder, Value
from ffi_builder.providers.context import CallContext

Domain: TypeAlias = "frozenset[int] | tuple[int, int]"
"""The values that a subject may have: each of them, or the least and the greatest."""
Name: TypeAlias = Callable[[spec.Param], str]
"""Returns how texts show a parameter: its name, or its path in a signature."""


class Subject(ABC):
    """A property of a call, as an integer. Its subclasses are frozen dataclasses."""

    ordered: ClassVar[bool] = False
    """Whether ``<`` and the like mean something."""
    adds_symbols: ClassVar[bool] = False
    """Whether evaluating it adds definitions to the module."""

    @property
    @abstractmethod
    def parts(self) -> tuple[spec.Param, ...]:
        """The parameters and symbols that the signature must have."""

    @property
    def signed(self) -> bool:
        """Whether the integer is signed."""
        return True

    @property
    def may_fail(self) -> bool:
        """Whether evaluating it may raise an error. It is then evaluated only where compared."""
        return False

    @property
    def is_flag(self) -> bool:
        """Whether the property is a bool, which texts show as ``x`` and ``not x``."""
        return False

    @property
    def bits(self) -> int:
        """The width of the emitted integer."""
        return 64

    @abstractmethod
    def text(self, name: Name) -> str:
        """Return it as texts show it: ``x.dtype``."""

    def remainder(self, divisor: int, name: Name) -> str:
        """Return its remainder as texts show it: ``n % 16``."""
        return f"{self.text(name)} % {divisor}"

    @abstractmethod
    def domain(self, *, absent: bool) -> Domain:
        """Return its possible values; ``absent`` says whether a parameter of it may be None."""

    def check_divisor(self, divisor: object) -> int:
        """Return a divisor for ``subject % divisor == 0``.

        Raises:
            SpecError: if the subject cannot be divided by it.
        """
        raise SpecError(
            f"{self.text(plain_name)} is not a number, so {divisor!r} does not divide it"
        )

    @property
    def remainder_of(self) -> tuple[Subject, int] | None:
        """The dividend and the divisor, if it is a remainder."""
        return None

    def number(self, given: object) -> int:
        """Return the integer that stands for a value in a comparison.

        Raises:
            SpecError: if the subject is never equal to that.
        """
        return int_of(self.text(plain_name), given)

    def shown(self, number: int) -> str:
        """Return a value as texts show it: the inverse of :meth:`number`."""
        return str(number)

    @abstractmethod
    def emit(self, context: CallContext) -> Value:
        """Emit the integer."""

    def show(self, b: CheckingBuilder, value: Value) -> Value:
        """Return the emitted integer as an error shows it: a number, or the address of a text."""
        del b
        return value

    def describe(
        self, context: CallContext, name: Name, divisors: Sequence[int]
    ) -> list[tuple[str, list[Value]]]:
        """Return what an error shows: words and values for :meth:`CheckingBuilder.fail`.

        ``divisors`` are those by which conditions divide it.
        """
        del divisors
        return [(f"{self.text(name)} = {{}}", [self.show(context.builder, self.emit(context))])]


def plain_name(param: spec.Param) -> str:
    """Return the name of a parameter, where no signature says its path."""
    return param.name


def int_of(what: str, given: object) -> int:
    """Return a plain int; ``what`` begins the SpecError for anything else."""
    if isinstance(given, (spec.Var, spec.Expr)):
        raise SpecError(
            f"{what}: expected an int but got {given}; compare a difference with 0, as in "
            f"value({what} - {given}) <= 0"
        )
    if isinstance(given, bool) or not isinstance(given, int):
        raise SpecError(f"{what}: expected an int but got {given!r} ({type(given).__name__})")
    return int(given)


def show_bool(b: CheckingBuilder, value: Value) -> Value:
    """Return an i1 as a C string."""
    return b.select(value, b.text_constant(b"True\0"), b.text_constant(b"False\0"))


def name_of(b: CheckingBuilder, value: Value, bits: int, names: Mapping[int, str]) -> Value:
    """Return the name of an integer as a C string; None for one without a name."""
    shown = b.text_constant(b"None\0")
    for number, name in names.items():
        known = b.text_constant(name.encode() + b"\0")
        shown = b.select(b.eq(value, b.constant(bits, number)), known, shown)
    return shown
