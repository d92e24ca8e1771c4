"""Plans the checks of single values: dimensions, strides, entries of Shapes, device ids, scalars.

The first occurrence of a symbol binds it, and later ones are compared with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from ffi_builder import spec
from ffi_builder.plan import steps as s
from ffi_builder.plan.checks import plan_limits
from ffi_builder.plan.path import Part, Place
from ffi_builder.records import dataclass
from ffi_builder.spec.expr import Combined, Condition, Expr, Relation
from ffi_builder.spec.functions import linear, variables
from ffi_builder.spec.numbers import INT_RANGES
from ffi_builder.spec.places import occurrences
from ffi_builder.spec.properties import Comparison
from ffi_builder.spec.tensors.entries import MOST_ELEMENTS

PlannedTensor: TypeAlias = tuple[Place, spec.Tensor, bool]
"""A tensor, with the place of its device id, and whether it is always present."""


@dataclass(frozen=True)
class PlannedList:
    """A list of tensors whose elements have been planned."""

    place: Place
    param: spec.TensorList
    in_optional: bool


class ValuePlanner:
    """Collects steps, and remembers which symbols are bound so far."""

    def __init__(self, signature: spec.Signature) -> None:
        self.signature = signature
        self.steps: list[s.AnyStep] = []
        """The steps so far of the current level: the signature, an Optional, or an element."""
        self.late: list[s.AnyStep] = []
        self.origins: dict[spec.Var, Place] = {}
        """The first place that binds each symbol, in the order of binding."""
        self.bound: set[spec.Var] = set()
        """Symbols that are certainly bound."""
        self.provisional: set[spec.Var] = set()
        """Symbols that only free strides or Optionals, which may be absent, have bound so far."""
        self.tensors: list[PlannedTensor] = []
        """Every tensor so far."""
        self.in_optional = False
        self.first_elements: dict[Place, PlannedList] = {}
        """The lists, by the place of their first element in :attr:`tensors`."""
        self.of_elements: dict[spec.Var, Place] = {}
        """Symbols with a value for each element of a list, each with the place that binds it."""
        self.of_length: dict[int | spec.Var, set[spec.Var]] = {}
        """Symbols that are certainly bound if lists of this length have elements."""
        self._alone: set[spec.Var] = set()
        """Symbols that stand alone somewhere; expressions do not bind them."""
        self.occurrences: dict[spec.Var, int] = {}
        for _, entry in occurrences(self.signature.params):
            if isinstance(entry, spec.Var):
                self._alone.add(entry)
            for var in set(variables(entry)):
                self.occurrences[var] = self.occurrences.get(var, 0) + 1
        self.subjects: dict[tuple[str, bool], list[s.Subject]] = {}
        """The properties to bind, by the path of the parameter and whether it is ``present``."""
        symbols = (var for each in self.signature.where for var in variables(of_symbols(each)))
        for subject in dict.fromkeys(symbols):
            if isinstance(subject, s.Subject):
                of = subject.of
                self.subjects.setdefault((of.path, of.field == "present"), []).append(subject)
        for _, param in spec.with_paths(self.signature.params):
            # A symbol that all elements of a list share occurs in each of them.
            if isinstance(tensors := spec.required(param), spec.TensorList):
                for var in set(tensors.symbols) - set(tensors.each):
                    self.occurrences[var] += 1

    def add(self, *steps: s.AnyStep) -> None:
        """Append steps."""
        self.steps.extend(steps)

    def plan_value(self, place: Place, entry: spec.Dim | None, *, free: bool = False) -> None:
        """Plan one dimension, stride, device id or entry of a Shape."""
        match entry:
            case None:
                return
            case int():
                self.add(s.EqualInt(place, entry, free))
            case spec.Var():
                if _may_not_fit(place, entry):
                    self.add(s.Fits(place, entry.dtype, None if free else entry))
                self.add(*plan_limits(place, entry, free=free))
                self.bind(place, entry, free=free)
            case Expr():
                self._plan_expr(place, entry, free)

    def planned(self, plan: Callable[[], None]) -> tuple[s.AnyStep, ...]:
        """Return the steps that a function adds."""
        outer, self.steps = self.steps, []
        plan()
        inside, self.steps = self.steps, outer
        return tuple(inside)

    def bind(self, place: Place, var: spec.Var, *, free: bool = False) -> None:
        """Bind a symbol at its first occurrence; compare with it at later ones."""
        self.origins.setdefault(var, place)
        if var in self.bound:
            self.add(s.EqualSymbol(place, var, free))
        elif free and self.occurrences[var] > 1:
            self.provisional.add(var)
            self.add(s.BindOrEqual(place, var, free))
        elif var in self.provisional:
            self.add(s.BindOrEqual(place, var))
            self.bound.add(var)
        else:
            self.add(s.Bind(place, var))
            self.bound.add(var)

    def _plan_expr(self, place: Place, expr: Expr, free: bool) -> None:
        if all(var in self.bound for var in variables(expr)):
            self.add(s.EqualExpr(place, expr, free))
            return
        form = linear(expr)
        if form is None or form[1] in self._alone:
            self.late.append(s.EqualExpr(place, expr, free))
            return
        scale, var, offset = form
        solved = replace(place, solved=var.name)
        self.add(s.Solve(place, var, expr, scale, offset, free))
        if _may_not_fit(solved, var):
            self.add(s.Fits(solved, var.dtype))
        self.add(*plan_limits(solved, var, free=free))
        self.bind(solved, var, free=free)


def plan_conditions(planner: ValuePlanner) -> Iterator[s.CheckCondition]:
    """Check the conditions of the signature, in their order."""
    order = {var: number for number, var in enumerate(planner.origins)}
    for given in planner.signature.where:
        condition = of_symbols(given)
        first, *others = sorted({*variables(condition)}, key=order.__getitem__, reverse=True)
        place = planner.origins[first]
        yield s.CheckCondition(place, condition, _text(given), (first, *others))


def _text(condition: Condition) -> str:
    """Return the text of a condition, and for one that refuses NULL what would take it."""
    if isinstance(condition, Comparison) and condition.of.field == "present":
        is_handle = isinstance(condition.of.param, spec.Var)
        return f"{condition}{' (an Optional(handle) may be NULL)' if is_handle else ''}"
    return f"{condition}"


def of_symbols(condition: Condition) -> Condition:
    """Return the condition, with a symbol in place of each property that it compares."""
    match condition:
        case Combined(_, parts):
            return replace(condition, parts=tuple(map(of_symbols, parts)))
        case Comparison(of, op, value):
            subject = s.Subject(str(of.read), "int64", of=of.read)
            if of.field != of.read.field:  # a flag: whether the address is not NULL
                return Relation("!=", subject, 0)
            operand = subject if of.divisor is None else subject % of.divisor
            return Relation(op, operand, of.number(value))
        case _:
            return condition


def _may_not_fit(place: Place, var: spec.Var) -> bool:
    """Return whether a value at this place can lie outside the range of the symbol's dtype."""
    match place.part:
        case Part.SHAPE | Part.ENTRY if place.solved is None:
            lowest, highest = 0, 2**63 - 1
        case Part.DEVICE_ID:
            lowest, highest = -(2**31), 2**31 - 1
        case Part.LENGTH:
            lowest, highest = 0, MOST_ELEMENTS
        case _:
            lowest, highest = -(2**63), 2**63 - 1
    low, high = INT_RANGES[var.dtype]
    return lowest < low or high < highest
