"""Facts that are known of a call after some comparisons, and what follows for others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from ffi_builder.providers.variants.conditions import (
    AllOf,
    AnyOf,
    Atom,
    Compare,
    Condition,
    Multiple,
    Not,
)
from ffi_builder.providers.variants.subject import Domain, Subject
from ffi_builder.records import dataclass

Domains: TypeAlias = Callable[[Subject], Domain]
"""Returns the values that a subject may have before anything is compared."""
Remaining: TypeAlias = "Condition | bool"
"""The part of a condition that is not decided yet."""


@dataclass(frozen=True)
class Facts:
    """The possible values of subjects, and the answers of comparisons."""

    domains: Domains
    values: Mapping[Subject, Domain]
    answers: Mapping[Atom, bool]

    @classmethod
    def none(cls, domains: Domains) -> Facts:
        """Return the facts before any comparison."""
        return cls(domains, {}, {})

    def of(self, subjects: Iterable[Subject]) -> frozenset[object]:
        """Return all that is known of some subjects, as one value that can be compared."""
        wanted = set(subjects)
        known = {item for item in self.values.items() if item[0] in wanted}
        return frozenset((*known, *(i for i in self.answers.items() if i[0].subject in wanted)))

    def domain(self, subject: Subject) -> Domain:
        """Return the possible values of a subject."""
        return self.values[subject] if subject in self.values else self.domains(subject)

    def settle(self, atom: Atom) -> bool | None:
        """Return the answer of a comparison if it follows from the facts, else None."""
        if atom in self.answers:
            return self.answers[atom]
        domain = self.domain(atom.subject)
        if isinstance(domain, frozenset):
            answers = {atom.holds(value) for value in domain}
            return answers.pop() if len(answers) == 1 else None
        if isinstance(atom, Multiple):
            return self._settle_multiple(atom, domain)
        low, high = domain
        if low == high:
            return atom.holds(low)
        if atom.op == "==":
            return None if low <= atom.number <= high else False
        return None if low < atom.number <= high else low >= atom.number

    def _settle_multiple(self, atom: Multiple, domain: tuple[int, int]) -> bool | None:
        if domain[0] == domain[1]:
            return atom.holds(domain[0])
        if atom.divisor == 1:
            return True
        for known, answer in self.answers.items():
            if not isinstance(known, Multiple) or known.subject != atom.subject:
                continue
            if answer and known.divisor % atom.divisor == 0:
                return True
            if not answer and atom.divisor % known.divisor == 0:
                return False
        return None

    def assume(self, atom: Atom, *, answer: bool) -> Facts:
        """Return the facts after a comparison that had an answer."""
        domain = self.domain(atom.subject)
        answers = {**self.answers, atom: answer}
        if isinstance(domain, frozenset):
            domain = frozenset(value for value in domain if atom.holds(value) == answer)
        elif isinstance(atom, Compare):
            domain = _narrowed(domain, atom, answer)
        return Facts(self.domains, {**self.values, atom.subject: domain}, answers)


def _narrowed(domain: tuple[int, int], atom: Compare, answer: bool) -> tuple[int, int]:
    """Return the part of an interval in which ``==`` or ``>=`` has an answer, if it is one."""
    low, high = domain
    if atom.op == ">=":
        return (max(low, atom.number), high) if answer else (low, min(high, atom.number - 1))
    if answer:
        return (atom.number, atom.number)
    return (low + (low == atom.number), high - (high == atom.number))


def canonical(atom: Atom) -> tuple[Atom, bool]:
    """Return an equal comparison with ``==``, ``>=`` or ``%``, and whether it is not negated."""
    if isinstance(atom, Multiple):
        return atom, True
    subject, number = atom.subject, atom.number
    match atom.op:
        case "!=":
            return Compare(subject, "==", number), False
        case "<":
            return Compare(subject, ">=", number), False
        case "<=":
            return Compare(subject, ">=", number + 1), False
        case ">":
            return Compare(subject, ">=", number + 1), True
        case _:
            return atom, True


def simplified(condition: Condition, facts: Facts) -> Remaining:
    """Return the undecided part of a condition; True or False if all is decided."""
    match condition:
        case Compare() | Multiple():
            atom, positive = canonical(condition)
            answer = facts.settle(atom)
            if answer is not None:
                return answer == positive
            return atom if positive else Not(atom)
        case Not(inner):
            left = simplified(inner, facts)
            return not left if isinstance(left, bool) else Not(left)
        case AllOf(conditions):
            return _combined(conditions, facts, AllOf, neutral=True)
        case AnyOf(conditions):
            return _combined(conditions, facts, AnyOf, neutral=False)
        case _:
            raise AssertionError(f"{condition!r} is a condition of another kind")


def _combined(
    conditions: Iterable[Condition],
    facts: Facts,
    make: type[AllOf] | type[AnyOf],
    *,
    neutral: bool,
) -> Remaining:
    left: list[Condition] = []
    for part in conditions:
        found = simplified(part, facts)
        if not isinstance(found, bool):
            left.append(found)
        elif found != neutral:
            return found
    if not left:
        return neutral
    return left[0] if len(left) == 1 else make(tuple(left))
