"""Conditions: comparisons of properties of a call, and their combinations. Pure data.

``str()`` of a condition is its text: ``x.dtype == float16 and n % 16 == 0``. The functions of
:mod:`ffi_builder.providers.when` make them.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import ClassVar, Final, NoReturn, TypeAlias, Union

from typing_extensions import override

from ffi_builder import spec
from ffi_builder.errors import SpecError
from ffi_builder.providers.variants.subject import Name, Subject, plain_name
from ffi_builder.records import dataclass

OPERATORS: Final[dict[str, Callable[[int, int], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_OR, _AND, _NOT, _ATOM = range(4)
"""The precedence of the parts of a text."""


class Condition(ABC):
    """A condition of a variant. Combine conditions with ``&``, ``|`` and ``~``."""

    binding: ClassVar[int]
    """The precedence of its text."""

    def __and__(self, other: Condition) -> Condition:
        return AllOf((*_parts(self, AllOf), *_parts(checked(other), AllOf)))

    def __or__(self, other: Condition) -> Condition:
        return AnyOf((*_parts(self, AnyOf), *_parts(checked(other), AnyOf)))

    def __invert__(self) -> Condition:
        return Not(self)

    def __bool__(self) -> NoReturn:
        raise SpecError(
            f"the condition {self} holds or not in a call, not before; combine conditions with &, "
            f"| and ~ (or all_of, any_of and not_) instead of 'and', 'or', 'not' and a <= b <= c"
        )

    def __str__(self) -> str:
        return self.text(plain_name)

    def __repr__(self) -> str:
        return f"<{self}>"

    @abstractmethod
    def text(self, name: Name) -> str:
        """Return it as texts show it."""

    @abstractmethod
    def atoms(self) -> Iterator[Atom]:
        """Yield its comparisons, from left to right."""

    def _inside(self, other: Condition, name: Name) -> str:
        """Return the text of a part, in brackets if it binds less."""
        text = other.text(name)
        return text if other.binding > self.binding else f"({text})"


@dataclass(frozen=True, repr=False)
class Compare(Condition):
    """``subject op number``."""

    binding = _ATOM

    subject: Subject
    op: str
    number: int

    @override
    def text(self, name: Name) -> str:
        shown = self.subject.text(name)
        if self.subject.is_flag:
            return shown if (self.op == "==") == bool(self.number) else f"not {shown}"
        return f"{shown} {self.op} {self.subject.shown(self.number)}"

    @override
    def atoms(self) -> Iterator[Atom]:
        yield self

    def holds(self, value: int) -> bool:
        """Return whether it holds for a value of the subject."""
        return OPERATORS[self.op](value, self.number)


@dataclass(frozen=True, repr=False)
class Multiple(Condition):
    """``subject % divisor == 0``."""

    binding = _ATOM

    subject: Subject
    divisor: int

    @override
    def text(self, name: Name) -> str:
        return f"{self.subject.remainder(self.divisor, name)} == 0"

    @override
    def atoms(self) -> Iterator[Atom]:
        yield self

    def holds(self, value: int) -> bool:
        """Return whether it holds for a value of the subject."""
        return value % self.divisor == 0


@dataclass(frozen=True, repr=False)
class _Combined(Condition):
    """Conditions with a word between them."""

    word: ClassVar[str]

    conditions: tuple[Condition, ...]

    @override
    def text(self, name: Name) -> str:
        return f" {self.word} ".join(self._inside(part, name) for part in self.conditions)

    @override
    def atoms(self) -> Iterator[Atom]:
        for condition in self.conditions:
            yield from condition.atoms()


@dataclass(frozen=True, repr=False)
class AllOf(_Combined):
    """Holds if each of the conditions does."""

    binding = _AND
    word = "and"


@dataclass(frozen=True, repr=False)
class AnyOf(_Combined):
    """Holds if one of the conditions does."""

    binding = _OR
    word = "or"


@dataclass(frozen=True, repr=False)
class Not(Condition):
    """Holds if the condition does not."""

    binding = _NOT

    condition: Condition

    @override
    def text(self, name: Name) -> str:
        return f"not {self._inside(self.condition, name)}"

    @override
    def atoms(self) -> Iterator[Atom]:
        yield from self.condition.atoms()


Atom: TypeAlias = Union[Compare, Multiple]


def checked(given: object) -> Condition:
    """Return a condition.

    Raises:
        SpecError: if it is something else. A bool is what ``n % 16 == 0`` gives for a Var ``n``.
    """
    if isinstance(given, Condition):
        return given
    hint = ""
    if isinstance(given, bool):
        hint = (
            "; == compares specs themselves, so write when.divisible(n, 16), when.value(n) == 0 or "
            "when.dtype(x) == 'float16'"
        )
    elif isinstance(given, Comparable):
        hint = "; compare it with something, as in when.dtype(x) == 'float16'"
    raise SpecError(f"expected a condition but got {given!r}{hint}")


class Comparable:
    """A property of a call; comparing it makes a condition."""

    __hash__ = None  # pyright: ignore[reportAssignmentType] # == makes a condition

    def __init__(self, subject: Subject) -> None:
        self._subject = subject

    def __repr__(self) -> str:
        return f"<{self._subject.text(plain_name)}>"

    def __eq__(self, other: object) -> Condition:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self.compare("==", other)

    def __ne__(self, other: object) -> Condition:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self.compare("!=", other)

    def __lt__(self, other: object) -> Condition:
        return self.compare("<", other)

    def __le__(self, other: object) -> Condition:
        return self.compare("<=", other)

    def __gt__(self, other: object) -> Condition:
        return self.compare(">", other)

    def __ge__(self, other: object) -> Condition:
        return self.compare(">=", other)

    def __bool__(self) -> NoReturn:
        raise SpecError(f"{self!r} is a value of a call, not known before; compare it")

    def compare(self, op: str, other: object) -> Condition:
        """Return the condition for one of :data:`OPERATORS`."""
        subject = self._subject
        if op not in ("==", "!=") and (not subject.ordered or subject.is_flag):
            shown = subject.text(plain_name)
            raise SpecError(f"{shown} has no order: expected == or != but got {op!r}")
        number = subject.number(other)
        if subject.is_flag:
            yes = Compare(subject, "==", 1)
            return yes if (op == "==") == bool(number) else Not(yes)
        if op == "==" and number == 0 and subject.remainder_of is not None:
            return multiple_of(*subject.remainder_of)
        return Compare(subject, op, number)


def multiple_of(subject: Subject, divisor: object) -> Multiple:
    """Return the condition ``subject % divisor == 0``.

    Raises:
        SpecError: if the subject cannot be divided by that.
    """
    return Multiple(subject, subject.check_divisor(divisor))


def _parts(condition: Condition, kind: type[AllOf] | type[AnyOf]) -> tuple[Condition, ...]:
    """Return the parts of a condition of a kind, or the condition itself."""
    return condition.conditions if isinstance(condition, kind) else (condition,)


def used(condition: Condition) -> list[Subject]:
    """Return the subjects of a condition, each once, in order."""
    return list(dict.fromkeys(atom.subject for atom in condition.atoms()))


def parts_of(condition: Condition) -> list[spec.Param]:
    """Return the parameters and symbols that a condition needs, each once, in order."""
    return list(dict.fromkeys(part for subject in used(condition) for part in subject.parts))
