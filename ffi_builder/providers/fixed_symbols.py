"""Symbols that have a single value in every call of a kernel, and tensors with these values.

The ``where`` of a signature or the condition of a variant may fix a symbol: ``n in {8}``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeAlias, cast

from ffi_builder import spec
from ffi_builder.errors import SpecError
from ffi_builder.spec.expr import Condition, Expr, Relation

Values: TypeAlias = "Mapping[spec.Var, int]"
"""The value of each symbol that has a single value."""


def values_in(where: Sequence[Condition]) -> dict[spec.Var, int]:
    """Return the symbols that conditions fix: ``n == 8`` or ``n in {8}``."""
    values: dict[spec.Var, int] = {}
    for condition in where:
        match condition:
            case Relation("==", spec.Var() as var, int(value)):
                values[var] = value
            case Relation("in", spec.Var() as var, (value,)):
                values[var] = value
            case _:
                pass
    return values


def with_values(tensor: spec.Tensor, values: Values) -> spec.Tensor:
    """Return a tensor with values in place of symbols in its shape and strides.

    If the values are not valid, such as a negative size, the tensor is returned unchanged: no call
    reaches a kernel with them.
    """
    if not values:
        return tensor
    given = {"shape": tensor.shape, "strides": tensor.strides}
    with suppress(SpecError):
        fields = {
            name: tuple(_entry(each, values) for each in cast("Sequence[spec.Dim | None]", entries))
            for name, entries in given.items()
            if isinstance(entries, tuple)
        }
        if any(fields[name] != given[name] for name in fields):
            return tensor.changed(**fields)
    return tensor


def _entry(dim: spec.Dim | None, values: Values) -> spec.Dim | None:
    return values.get(dim, dim) if isinstance(dim, spec.Var) else _operand(dim, values)


def _operand(dim: spec.Dim | None, values: Values) -> spec.Dim | None:
    """Return an entry with each fixed symbol limited to its value, since an Expr needs a symbol."""
    match dim:
        case spec.Var() if dim in values:
            return replace(dim, divisibility=None, min=values[dim], max=values[dim])
        case Expr(op, lhs, rhs):
            return Expr(op, *(cast("spec.Dim", _operand(each, values)) for each in (lhs, rhs)))
        case _:
            return dim
