"""Chooses values for the symbols of a signature: the given ones, and small ones that fit.

A search finds values that keep all rules. It tries the most natural candidates first, and jumps
back to the symbols of a broken rule.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, SupportsIndex, cast

from ffi_builder import spec
from ffi_builder.suggest import did_you_mean
from ffi_builder.testing.check import Scalar, check
from ffi_builder.testing.make.layout import layout_of
from ffi_builder.testing.make.relations import Span, boundaries, narrow, span_of
from ffi_builder.testing.make.rules import (
    Env,
    Parts,
    Rule,
    allocation_rules,
    argument_rules,
    relation_rule,
)

_BUDGET: Final = 50_000
"""Number of candidates to try before giving up."""


def choose(
    signature: spec.Signature,
    parts: Parts,
    given: Mapping[str, Scalar],
    devices: Sequence[int] | None,
) -> Env:
    """Choose a value for every symbol of the parts.

    Args:
        signature: the signature, which has all symbols of ``given``.
        parts: the parameters of it to make.
        given: values of some symbols, by name.
        devices: device ids that exist; None allows any.

    Raises:
        ValueError: an unknown name, a given value that breaks a rule, or no values found.
    """
    symbols = _symbols(parts)
    env = _checked(signature, given)
    known = {*symbols, *env}
    allocated = (rule for rule in allocation_rules(signature) if rule.symbols <= known)
    related = [each for each in signature.where if {*spec.variables(each)} <= {*symbols}]
    rules = [*argument_rules(parts, devices), *allocated, *map(relation_rule, related)]
    for rule in rules:
        words = rule.broken(env) if rule.symbols <= env.keys() else None
        if words is not None:
            raise ValueError(f"make_args: {words}")
    free = [var for var in symbols if var not in env]
    for number, var in enumerate(var for var in free if not var.is_integer):
        env[var] = {"bool": True, "handle": 0}.get(var.dtype, number + 0.5)
    searched = [var for var in free if var.is_integer]
    _Search(signature, parts, env, searched, rules, related).run()
    return env


def _checked(signature: spec.Signature, given: Mapping[str, Scalar]) -> Env:
    entries = [entry for _, entry in spec.occurrences(signature.params)]
    symbols = {var.name: var for entry in entries for var in spec.variables(entry)}
    env: Env = {}
    for name, value in given.items():
        if name not in symbols:
            raise ValueError(
                f"make_args: {signature.name} has no symbol {name!r}; it has "
                f"{', '.join(symbols) or 'none'}{did_you_mean(name, symbols)}"
            )
        env[symbols[name]] = _value(symbols[name], value)
    return env


def _value(var: spec.Var, value: object) -> Scalar:
    """Return the value that the symbol has if given ``value``.

    Raises:
        ValueError: the symbol cannot have it.
    """
    what = f"make_args: {var.name} = {value!r}"
    if var.dtype in spec.FLOAT_DTYPES:
        try:
            if hasattr(value, "__float__"):
                return check(spec.Signature("f", [var]), float(cast("float", value)))[var.name]
        except (TypeError, OverflowError):
            pass
        raise ValueError(f"{what} is not a float, but {var.name} is {_article(var.dtype)}")
    if not hasattr(value, "__index__"):
        raise ValueError(f"{what} is no int, but {var.name} is {_article(var.dtype)}")
    number = operator.index(cast("SupportsIndex", value))
    low, high = {"bool": (0, 1), "handle": (0, 2**64 - 1), **spec.INT_RANGES}[var.dtype]
    if not low <= number <= high:
        raise ValueError(f"{what} does not fit {var.dtype} ({low} to {high})")
    if var.dtype == "bool":
        return bool(number)
    if var.min is not None and number < var.min:
        raise ValueError(f"{what} is below {var.min} (min of {var.name})")
    if var.max is not None and number > var.max:
        raise ValueError(f"{what} is above {var.max} (max of {var.name})")
    if number % (var.divisibility or 1):
        raise ValueError(
            f"{what} is not a multiple of {var.divisibility} (divisibility of {var.name})"
        )
    return number


def _article(dtype: str) -> str:
    return f"an {dtype}" if dtype.startswith("int") else f"a {dtype}"


def _symbols(parts: Parts) -> list[spec.Var]:
    """List each symbol once, in order of occurrence; those of strides alone last, reversed.

    Strides of a tensor are then chosen after its dimensions, the innermost first.
    """
    entries = list(_entries(parts))
    strides = [var for stride, entry in entries if stride for var in spec.variables(entry)]
    others = [var for stride, entry in entries if not stride for var in spec.variables(entry)]
    return list(dict.fromkeys([*others, *reversed(strides)]))


def _entries(parts: Parts) -> Iterator[tuple[bool, object]]:
    """Yield whatever may contain a symbol, and whether it is a stride."""
    for _, param in parts:
        match param:
            case spec.Var():
                yield False, param
            case spec.Tensor():
                yield from ((False, entry) for entry in (*param.dims, param.device_id))
                yield from ((True, entry) for entry in param.stride_entries or ())
            case spec.Shape():
                yield from ((False, entry) for entry in param.shape)
            case _:
                pass


class _Search:
    """A depth-first search over the candidates of each symbol in turn."""

    def __init__(
        self,
        signature: spec.Signature,
        parts: Parts,
        env: Env,
        symbols: list[spec.Var],
        rules: list[Rule],
        related: list[spec.Relation],
    ) -> None:
        self.signature, self.env, self.symbols = signature, env, symbols
        self.spans = _spans(parts, env, related)
        self.related = {
            var: [each for each in related if var in spec.variables(each)] for var in symbols
        }
        self.position = {var: index for index, var in enumerate(symbols)}
        self.rules: list[list[Rule]] = [[] for _ in symbols]
        for rule in rules:
            at = [self.position[var] for var in rule.symbols if var in self.position]
            if at:
                self.rules[max(at)].append(rule)
        entries = list(_entries(parts))
        used = {var for stride, entry in entries if not stride for var in spec.variables(entry)}
        self.stride_only = {var for var in symbols if var not in used}
        self.tensors = [param for _, param in parts if isinstance(param, spec.Tensor)]
        self.devices = {tensor.device_id for tensor in self.tensors}
        self.tried = 0
        self.deepest, self.words = -1, ""

    def run(self) -> None:
        """Give every symbol a value.

        Raises:
            ValueError: no values were found.
        """
        if self._from(0) is not None:
            names = ", ".join(var.name for var in self.symbols)
            raise ValueError(
                f"make_args: found no values of {names} that fit {self.signature.name}: "
                f"{self.words}; give some in dims="
            )

    def _from(self, index: int) -> set[int] | None:
        """Give the symbols from here on values; else return the earlier ones to blame."""
        if index == len(self.symbols):
            return None
        var = self.symbols[index]
        blamed: set[int] = set()
        for value in self._candidates(var):
            if self.tried >= _BUDGET:
                return set()
            self.tried += 1
            self.env[var] = value
            at_fault = self._at_fault(index)
            if at_fault is None:
                at_fault = self._from(index + 1)
                if at_fault is None:
                    return None
                if index not in at_fault:
                    break
            blamed |= at_fault - {index}
        else:
            at_fault = blamed
        self.env.pop(var, None)
        return at_fault

    def _at_fault(self, index: int) -> set[int] | None:
        for rule in self.rules[index]:
            words = rule.broken(self.env)
            if words is not None:
                self._note(index, words)
                return {self.position[var] for var in rule.symbols if var in self.position}
        return None

    def _note(self, index: int, words: str) -> None:
        """Keep the first message about the symbol that was reached last."""
        if index > self.deepest:
            self.deepest, self.words = index, words

    def _candidates(self, var: spec.Var) -> Iterator[int]:
        """Yield values that fit the symbol alone, the most natural first, each once."""
        low, high = self.spans[var]
        step = var.divisibility or 1
        least, greatest = -(-low // step), high // step
        # From here on, numbers count steps.
        first = min(max(-(-self._wanted(var) // step), least), greatest)
        if var not in self.stride_only and var not in self.devices:
            # Equal values would hide mistakes.
            others = {value for other, value in self.env.items() if other is not var}
            unused = (new for new in range(first, first + 16) if new * step not in others)
            first = next((new for new in unused if new <= greatest), first)
        ordered = [
            *range(first, first + 16),
            *range(first - 1, max(first - 17, -1), -1),
            *(range(first, first + 256) if self.related[var] else ()),
            *(2**power // step for power in range(4, 64)),
            0,
            least,
            greatest,
            *range(-1, -9, -1),
            *(-(2**power // step) for power in range(4, 64)),
        ]
        tried: set[int] = set()
        for multiple in chain([first], self._near_boundaries(var, step), ordered):
            if least <= multiple <= greatest and multiple not in tried:
                tried.add(multiple)
                yield multiple * step

    def _near_boundaries(self, var: spec.Var, step: int) -> Iterator[int]:
        """Yield numbers of steps with which a relation of the symbol may hold."""
        for relation in self.related[var]:
            for value in boundaries(relation, var, self.env):
                yield from (value // step, value // step + 1)

    def _wanted(self, var: spec.Var) -> int:
        """Return the value to begin with."""
        if var in self.devices:
            return 0
        # From 2 on, as a dimension of 1 leaves its stride free.
        return self._wanted_stride(var) if var in self.stride_only else 2

    def _wanted_stride(self, var: spec.Var) -> int:
        """Return the least stride with which no two elements of a tensor overlap."""
        wanted = 1
        for tensor in self.tensors:
            for entry in tensor.stride_entries or ():
                form = (1, var, 0) if entry == var else _line(entry)
                if form is not None and form[1] == var and form[0] > 0:
                    shape, strides = layout_of(tensor, self.env)
                    pairs = zip(shape, strides, tensor.stride_entries or (), strict=True)
                    known = [
                        dim * abs(stride)
                        for dim, stride, other in pairs
                        if other is not None and all(v in self.env for v in spec.variables(other))
                    ]
                    wanted = max(wanted, -(-(max(known, default=1) - form[2]) // form[0]))
        return wanted


def _spans(parts: Parts, env: Env, related: list[spec.Relation]) -> dict[spec.Var, Span]:
    """Return the least and the greatest value to try for each integer symbol."""
    sizes: set[object] = set()
    for _, param in parts:
        if isinstance(param, (spec.Tensor, spec.Shape)):
            sizes.update(param.dims if isinstance(param, spec.Tensor) else param.shape)
    spans: dict[spec.Var, Span] = {}
    for var in filter(lambda var: var.is_integer, _symbols(parts)):
        if var in env:
            spans[var] = int(env[var]), int(env[var])
        else:
            spans[var] = span_of(var, is_size=var in sizes)
    narrow(related, spans)
    return spans


def _line(entry: spec.Dim | None) -> tuple[int, spec.Var, int] | None:
    return spec.linear(entry) if isinstance(entry, spec.Expr) else None
