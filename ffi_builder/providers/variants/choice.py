"""The order of comparisons that choose a variant: a graph of tests, made before a module is built.

The variants are tried in order, each condition from left to right. On no way through the graph is
something compared whose answer follows from earlier ones: after ``x.dtype == float16`` has failed
for a tensor of float16 or float32, no test asks for float32. Many variants take few tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias, Union

from ffi_builder.providers.variants.conditions import Atom, Condition, used
from ffi_builder.providers.variants.facts import Domains, Facts, simplified
from ffi_builder.providers.variants.subject import Name
from ffi_builder.records import dataclass

MOST_TESTS: Final = 256
"""The largest graph that remembers answers from one variant to the next."""


@dataclass(frozen=True, eq=False)
class Test:
    """A comparison, and what follows each of its answers; equal only to itself."""

    atom: Atom
    yes: Outcome
    no: Outcome


Outcome: TypeAlias = Union[Test, int, None]
"""A test, the index of the variant that is chosen, or None if no variant fits."""


class _TooLargeError(Exception):
    """The graph has more than the allowed number of tests."""


def choose(
    conditions: Sequence[Condition | None], domains: Domains, *, most: int = MOST_TESTS
) -> Outcome:
    """Return the tests that choose the first variant whose condition holds; None always holds.

    The graph remembers all answers. If it would have more than ``most`` tests, each variant starts
    anew instead: the graph is then as large as the conditions are.
    """
    try:
        return _Chooser(conditions, domains, most).build(0, Facts.none(domains))
    except _TooLargeError:
        return _Chooser(conditions, domains, None).build(0, Facts.none(domains))


class _Chooser:
    def __init__(
        self, conditions: Sequence[Condition | None], domains: Domains, limit: int | None
    ) -> None:
        self.conditions, self.domains, self.limit = conditions, domains, limit
        self.tests: dict[object, Test] = {}

    def build(self, index: int, facts: Facts) -> Outcome:
        """Return the outcome for the variants from ``index`` on."""
        left: list[tuple[int, Condition]] = []
        chosen: int | None = None
        for number in range(index, len(self.conditions)):
            condition = self.conditions[number]
            found = True if condition is None else simplified(condition, facts)
            if found is True:
                chosen = number
                break
            if found is False and not left:
                index = number + 1
                facts = facts if self.limit else Facts.none(self.domains)
            elif not isinstance(found, bool):
                left.append((number, found))
                if not self.limit:
                    break
        if not left:
            return chosen
        subjects = [subject for _, condition in left for subject in used(condition)]
        key = (chosen, tuple(left), facts.of(subjects))
        if key not in self.tests:
            if self.limit and len(self.tests) >= self.limit:
                raise _TooLargeError
            atom = next(left[0][1].atoms())
            yes = self.build(index, facts.assume(atom, answer=True))
            no = self.build(index, facts.assume(atom, answer=False))
            self.tests[key] = Test(atom, yes, no)
        return self.tests[key]


def tests_of(outcome: Outcome) -> list[Test]:
    """Return the tests of a graph, each once, in the order in which they are emitted."""
    found: dict[Test, None] = {}
    waiting = [outcome]
    while waiting:
        test = waiting.pop()
        if isinstance(test, Test) and test not in found:
            found[test] = None
            waiting += [test.no, test.yes]
    return list(found)


def leaves(outcome: Outcome) -> set[int | None]:
    """Return the variants that may be chosen; None is among them if none may fit."""
    if not isinstance(outcome, Test):
        return {outcome}
    ends = (end for test in tests_of(outcome) for end in (test.yes, test.no))
    return {end for end in ends if not isinstance(end, Test)}


def explain(outcome: Outcome, variants: Sequence[str], name: Name) -> Iterator[str]:
    """Yield a line for each test: its number, the comparison, and what follows each answer."""
    tests = tests_of(outcome)
    numbers = {test: number for number, test in enumerate(tests, 1)}

    def shown(end: Outcome) -> str:
        if isinstance(end, Test):
            return f"test {numbers[end]}"
        return "no variant fits" if end is None else variants[end]

    if not tests:
        yield shown(outcome)
    for number, test in enumerate(tests, 1):
        text = test.atom.text(name)
        yield f"{number}: {text}? yes: {shown(test.yes)}; no: {shown(test.no)}"
