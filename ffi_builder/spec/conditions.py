"""The ``where`` of a signature: conditions about its symbols and parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from ffi_builder.errors import SpecError
from ffi_builder.spec._check import listed
from ffi_builder.spec.composite import Param, with_paths
from ffi_builder.spec.expr import (
    Combined,
    Condition,
    Expr,
    Relation,
    Var,
    check_dim,
    checked_condition,
    two_meanings,
)
from ffi_builder.spec.functions import constant, variables
from ffi_builder.spec.numbers import RELATIONS
from ffi_builder.suggest import did_you_mean

_MOST_OPERANDS: Final = 64
"""The most symbols and ints in a condition: as many as are stored to evaluate it."""


def check_conditions(
    what: str,
    given: object,
    symbols: Mapping[str, tuple[str, Var]],
    params: Sequence[Param],
) -> tuple[Condition, ...]:
    """Return the conditions of a signature as a tuple, referring to the signature's own parameters.

    Args:
        what: where they were given; error messages begin with it.
        given: a list or tuple of conditions.
        symbols: the symbols of the parameters by name, each with the place of its first occurrence.
        params: the parameters.

    Raises:
        SpecError: ``given`` is not a list of conditions; a condition has a symbol that no parameter
            mentions, has a symbol whose fields differ there, or is about something that is not a
            parameter; a condition is given twice; or a comparison is always true or false.
    """
    every = listed(what, given, "a list of conditions such as [n <= m]", (Condition,))
    conditions: dict[Condition, None] = {}
    named: dict[str, list[tuple[str, Param]]] = {}
    for path, param in with_paths(params):
        named.setdefault(param.name, []).append((path, param))
    for index, each in enumerate(every):
        condition = checked_condition(each, f"{what}[{index}]: ")
        _check_not_limit(what, condition)
        if _operands(condition) > _MOST_OPERANDS:
            raise SpecError(
                f"{what}[{index}]: expected at most {_MOST_OPERANDS} operands in a condition but "
                f"got {_operands(condition)}; give each part of an 'and' as an entry of its own"
            )
        own = _of_signature(f"{what}: {condition}", condition, symbols, named)
        if own in conditions:
            raise SpecError(f"{what}: {condition} is given twice")
        conditions[own] = None
    return tuple(conditions)


def _operands(value: object) -> int:
    """Return the most values that a check of the condition keeps at a time."""
    match value:
        case Combined(_, parts):
            return sum(map(_operands, parts))
        case Relation(_, lhs, rhs) | Expr(_, lhs, rhs):
            return _operands(lhs) + _operands(rhs)
        case Condition():
            return 3
        case tuple():
            return 2  # the value, and the result of the comparisons so far
        case _:
            return 1


def _of_signature(
    what: str,
    condition: Condition,
    symbols: Mapping[str, tuple[str, Var]],
    named: Mapping[str, Sequence[tuple[str, Param]]],
) -> Condition:
    """Check the symbols and parameters of a condition; return it with the signature's own."""
    match condition:
        case Combined(_, parts):
            own = [_of_signature(what, part, symbols, named) for part in parts]
            return replace(condition, parts=tuple(own))
        case Relation(_, _, right):
            if not isinstance(right, tuple):
                check_dim(what, right)
            _check_symbols(what, condition, symbols)
            _check_decides(what, condition)
            return condition
        case _:
            return cast("Any", condition).within(what, named)


def _check_not_limit(what: str, relation: Condition) -> None:
    """Refuse a relation that a signature's text would express as the limit of a symbol."""
    match relation:
        case Relation("<=" | "<" | ">=" | ">", Var() as var, int()):
            fields = "min=1, max=8"
        case Relation("==", Expr("%", Var() as var, divisor), 0):
            fields = f"divisibility={divisor}"
        case _:
            return
    raise SpecError(
        f"{what}: {relation}: give limits to the Var, as in Var({var.name!r}, {var.dtype!r}, "
        f"{fields})"
    )


def _check_symbols(what: str, relation: Relation, symbols: Mapping[str, tuple[str, Var]]) -> None:
    for var in variables(relation):
        if var.name not in symbols:
            raise SpecError(
                f"{what}: no parameter mentions a symbol {var.name!r}"
                f"{did_you_mean(var.name, symbols)}"
            )
        path, known = symbols[var.name]
        if known != var:
            raise two_meanings(what, known, f"at {path}", var, "here")


def _check_decides(what: str, relation: Relation) -> None:
    """Refuse a comparison of sides that differ by a constant, such as ``n < n + 1``."""
    if isinstance(relation.rhs, tuple):
        return
    difference = constant(Expr("-", relation.lhs, relation.rhs))
    if difference is None:
        return
    holds = RELATIONS[relation.op](difference, 0)
    raise SpecError(f"{what} is always {'true' if holds else 'false'}")
