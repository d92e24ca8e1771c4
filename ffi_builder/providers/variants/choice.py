"""The order of comparisons that choose a variant: a graph of tests, made before a module is built.

The variants are tried in order, each condition from left to right. No path through the graph has a
test whose answer follows from earlier tests: after ``x.dtype == float16`` has failed for a tensor
of float16 or float32, no test asks for float32. So many variants take few tests.

For each subject of a comparison, the values that it may still have are known. If every comparison
has the same answer throughout an interval, its first and last value stand for all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, Final, TypeAlias, Union

from ffi_builder import spec
from ffi_builder.providers.fixed_symbols import values_in, with_values
from ffi_builder.records import dataclass
from ffi_builder.spec.expr import Combined, Condition, Expr, Name, Relation, combined
from ffi_builder.spec.numbers import INT_RANGES, RELATIONS
from ffi_builder.spec.properties import Comparison, Property
from ffi_builder.spec.tensors.tensor import MOST_DIMENSIONS

MOST_TESTS: Final = 256
"""The most tests of a graph that remembers answers from one variant to the next."""
Operand: TypeAlias = "Property | spec.Dim"
Compared: TypeAlias = "Operand | tuple[spec.Dim, spec.Dim]"
"""The subject of a comparison; a pair of numbers stands for the sign of their difference."""
Known: TypeAlias = "Mapping[Compared, Collection[int]]"
"""The values that each subject may still have."""


@dataclass(frozen=True)
class Atom:
    """A comparison, expressed in integers."""

    made: Condition
    of: Compared
    op: str
    right: tuple[int, ...]
    """The right side; several ints with ``in``."""

    @classmethod
    def of_condition(cls, condition: Condition) -> Atom:
        """Return the Atom of a relation or of a comparison of a property."""
        match condition:
            case Comparison(of, op, value):
                return cls(condition, of, op, (of.number(value),))
            case Relation(op, lhs, int(number)):
                return cls(condition, lhs, op, (number,))
            case Relation(op, lhs, tuple() as given):
                return cls(condition, lhs, op, given)
            case Relation(op, lhs, (spec.Var() | Expr()) as rhs):
                return cls(condition, (lhs, rhs), op, (0,))
            case _:
                raise AssertionError(f"{condition!r} is a condition of another kind")

    def holds(self, value: int) -> bool:
        """Return whether the comparison holds for a value."""
        right = self.right if self.op == "in" else self.right[0]
        return RELATIONS[self.op](value, right)


def atoms(conditions: Iterable[Condition | None]) -> list[Atom]:
    """Return the comparisons of conditions, each once, in order."""
    given = [condition for condition in conditions if condition is not None]
    comparisons = dict.fromkeys(atom for condition in given for atom in condition.atoms())
    return list(map(Atom.of_condition, comparisons))


def at_first(
    conditions: Iterable[Condition | None], numbers: Callable[[Property], Collection[int]]
) -> Known:
    """Return the values that subjects may have at first; ``numbers`` gives those of a property."""
    right: dict[Compared, set[int]] = {}
    for atom in atoms(conditions):
        right.setdefault(atom.of, set()).update(atom.right)
    known: dict[Compared, Collection[int]] = {}
    for of, given in right.items():
        values = numbers(of) if isinstance(of, Property) else _values(of)
        if isinstance(values, range):
            ends = {values[0], values[-1], *(n + more for n in given for more in (-1, 0, 1))}
            values = [value for value in ends if value in values]
        known[of] = frozenset(values)
    return known


def _values(of: spec.Dim | tuple[spec.Dim, spec.Dim]) -> Collection[int]:
    match of:
        case tuple():
            return (-1, 0, 1)
        case Expr("%", _, int(divisor)):
            return range(divisor)
        case _:
            # Limits of a Var do not count: a stride of a dimension of size 1 may exceed them.
            low, high = INT_RANGES[of.dtype if isinstance(of, spec.Var) else "int64"]
            return range(low, high + 1)


def divided(of: Compared) -> tuple[Any, int]:
    """Return the dividend and divisor of a remainder; anything else is returned with 0."""
    match of:
        case Expr("%", dividend, int(divisor)):
            return dividend, divisor
        case Property(divisor=int(divisor)):
            return replace(of, divisor=None), divisor
        case _:
            return of, 0


@dataclass(frozen=True, eq=False)
class Test:
    """A comparison, and the outcome of each answer; equal only to itself."""

    atom: Atom
    yes: Outcome
    no: Outcome


Outcome: TypeAlias = Union[Test, int, None]
"""A test, the index of the variant that is chosen, or None if no variant fits."""


class _TooLargeError(Exception):
    """The graph has more than the allowed number of tests."""


def choose(
    conditions: Sequence[Condition | None], known: Known, *, most: int = MOST_TESTS
) -> Outcome:
    """Return the tests that choose the first variant whose condition holds; None always holds.

    The graph remembers all answers. If it would have more than ``most`` tests, a second graph is
    made that forgets the answers at each variant, and so is no larger than the conditions.
    """
    try:
        return _Chooser(conditions, known, most).build(0, known)
    except _TooLargeError:
        return _Chooser(conditions, known, None).build(0, known)


class _Chooser:
    def __init__(
        self, conditions: Sequence[Condition | None], start: Known, limit: int | None
    ) -> None:
        self.conditions, self.start, self.limit = conditions, start, limit
        self.tests: dict[object, Test] = {}

    def build(self, index: int, known: Known) -> Outcome:
        """Return the outcome for the variants from ``index`` on."""
        left: list[tuple[int, Condition]] = []
        chosen: int | None = None
        for number, condition in enumerate(self.conditions[index:], index):
            verdict = True if condition is None else _left(condition, known)
            if verdict is True:
                chosen = number
                break
            if verdict is False and not left:
                index = number + 1
                known = known if self.limit else self.start
            elif not isinstance(verdict, bool):
                left.append((number, verdict))
                if not self.limit:
                    break
        if not left:
            return chosen
        left_atoms = atoms(condition for _, condition in left)
        key = (chosen, tuple(left), frozenset((atom.of, known[atom.of]) for atom in left_atoms))
        if key not in self.tests:
            if self.limit and len(self.tests) >= self.limit:
                raise _TooLargeError
            atom = left_atoms[0]
            values = _possible(atom.of, known)
            fits, others = (
                frozenset(value for value in values if atom.holds(value) is answer)
                for answer in (True, False)
            )
            yes = self.build(index, {**known, atom.of: fits})
            no = self.build(index, {**known, atom.of: others})
            self.tests[key] = Test(atom, yes, no)
        return self.tests[key]


def _left(condition: Condition, known: Known) -> Condition | bool:
    """Return the undecided part of a condition; True or False if it is decided."""
    match condition:
        case Combined("not", (inner,)):
            left = _left(inner, known)
            return not left if isinstance(left, bool) else ~left
        case Combined(op, parts):
            undecided: list[Condition] = []
            for part in parts:
                left = _left(part, known)
                if not isinstance(left, bool):
                    undecided.append(left)
                elif left is (op == "or"):
                    return left
            return combined(op, *undecided) if undecided else op == "and"
        case _:
            atom = Atom.of_condition(condition)
            values = _possible(atom.of, known)
            sometimes, always = any(map(atom.holds, values)), all(map(atom.holds, values))
            return condition if sometimes and not always else sometimes


def _possible(of: Compared, known: Known) -> Collection[int]:
    """Return the values that a subject may still have: a multiple of 16 is also a multiple of 8."""
    possible, (dividend, divisor) = known[of], divided(of)
    if not divisor:
        return possible
    if len(exact := known.get(dividend, ())) == 1:
        return {value % divisor for value in exact}
    for other, rest in known.items():
        same, by = divided(other)
        if by and same == dividend:
            if by % divisor == 0 and {*rest} == {0}:
                return rest
            if divisor % by == 0 and 0 not in rest:
                possible = {*possible} - {0}
    return possible


def tests_of(outcome: Outcome) -> list[Test]:
    """Return the tests of a graph, each once, in the order in which they are emitted."""
    tests: dict[Test, None] = {}
    waiting = [outcome]
    while waiting:
        test = waiting.pop()
        if isinstance(test, Test) and test not in tests:
            tests[test] = None
            waiting += [test.no, test.yes]
    return list(tests)


def leaves(outcome: Outcome) -> set[int | None]:
    """Return the variants that may be chosen; None is among them if none may fit."""
    if not isinstance(outcome, Test):
        return {outcome}
    ends = (end for test in tests_of(outcome) for end in (test.yes, test.no))
    return {end for end in ends if not isinstance(end, Test)}


def explain(outcome: Outcome, variants: Sequence[str], name: Name) -> Iterator[str]:
    """Yield a line for each test: its number, the comparison, and the outcome of each answer."""
    tests = tests_of(outcome)
    numbers = {test: number for number, test in enumerate(tests, 1)}

    def shown(end: Outcome) -> str:
        if isinstance(end, Test):
            return f"test {numbers[end]}"
        return "no variant fits" if end is None else variants[end]

    if not tests:
        yield shown(outcome)
    for number, test in enumerate(tests, 1):
        text = test.atom.made.text(name)
        yield f"{number}: {text}? yes: {shown(test.yes)}; no: {shown(test.no)}"


@dataclass(frozen=True)
class Choice:
    """The choice of a variant in a signature, and how it restricts the tensors of each variant.

    To find out whether a variant may get a dtype, a graph of tests is made for that dtype alone.

    Args:
        conditions: the conditions of all variants, in order.
        numbers: returns the values that a property may have.
        tensors: the tensors of the signature.
        known: the tensors that are restricted before any condition.
    """

    conditions: Sequence[Condition | None]
    numbers: Callable[[Property], Collection[int]]
    tensors: Sequence[spec.Tensor] = ()
    known: Mapping[spec.Tensor, spec.Tensor] = field(
        default_factory=dict["spec.Tensor", "spec.Tensor"]
    )
    _chosen: dict[frozenset[tuple[Compared, int]], set[int | None]] = field(
        default_factory=dict["frozenset[tuple[Compared, int]]", "set[int | None]"], init=False
    )

    @cached_property
    def start(self) -> Known:
        """The values that each subject may have at first."""
        return at_first(self.conditions, self.numbers)

    @cached_property
    def outcome(self) -> Outcome:
        """The graph of tests."""
        return choose(self.conditions, self.start)

    def narrowed(self, index: int) -> dict[spec.Tensor, spec.Tensor]:
        """Return the tensors that a variant gets only in some dtypes, one rank, layout or size."""
        narrowed: dict[spec.Tensor, spec.Tensor] = {}
        for of in self.start:
            if not isinstance(of, Property) or of.field not in ("dtype", "ndim", "contiguous"):
                continue
            # The signature's own tensor knows where its dtype is taken from.
            own = next((each for each in self.tensors if each == of.param), of.param)
            tensor = narrowed.get(own, self.known.get(own, own))
            if of.field == "dtype":
                left = [d for d in tensor.dtypes if self._is_chosen(index, {of: of.known[d]})]
                if left and len(left) < len(tensor.dtypes):
                    narrowed[own] = replace(tensor, dtype=left)
            elif of.field == "contiguous":
                if self._is_only_contiguous(index, of, tensor):
                    narrowed[own] = tensor.changed(strides=None)
            elif tensor.any_rank:
                # The values include the first and the last rank of each interval.
                ranks = [n for n in self.start[of] if self._is_chosen(index, {of: n})]
                if len(ranks) == 1 and 0 <= ranks[0] <= MOST_DIMENSIONS:
                    narrowed[own] = tensor.changed(shape=[None] * ranks[0])
        values = values_in(_conjuncts(self.conditions[index]))
        for own in self.tensors if values else ():
            tensor = narrowed.get(own, self.known.get(own, own))
            if (sized := with_values(tensor, values)) != tensor:
                narrowed[own] = sized
        return narrowed

    def _is_only_contiguous(self, index: int, of: Property, tensor: spec.Tensor) -> bool:
        """Return whether the tensor is row-major contiguous in a variant whenever it is present."""
        if tensor.order == "C" or tensor.packed_axis not in (None, tensor.ndim - 1):
            return False  # without strides, the last dimension would be packed
        there: dict[Compared, int] = {
            other: 1
            for other in self.start
            if isinstance(other, Property)
            and other.field == "present"
            and spec.required(other.param) == of.param
        }
        return not self._is_chosen(index, {**there, of: 0})

    def _is_chosen(self, index: int, given: Mapping[Compared, int]) -> bool:
        """Return whether a variant may be chosen if subjects have these values."""
        key = frozenset(given.items())
        if key not in self._chosen:
            exact = {of: frozenset((value,)) for of, value in given.items()}
            self._chosen[key] = leaves(choose(self.conditions, {**self.start, **exact}))
        return index in self._chosen[key]


def _conjuncts(condition: Condition | None) -> list[Relation]:
    """Return the relations that hold whenever the condition does."""
    match condition:
        case Relation():
            return [condition]
        case Combined("and", parts):
            return [relation for part in parts for relation in _conjuncts(part)]
        case _:
            return []
