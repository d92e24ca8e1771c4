"""Relations between symbols: *Relations* of docs/checks.md."""

from __future__ import annotations

import re

from ffi_builder.spec import Expr, Relation, Signature, Var, variables
from tests.oracle.symbols import OverflowInExpression, Symbols, entries_of, linear_form
from tests.oracle.words import Place


def check_relations(signature: Signature, symbols: Symbols) -> None:
    """Check the relations whose symbols are all bound."""
    for relation in signature.where:
        if all(var.name in symbols.bindings for var in variables(relation)):
            check_relation(signature, relation, symbols)


def check_relation(signature: Signature, relation: Relation, symbols: Symbols) -> None:
    place = place_of(signature, relation, symbols)
    expected = f"{relation} with {symbols.show_known(relation)}"
    members = relation.rhs if isinstance(relation.rhs, tuple) else None
    try:
        left = symbols.evaluate(relation.lhs)
        right = 0 if isinstance(relation.rhs, tuple) else symbols.evaluate(relation.rhs)
    except OverflowInExpression:
        place.wrong_value(expected, "a value beyond int64")
    if members is not None:
        if left not in members:
            place.wrong_value(expected, str(left))
    elif not holds(relation.op, left, right):
        got = str(left) if isinstance(relation.rhs, int) else f"{left} and {right}"
        place.wrong_value(expected, got)


def holds(op: str, left: int, right: int) -> bool:
    match op:
        case "<=":
            return left <= right
        case "<":
            return left < right
        case ">=":
            return left >= right
        case ">":
            return left > right
        case "==":
            return left == right
        case _:
            assert op == "!="
            return left != right


def place_of(signature: Signature, relation: Relation, symbols: Symbols) -> Place:
    """Return where the symbol is bound that can be bound last."""
    order = list(dict.fromkeys(binding_order(signature, symbols)))
    names = {var.name for var in variables(relation)}
    last = [name for name in order if name in names][-1]
    path = symbols.bindings[last].place
    argument = re.split(r"[.\[]", path.split(" in ")[-1].removeprefix("length of "))[0]
    return Place([param.name for param in signature.arguments].index(argument), path)


def binding_order(signature: Signature, symbols: Symbols) -> list[str]:
    """The symbols of all occurrences that can bind one."""
    found: list[str] = []
    for entry in entries_of(signature.arguments):
        if isinstance(entry, Var):
            found.append(entry.name)
        elif isinstance(entry, Expr):
            form = linear_form(entry)
            if form is not None and form[1].name not in symbols.stands_alone:
                found.append(form[1].name)
    return found
