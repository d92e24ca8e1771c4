"""Expressions of the toy language, which Python's operators combine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Axis:
    """An axis of arrays. Its size is known when a kernel is called."""

    name: str


def axes(names: str) -> list[Axis]:
    return [Axis(name) for name in names.split()]


def binary(name: str) -> Callable[[Expression, Expression | float], Expression]:
    return lambda x, y: Operation(name, (x, y))


def reduction(name: str) -> Callable[[Expression, Axis], Expression]:
    return lambda x, axis: Reduction(name, x, axis)


class Expression:
    """A number for each index of some axes."""

    __add__, __sub__, __mul__, __truediv__ = map(binary, ("add", "sub", "mul", "div"))
    __radd__, __rmul__ = __add__, __mul__
    sum, max = map(reduction, ("add", "max"))

    def mean(self, axis: Axis) -> Expression:
        """Return the sum, divided by the size of the axis."""
        return self.sum(axis) / Size(axis)


def exp(x: Expression) -> Expression:
    return Operation("exp", (x,))


def sqrt(x: Expression) -> Expression:
    return Operation("sqrt", (x,))


@dataclass(frozen=True)
class Array(Expression):
    """An array: `Array[n, d]`, or `Array[n, d] | None` if callers may pass None."""

    axes: tuple[Axis, ...]
    optional: bool = False
    name: str = ""

    def __class_getitem__(cls, axes: Axis | tuple[Axis, ...]) -> Array:
        return cls(axes if isinstance(axes, tuple) else (axes,))

    def __or__(self, none: None) -> Array:
        return replace(self, optional=True)


@dataclass(frozen=True)
class Number(Expression):
    """A number that callers pass."""

    name: str


@dataclass(frozen=True)
class Size(Expression):
    """The size of an axis."""

    axis: Axis


@dataclass(frozen=True)
class Operation(Expression):
    """`"add"`, `"exp"` or another operation, at each index."""

    name: str
    operands: tuple[Expression | float, ...]


@dataclass(frozen=True)
class Reduction(Expression):
    """The elements along an axis, combined by `"add"` or `"max"`."""

    name: str
    operand: Expression
    axis: Axis
