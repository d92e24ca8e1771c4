"""Checks of the limits that a symbol has wherever it stands: its min, max and divisibility."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, TypeAlias, Union

from typing_extensions import override

from ffi_builder import spec
from ffi_builder.plan.messages import value_error
from ffi_builder.plan.path import Place
from ffi_builder.plan.step import Instruction, Operand, Texts
from ffi_builder.records import dataclass

__all__ = [
    "AtLeast",
    "AtMost",
    "Divisible",
    "LimitCheck",
]


@dataclass(frozen=True)
class _Limit(Instruction):
    """A comparison with a number that the symbol has."""

    symbol: spec.Var
    free: bool = False

    field: ClassVar[str]
    """The symbol's field that has the number."""

    @property
    def limit(self) -> int:
        """The number."""
        limit: int | None = getattr(self.symbol, self.field)
        assert limit is not None, "planned for a symbol that has it"
        return limit

    @property
    @override
    def operands(self) -> tuple[Operand, ...]:
        return self.limit, self.symbol

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"expected": str(self.limit), "symbol": self.symbol.name}


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
    if var.min is not None:
        yield AtLeast(place, var, free)
    if var.max is not None:
        yield AtMost(place, var, free)
    if var.divisibility is not None:
        yield Divisible(place, var, free)
