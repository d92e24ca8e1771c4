"""The ``where`` of a signature: relations between its symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from ffi_builder.errors import SpecError
from ffi_builder.spec.expr import Combined, Condition, Expr, Relation, Var, check_dim
from ffi_builder.spec.functions import constant, variables
from ffi_builder.spec.numbers import RELATIONS
from ffi_builder.suggest import did_you_mean


def check_relations(
    what: str, given: object, symbols: Mapping[str, tuple[str, Var]]
) -> tuple[Relation, ...]:
    """Return the relations of a signature as a tuple.

    Args:
        what: where they were given; error messages begin with it.
        given: a list or tuple of relations.
        symbols: the symbols of the parameters by name, each with the place of its first occurrence.

    Raises:
        SpecError: something else than relations, a symbol that no parameter mentions or that is
            another one there, a relation that is given twice, or one that is always true or false.
    """
    if isinstance(given, (str, Relation)) or not isinstance(given, Sequence):
        raise SpecError(f"{what}: expected a list of relations such as [n <= m] but got {given!r}")
    found: list[Relation] = []
    for index, relation in enumerate(cast("Sequence[object]", given)):
        if not isinstance(relation, Relation):
            hint = "; only the when= of a Variant takes it" * isinstance(relation, Condition)
            if isinstance(relation, Combined) and relation.op == "and":
                hint = "; give each part as an entry of its own"
            raise SpecError(
                f"{what}[{index}]: expected a relation such as n <= m or equal(n, m) but got "
                f"{relation!r}{hint}"
            )
        if not isinstance(relation.rhs, tuple):
            check_dim(f"{what}: {relation}", relation.rhs)
        _check_not_limit(what, relation)
        _check_symbols(what, relation, symbols)
        _check_decides(what, relation)
        if relation in found:
            raise SpecError(f"{what}: {relation} is given twice")
        found.append(relation)
    return tuple(found)


def _check_not_limit(what: str, relation: Relation) -> None:
    """Refuse what the text of a signature would read as the limit of a symbol."""
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
                f"{what}: {relation}: no parameter mentions a symbol {var.name!r}"
                f"{did_you_mean(var.name, symbols)}"
            )
        path, known = symbols[var.name]
        if known != var:
            raise SpecError(
                f"{what}: {relation}: symbol {var.name!r} has two meanings: {known!r} at {path} "
                f"and {var!r} here; use another name, or the same fields"
            )


def _check_decides(what: str, relation: Relation) -> None:
    """Refuse a comparison of sides that differ by a constant, such as ``n < n + 1``."""
    if isinstance(relation.rhs, tuple):
        return
    difference = constant(Expr("-", relation.lhs, relation.rhs))
    if difference is None:
        return
    holds = RELATIONS[relation.op](difference, 0)
    raise SpecError(f"{what}: {relation} is always {'true' if holds else 'false'}")
