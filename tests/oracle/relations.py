"""The entries of ``where``: *Relations* and *Conditions* of docs/checks.md."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

from ffi_builder.spec import Choice, DataPointer, Param, Signature, Var
from ffi_builder.spec.composite import elements
from ffi_builder.spec.expr import Combined, Condition, Expr, Relation
from ffi_builder.spec.functions import variables
from ffi_builder.spec.properties import Comparison, Property
from tests.oracle.symbols import OverflowInExpression, Symbols, entries_of, linear_form
from tests.oracle.words import Place

UNKNOWN: Final = object()
OVERFLOW: Final = object()


class FromNone(int):
    """NULL, as None; its value is 0."""


def is_address(of: Property) -> bool:
    """Whether the property is the address of a handle or DataPointer, or that it is not NULL."""
    handle = isinstance(of.param, Var) and of.param.dtype == "handle"
    return handle or isinstance(of.param, DataPointer)


def key_of(of: Property) -> tuple[str, str]:
    return of.path, "" if is_address(of) else of.field


Properties: TypeAlias = "Mapping[tuple[str, str], object]"
"""The value of each property of ``where`` by path and field; None if it is unknown."""


def check_where(signature: Signature, symbols: Symbols, values: Properties) -> None:
    """Check the relations whose symbols are all bound, and the conditions."""
    for entry in signature.where:
        if not isinstance(entry, Relation):
            check_condition(signature, entry, symbols, values)
        elif all(var.name in symbols.bindings for var in variables(entry)):
            check_relation(signature, entry, symbols)


def check_relation(signature: Signature, relation: Relation, symbols: Symbols) -> None:
    place = place_of(signature, relation, symbols, {})
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


def check_condition(
    signature: Signature, condition: Condition, symbols: Symbols, values: Properties
) -> None:
    def passes(part: Condition, negated: bool, overflow: bool) -> bool:
        """Return what the part counts as, behind an odd number of ``not`` if ``negated``.

        A comparison that overflows counts as ``overflow`` if it is not ``negated``.
        """
        if isinstance(part, Combined):
            if part.op == "not":
                return not passes(part.parts[0], not negated, overflow)
            found = [passes(each, negated, overflow) for each in part.parts]
            return all(found) if part.op == "and" else any(found)
        truth = compared(part, symbols, values)
        if truth is OVERFLOW:
            return overflow is not negated
        return {UNKNOWN: not negated}.get(truth, truth is True)

    def counted(overflow: bool) -> bool:
        return passes(condition, False, overflow)

    if counted(False):
        return
    shown = ", ".join(show_operands(condition, symbols, values))
    place = place_of(signature, condition, symbols, values)
    if counted(True):
        place.wrong_value(f"{condition} with {shown}", "a value beyond int64")
    place.wrong_value(f"{condition}{of_null(condition)}", shown)


def of_null(condition: Condition) -> str:
    """Return what words about NULL of a handle add."""
    if isinstance(condition, Comparison) and condition.of.field == "present":
        is_handle = isinstance(condition.of.param, Var)
        return " (an Optional(handle) may be NULL)" if is_handle else ""
    return ""


def compared(part: Condition, symbols: Symbols, values: Properties) -> object:
    """Return True, False, UNKNOWN or OVERFLOW."""
    if isinstance(part, Comparison):
        of = part.of
        if (value := values[key_of(of)]) is None:
            return UNKNOWN
        if is_address(of) and of.field == "present":
            return value != 0
        if of.divisor is not None:
            value = cast("int", value) % of.divisor
        expected = part.value
        if isinstance(of.param, Choice):
            value, expected = of.param.choices[str(value)], of.param.choices[expected]
        if of.field == "dtype":
            value = str(value)
        return holds(part.op, value, expected)
    assert isinstance(part, Relation)
    if any(var.name not in symbols.bindings for var in variables(part)):
        return UNKNOWN
    try:
        left = symbols.evaluate(part.lhs)
        if isinstance(part.rhs, tuple):
            return left in part.rhs
        return holds(part.op, left, symbols.evaluate(part.rhs))
    except OverflowInExpression:
        return OVERFLOW


def show_operands(condition: Condition, symbols: Symbols, values: Properties) -> list[str]:
    """Return what is compared, each once: ``x.dtype = float32``, ``n = 3 from x.shape[0]``."""
    shown: list[str] = []
    for atom in condition.atoms():
        if isinstance(atom, Comparison):
            shown.append(f"{name_of(atom.of)} = {show_property(atom.of, values)}")
        else:
            for var in variables(atom):
                known = var.name in symbols.bindings
                shown.append(symbols.show_known(var) if known else f"{var} = None")
    return list(dict.fromkeys(shown))


def name_of(of: Property) -> str:
    if isinstance(of.param, Var):
        return of.param.name
    return ".".join(filter(None, key_of(of)))


def show_property(of: Property, values: Properties) -> str:
    value = values[key_of(of)]
    if value is None or isinstance(value, FromNone):
        return "None"
    if is_address(of):
        return hex(cast("int", value))
    return (
        hex(cast("int", value)) if of.is_address else repr(value) if of.field == "" else str(value)
    )


def holds(op: str, left: Any, right: Any) -> bool:
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


def place_of(
    signature: Signature, condition: Condition, symbols: Symbols, values: Properties
) -> Place:
    """Return where what is known of the condition is bound that can be bound last."""
    properties = [
        atom.of
        for entry in signature.where
        for atom in entry.atoms()
        if isinstance(atom, Comparison)
    ]
    order = [
        one
        for param in signature.arguments
        for one in order_in(param.name, param, properties, symbols)
    ]
    names = {var.name for var in variables(condition)} & symbols.bindings.keys()
    wanted: set[object] = {*names}
    for atom in condition.atoms():
        if isinstance(atom, Comparison) and values[key_of(atom.of)] is not None:
            wanted.add(key_of(atom.of))
    last = [one for one in dict.fromkeys(order) if one in wanted][-1]
    path = symbols.bindings[last].place if isinstance(last, str) else ".".join(filter(None, last))
    argument = re.split(r"[.\[]", path.split(" in ")[-1].removeprefix("length of "))[0]
    return Place([param.name for param in signature.arguments].index(argument), path)


def order_in(
    path: str, param: Param, properties: Sequence[Property], symbols: Symbols
) -> Iterator[str | tuple[str, str]]:
    """Yield the symbols that a parameter can bind, and its properties, in the order of checks."""
    inside = list(elements(param, path))
    for inner, element in inside:
        yield from order_in(inner, element, properties, symbols)
    if not inside:
        yield from binding_order([param], symbols)
    own = [key_of(of) for of in properties if of.path == path]
    yield from sorted(own, key=lambda one: one[1] == "present")


def binding_order(params: Sequence[Param], symbols: Symbols) -> list[str]:
    """The symbols of all occurrences that can bind one."""
    found: list[str] = []
    for entry in entries_of(params):
        if isinstance(entry, Var):
            found.append(entry.name)
        elif isinstance(entry, Expr):
            form = linear_form(entry)
            if form is not None and form[1].name not in symbols.stands_alone:
                found.append(form[1].name)
    return found
