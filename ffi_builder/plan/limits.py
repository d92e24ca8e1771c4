"""Checks of the limits that a symbol has wherever it stands: its min, max and divisibility."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, Union

from typing_extensions import override

from ffi_builder import spec
from ffi_builder.plan.messages import value_error
from ffi_builder.plan.path import Place
from ffi_builder.plan.step import Operand, Step, Texts
from ffi_builder.records import dataclass

__all__ = [
    "AtLeast",
    "AtMost",
    "Divisible",
    "LimitCheck",
    "plan_limits",
]


@dataclass(frozen=True)
class _Bound(Step):
    """A comparison with a number that the symbol has."""

    symbol: spec.Var
    free: bool = False

    @property
    def bound(self) -> int:
        """The number."""
        raise NotImplementedError

    @property
    @override
    def operands(self) -> tuple[Operand, ...]:
        return self.bound, self.symbol

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"expected": str(self.bound), "symbol": self.symbol.name}


@dataclass(frozen=True)
class AtLeast(_Bound):
    """The value is at least the ``min`` of ``symbol``."""

    words = value_error("at least {expected} (min of {symbol})")
    op = "MIN"

    @property
    @override
    def bound(self) -> int:
        return self.symbol.min or 0


@dataclass(frozen=True)
class AtMost(_Bound):
    """The value is at most the ``max`` of ``symbol``."""

    words = value_error("at most {expected} (max of {symbol})")
    op = "MAX"

    @property
    @override
    def bound(self) -> int:
        return self.symbol.max or 0


@dataclass(frozen=True)
class Divisible(_Bound):
    """The value is a multiple of the ``divisibility`` of ``symbol``."""

    words = value_error("a multiple of {expected} (divisibility of {symbol})")
    op = "DIVISIBLE"

    @property
    @override
    def bound(self) -> int:
        return self.symbol.divisibility or 1


LimitCheck: TypeAlias = Union[AtLeast, AtMost, Divisible]


def plan_limits(place: Place, var: spec.Var, *, free: bool = False) -> Iterator[LimitCheck]:
    """Check the limits of a symbol at one of its places."""
    if var.min is not None:
        yield AtLeast(place, var, free)
    if var.max is not None:
        yield AtMost(place, var, free)
    if var.divisibility is not None:
        yield Divisible(place, var, free)
