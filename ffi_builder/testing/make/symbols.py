"""Chooses values for the symbols of a signature: small values that fit, or requested ones.

A search gives each symbol a value in turn. It begins with the most natural value, narrows the
ranges of the other symbols, and steps back if none is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from types import MappingProxyType
from typing import Final, TypeAlias

from ffi_builder import SpecError, spec
from ffi_builder.extending import (
    INT_RANGES,
    OPERATORS,
    RELATIONS,
    Condition,
    Expr,
    Relation,
    Scalar,
    Subject,
    dataclass,
    evaluate,
    holds,
    linear,
    variables,
)
from ffi_builder.testing.make.arrays import layout_of, room_for
from ffi_builder.testing.make.parts import Entry, Pick

Env: TypeAlias = dict[spec.Var, Scalar]
Span: TypeAlias = tuple[int, int]
"""The smallest and the largest value."""
Spans: TypeAlias = dict[spec.Var, Span]

_BUDGET: Final = 2_000
"""Number of candidates to try before giving up."""
_ROLES: Final = ("size", "length", "device", "stride", "scalar")
"""The roles of a symbol. A symbol with several roles has the first one in this order."""
_NUMBER: Final = 64
"""The bytes that an element of a list takes, in Python and in tvm-ffi."""
_TENSOR: Final = 2048
"""The bytes that a tensor of a list takes beside its elements, while it is made."""
_ROW: Final = 2
"""The length of a list in a list, unless the signature says another."""
_ROUNDS: Final = 8
"""The number of times that all spans are narrowed: each round may help the next."""


@dataclass(frozen=True)
class Symbol:
    """A symbol to choose a value for."""

    var: spec.Var
    role: str
    rank: int
    """The greatest rank of the tensors that have the symbol in their shape."""
    low: int
    high: int
    step: int
    """Values are multiples of this number."""


@dataclass(frozen=True)
class Rule:
    """A condition that must hold: ``broken`` returns what is wrong, or None.

    ``broken`` is called only after all symbols of the rule have values.
    """

    symbols: frozenset[spec.Var]
    broken: Callable[[Env], str | None]


def entry_rule(entry: Entry, devices: Sequence[int] | None = None) -> Rule:
    """Return the rule that an entry fits its place. ``devices`` are the existing ones, if known."""

    def broken(env: Env) -> str | None:
        if entry.value is None or entry.role == "scalar":
            return None
        value = evaluate(entry.value, lambda var: env[var])
        words = "does not fit int64" if value is None else _misfit(entry, value, devices)
        return words and f"{entry.path} = {entry.value}{_bindings(entry.value, env)} {words}"

    return Rule(frozenset(variables(entry.value)), broken)


def _misfit(entry: Entry, value: int, devices: Sequence[int] | None) -> str | None:
    match entry.role:
        case "device" if devices is not None and value not in devices:
            wanted = "must be 0, where such arrays are; framework='tvm_ffi' takes others"
        case "device" if not 0 <= value < 2**31:
            wanted = "must be from 0 to 2147483647"
        case "size" | "length" if value < 0:
            wanted = "must not be negative"
        case _ if value % entry.packing:
            wanted = f"must be a multiple of {entry.packing}, as so many are packed"
        case _ if entry.packing > 1 and value == -(2**63):  # no int64 has its magnitude
            wanted = "must not be as low for packed elements"
        case _:
            return None
    return f"is {value}, and {wanted}"


def room_rule(path: str, tensor: spec.Tensor, room: int) -> Rule:
    """Return the rule that a tensor needs at most ``room`` bytes."""
    entries = [*tensor.dims, *(tensor.stride_entries or ())]

    def broken(env: Env) -> str | None:
        shape, strides = layout_of(tensor, env)
        if math.prod(shape) >= 2**63:
            return f"{path} has the shape {list(shape)}, whose product does not fit int64"
        size = room_for(tensor, shape, strides)
        return f"{path} needs {size} bytes, and make_args makes {room} at most" * (size > room)

    return Rule(frozenset(var for entry in entries for var in variables(entry)), broken)


def row_length(element: spec.Param) -> int:
    """Return the length of an element that is a list; 0 for others."""
    if not isinstance(element, spec.List):
        return 0
    return element.length if isinstance(element.length, int) else _ROW


def list_rule(path: str, listed: spec.List | spec.TensorList, room: int) -> Rule:
    """Return the rule that a list needs at most ``room`` bytes, beside the elements of tensors."""
    is_plain = isinstance(listed, spec.List)
    each = _NUMBER * (1 + row_length(listed.element)) if is_plain else _TENSOR

    def broken(env: Env) -> str | None:
        size = each * (evaluate(listed.length or 0, lambda var: env[var]) or 0)
        return f"{path} needs {size} bytes, and make_args makes {room} at most" * (size > room)

    return Rule(frozenset(variables(listed.length)), broken)


def _condition_rule(condition: Condition, known: Mapping[spec.Var, int]) -> Rule:
    def broken(env: Env) -> str | None:
        def value_of(var: spec.Var) -> Scalar | None:
            if isinstance(var, Subject):
                return known.get(var, env.get(var.of.param))
            return env.get(var)

        return None if holds(condition, value_of) else _not_kept(condition, env)

    symbols = (var for var in variables(condition) if not isinstance(var, Subject))
    return Rule(frozenset(symbols), broken)


def _not_kept(condition: Condition, env: Env) -> str:
    return f"{condition} does not hold{_bindings(condition, env)}"


def _bindings(value: object, env: Env) -> str:
    symbols = dict.fromkeys(variables(value))
    shown = ", ".join(f"{var.name} = {env[var]}" for var in symbols if var in env)
    return f" with {shown}" if shown else ""


def _symbols(entries: Iterable[Entry]) -> dict[spec.Var, Symbol]:
    """Return the symbols in order of occurrence, then those of strides in reverse order.

    So the strides of a tensor are chosen after its dimensions, the innermost first.
    """
    places: dict[spec.Var, list[Entry]] = {}
    for entry in entries:
        for var in variables(entry.value):
            places.setdefault(var, []).append(entry)
    symbols = [_symbol(var, mine) for var, mine in places.items()]
    strides = [symbol for symbol in symbols if symbol.role == "stride"]
    others = [symbol for symbol in symbols if symbol.role != "stride"]
    return {symbol.var: symbol for symbol in [*others, *reversed(strides)]}


def _symbol(var: spec.Var, places: Sequence[Entry]) -> Symbol:
    roles = {entry.role for entry in places}
    alone = [entry for entry in places if entry.value == var]
    low, high = INT_RANGES.get(var.dtype, (0, 0))
    low, high = low if var.min is None else var.min, high if var.max is None else var.max
    if high >= 0 and any(entry.role in ("size", "length") for entry in alone):
        low = max(low, 0)
    rank = max((entry.rank for entry in places if entry.role == "size"), default=0)
    step = math.lcm(var.divisibility or 1, *(entry.packing for entry in alone))
    return Symbol(var, next(role for role in _ROLES if role in roles), rank, low, high, step)


def _not_negative(entries: Iterable[Entry]) -> Iterator[Relation]:
    """Yield the relations that sizes are not negative, which help the search."""
    for entry in entries:
        if entry.role == "size" and isinstance(entry.value, Expr):
            with suppress(SpecError):  # the relation has two parts more, which may be too many
                yield Relation(">=", entry.value, 0)


class Search:
    """A depth-first search over the candidates of each symbol in turn.

    Args:
        signature: the signature; errors show its name.
        entries: every place of a symbol.
        rules: the rules that values must keep.
        env: the given values; :meth:`run` adds the others.
        tensors: the tensors whose strides are chosen so that elements do not overlap.
        conditions: the conditions of the signature. Conditions with other symbols are ignored.
        known: the values of properties that the conditions compare, as far as they are known.

    Raises:
        ValueError: a given value breaks a rule.
    """

    def __init__(
        self,
        signature: spec.Signature,
        entries: Sequence[Entry],
        rules: Iterable[Rule],
        env: Env,
        tensors: Collection[spec.Tensor] = (),
        conditions: Iterable[Condition] = (),
        known: Mapping[spec.Var, int] = MappingProxyType({}),
    ) -> None:
        self._name, self._env, self._tensors = signature.name, env, tensors
        self._symbols = _symbols(entries)
        self._order = [var for var in self._symbols if var.is_integer and var not in env]
        position = {var: index for index, var in enumerate(self._order)}
        self._wanted: dict[spec.Var, int | None] = {}
        self._tried, self._deepest, self._words = 0, -1, ""
        bound, there = self._symbols.keys(), {*self._symbols, *env}
        relations = [
            each
            for each in conditions
            if isinstance(each, Relation) and bound >= {*variables(each)}
        ]
        self._relations = [*relations, *_not_negative(entries)]
        self._related = {
            var: [each for each in self._relations if var in variables(each)] for var in self._order
        }
        self._rules: dict[spec.Var, list[Rule]] = {var: [] for var in self._order}
        for rule in (*rules, *(_condition_rule(each, known) for each in conditions)):
            free = [position[var] for var in rule.symbols if var in position]
            if free and rule.symbols <= there:
                self._rules[self._order[max(free)]].append(rule)
            words = rule.broken(env) if rule.symbols <= env.keys() else None
            if words:
                raise ValueError(f"make_args: {words}")

    def run(self, pick: Pick) -> None:
        """Give every symbol a value; ``pick`` requests values.

        Raises:
            ValueError: no values were found.
        """
        free = [var for var in self._symbols if var not in self._env and not var.is_integer]
        for number, var in enumerate(free):
            usual = {"bool": True, "handle": 0}.get(var.dtype, number + 0.5)
            self._env[var] = pick("symbol", var.name, self._symbols[var], usual)
        spans = {var: (symbol.low, symbol.high) for var, symbol in self._symbols.items()}
        spans.update({v: (int(x), int(x)) for v, x in self._env.items() if v.is_integer})
        impossible = _narrow(self._relations, spans, self._env)
        self._words = impossible or ""
        for var in self._order:
            low, high = spans[var]
            symbol = replace(self._symbols[var], low=low, high=high)
            self._wanted[var] = pick("symbol", var.name, symbol, None)
        if impossible or not self._from(0, spans):
            names = ", ".join(var.name for var in self._order)
            raise ValueError(
                f"make_args: found no values of {names} that fit {self._name}: {self._words}; "
                f"give some in dims="
            )

    def _from(self, index: int, spans: Spans) -> bool:
        """Give values to the symbols from this index on; return whether any were found."""
        if index == len(self._order):
            return True
        var = self._order[index]
        for value in self._candidates(var, *spans[var]):
            if self._tried == _BUDGET:
                break
            self._tried += 1
            self._env[var] = value
            narrowed = {**spans, var: (value, value)}
            words = self._wrong(var, narrowed)
            if words is None and self._from(index + 1, narrowed):
                return True
            if words and index > self._deepest:  # keep the first message about the deepest symbol
                self._deepest, self._words = index, words
        self._env.pop(var, None)
        return False

    def _wrong(self, var: spec.Var, spans: Spans) -> str | None:
        """Return what is wrong with the value of a symbol, or None; narrow the other spans."""
        for rule in self._rules[var]:
            words = rule.broken(self._env)
            if words:
                return words
        return _narrow(self._related[var], spans, self._env)

    def _candidates(self, var: spec.Var, low: int, high: int) -> Iterator[int]:
        """Yield values in a span, the most natural first, each once."""
        symbol = self._symbols[var]
        step = symbol.step
        least, greatest = -(-low // step), high // step
        # From here on, numbers are in units of `step`.
        first = min(max(-(-self._start(symbol, low) // step), least), greatest)
        if self._wanted.get(var) is None and symbol.role in ("size", "scalar"):
            # Equal values would hide mistakes.
            others = {self._env.get(s.var) for s in self._symbols.values() if s.role != "length"}
            unused = (new for new in range(first, first + 16) if new * step not in others)
            first = next((new for new in unused if new <= greatest), first)
        listed = [r.rhs for r in self._relations if r.lhs == var and isinstance(r.rhs, tuple)]
        ordered = chain(
            range(first, first + 16),
            *([value // step for value in values] for values in listed),
            range(first - 1, max(first - 17, -1), -1),
            range(first, first + 256),
            (2**power // step for power in range(4, 64)),
            (0, least, greatest),
            range(-1, -9, -1),
            (-(2**power // step) for power in range(4, 64)),
        )
        tried: set[int] = set()
        for multiple in ordered:
            if least <= multiple <= greatest and multiple not in tried:
                tried.add(multiple)
                yield multiple * step

    def _start(self, symbol: Symbol, low: int) -> int:
        """Return the value to begin with."""
        wanted = self._wanted.get(symbol.var)
        if symbol.role == "device":
            return 0
        if symbol.role == "stride":
            return self._stride(symbol.var) + (wanted or 0) * symbol.step
        if wanted is not None:
            return wanted
        # Begin at 2: a size of 1 leaves the stride of its dimension free, and 0 leaves all free.
        return 2 if low == symbol.low else low + 2

    def _stride(self, var: spec.Var) -> int:
        """Return the least stride with which no two elements of a tensor overlap."""
        wanted = 1
        for tensor in self._tensors:
            _, strides = layout_of(tensor, self._env)
            for entry, stride in zip(tensor.stride_entries or (), strides, strict=False):
                form = linear(entry) if isinstance(entry, Expr) else (1, entry, 0)
                if form is not None and form[1] == var and form[0] > 0:
                    wanted = max(wanted, -(-(stride - form[2]) // form[0]))
        return wanted


# ---- narrowing


def _narrow(relations: Iterable[Relation], spans: Spans, env: Env) -> str | None:
    """Narrow the spans of symbols to values with which each relation, taken alone, can hold.

    Returns what is wrong if a relation cannot hold with any of the values.
    """
    for _ in range(_ROUNDS):
        before = dict(spans)
        for relation in relations:
            if not _possible(relation, spans):
                return _not_kept(relation, env)
            for var in variables(relation):
                if spans[var][0] < spans[var][1]:
                    spans[var] = _narrowed(relation, var, spans)
        if spans == before:
            break
    return None


def _narrowed(relation: Relation, var: spec.Var, spans: Spans) -> Span:
    """Cut impossible values off both ends of the span of one symbol.

    If a part of a span is possible, so is every larger part. So bisection finds each end.
    """

    def possible(low: int, high: int) -> bool:
        return _possible(relation, {**spans, var: (low, high)})

    least, greatest = low, high = spans[var]
    if not possible(least, least):
        low = _first(lambda end: possible(least, end), least + 1, greatest)
    if not possible(greatest, greatest):
        high = -_first(lambda start: possible(-start, greatest), 1 - greatest, -low)
    return low, high


def _first(reached: Callable[[int], bool], least: int, greatest: int) -> int:
    """Return the least value for which ``reached`` is True; it is True for all greater ones."""
    while least < greatest:
        middle = (least + greatest) // 2
        if reached(middle):
            greatest = middle
        else:
            least = middle + 1
    return least


def _possible(relation: Relation, spans: Mapping[spec.Var, Span]) -> bool:
    """Return False if the relation holds for no values in these spans."""
    low, high = _span(relation.lhs, spans)
    if isinstance(relation.rhs, tuple):
        return any(low <= value <= high for value in relation.rhs)
    rhs_low, rhs_high = _span(relation.rhs, spans)
    match relation.op:
        case "<=" | "<":
            return RELATIONS[relation.op](low, rhs_high)
        case ">=" | ">":
            return RELATIONS[relation.op](high, rhs_low)
        case "==":
            return low <= rhs_high and high >= rhs_low
        case _:
            return not low == high == rhs_low == rhs_high


def _span(value: spec.Dim, spans: Mapping[spec.Var, Span]) -> Span:
    """Return a span that contains all values of an expression, and perhaps others."""
    match value:
        case int():
            return value, value
        case spec.Var():
            return spans[value]
        case Expr("%", lhs, int(divisor)):
            low, high = _span(lhs, spans)
            same = low // divisor == high // divisor
            return (low % divisor, high % divisor) if same else (0, divisor - 1)
        case Expr(op, lhs, rhs):
            first, second = _span(lhs, spans), _span(rhs, spans)
            corners = [OPERATORS[op](x, y) for x in first for y in second]
            return min(corners), max(corners)
