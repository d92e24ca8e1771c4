"""Emits the choice of a variant: a branch for each test, and the error if no variant fits.

For variants with ``x.dtype == float16 and n % 16 == 0``, ``x.dtype == float16`` and no condition::

    %dtype = llvm.load %x
    %is_half = llvm.icmp "eq" %dtype, %float16
    llvm.cond_br %is_half, ^half, ^third
  ^half:
    %low = llvm.and %n, %fifteen
    %divides = llvm.icmp "eq" %low, %zero
    llvm.cond_br %divides, ^first, ^second
  ^first:                                        // the provider of the first variant
    llvm.call @f16_by_16(%x, %n)
    llvm.br ^chosen
  …
  ^chosen:                                       // its arguments are results and status
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any, Final, cast

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.ir import Block, CheckingBuilder, Value
from ffi_builder.ir.protocols import Type
from ffi_builder.providers.by_address import extended
from ffi_builder.providers.context import CallContext, OwnedAny
from ffi_builder.providers.results import value_results, value_type
from ffi_builder.providers.variants.choice import Atom, Operand, Outcome, atoms, divided, tests_of
from ffi_builder.providers.variants.variant import PROVIDER, Variant
from ffi_builder.records import dataclass
from ffi_builder.spec.expr import Condition, Expr, Name
from ffi_builder.spec.functions import variables
from ffi_builder.spec.numbers import INT_RANGES
from ffi_builder.spec.properties import Property
from ffi_builder.spec.results import HandedOver

_MOST_BITS: Final = 64
_READ: Final = {"data": "address", "contiguous": "is_contiguous", "": "scalar"}
"""The methods of a context that read properties, if their names differ."""


class OfCall(Property, ABC):
    """A property of the call, not of a parameter; it may add symbols to the module."""

    @abstractmethod
    def emit(self, context: CallContext) -> Value:
        """Emit the property as an integer. The emitted code may fail."""

    @abstractmethod
    def described(self, b: CheckingBuilder, value: Value) -> tuple[str, list[Value]]:
        """Return words and values for errors."""


@dataclass
class Chooser:
    """Emits the tests of a graph, and each variant once."""

    context: CallContext
    emit_variant: Callable[[int], None]
    """Emits a variant from the cursor on, and notes its last block."""
    emit_failure: Callable[[], None]
    """Emits the error if no variant fits."""
    values: dict[Operand, Value] = field(default_factory=dict["Operand", Value])
    """Values that are evaluated before the first test."""
    blocks: dict[Outcome, Block] = field(default_factory=dict[Outcome, Block])
    """The first blocks of tests and variants that several tests lead to."""

    def emit(self, outcome: Outcome) -> None:
        """Emit the graph from the cursor on."""
        read = [operand for test in tests_of(outcome) for operand in _operands(test.atom)]
        for operand, uses in Counter(read).items():
            # An operand that may fail is evaluated up front only if the first test needs it.
            if uses > 1 and (operand == read[0] or not _may_fail(operand)):
                self.values[operand] = _value(self.context, operand)
        self._emit(outcome)

    def _emit(self, outcome: Outcome) -> None:
        """Emit an outcome and all that follow it from the cursor on, each once."""
        if outcome is None:
            self.emit_failure()
        elif isinstance(outcome, int):
            self.emit_variant(outcome)
        else:
            b = self.context.builder
            condition = self._holds(outcome.atom)
            start, targets = b.block, list[Block]()
            for following in (outcome.yes, outcome.no):
                if following not in self.blocks:
                    self.blocks[following] = b.block = b.new_block(cold=following is None)
                    self._emit(following)
                targets.append(self.blocks[following])
            b.block = start
            b.cond_br(condition, targets[0], targets[1])

    def _holds(self, atom: Atom) -> Value:
        """Emit a comparison; return an i1."""
        context, b, operands = self.context, self.context.builder, _operands(atom)
        values = [self.values.get(of) or _value(context, of) for of in operands]
        if isinstance(atom.of, tuple):
            left, right = map(partial(_wide, context), values, atom.of)
            return b.relate(atom.op, left, [right])
        [of], [value] = operands, values
        if isinstance(of, Property) and of.is_flag:
            return value
        signed = not (isinstance(of, spec.Var) and of.dtype.startswith("u"))
        if of != atom.of:
            value = b.rest(value, divided(atom.of)[1], signed=signed)
        low, high = INT_RANGES[f"{'' if signed else 'u'}int{b.width(value)}"]
        fitting = [n for n in atom.right if low <= n <= high] if atom.op == "in" else atom.right
        right = [b.constant(b.width(value), n) for n in fitting]
        return b.relate(atom.op, value, right, signed=signed)


def _operands(atom: Atom) -> tuple[Operand, ...]:
    """Return the operands that a comparison evaluates."""
    if isinstance(atom.of, tuple):
        return atom.of
    dividend, divisor = divided(atom.of)
    is_multiple = divisor and atom.op in ("==", "!=") and atom.right == (0,)
    return (dividend if is_multiple or isinstance(atom.of, Property) else atom.of,)


def _may_fail(of: Operand) -> bool:
    """Return whether evaluating an operand may raise an error."""
    return isinstance(of, Expr) or (isinstance(of, Property) and not of.params)


def _value(context: CallContext, of: Any) -> Value:
    """Emit a property as an integer, or a number in its own type."""
    b = context.builder
    if isinstance(of, OfCall):
        return of.emit(context)
    if not isinstance(of, Property):
        return context.value(of)
    param = of.param
    if of.field != of.read.field:
        return b.ne(_value(context, of.read), b.i64(0))
    if of.field == "dtype" and param.storage_dtype is not None:
        # The caller's tensor has the storage dtype, but the kernel sees a single dtype.
        value = b.i32(next(iter(of.known.values())))
    else:
        read = _READ.get(of.field, of.field)
        value: Value = getattr(context, read)(param)
        if of.is_address:
            return b.to_int(value)
        if isinstance(param, spec.Choice):
            value = extended(b, value, param.dtype)
        elif of.field != "ndim":
            return value
    if not context.may_be_absent(param):
        return value
    return b.select(context.present(param), value, b.constant(b.width(value), of.of_none))


def _wide(context: CallContext, value: Value, of: spec.Dim) -> Value:
    """Return a number as an i64. A larger uint64 raises the error of an overflow."""
    if not isinstance(of, spec.Var):
        return value
    return (
        context.value(of + 0)
        if of.dtype == "uint64"
        else extended(context.builder, value, of.dtype)
    )


def fail(context: CallContext, variants: Sequence[tuple[str, Condition]], name: Name) -> None:
    """Raise the error for no variant: it lists the variants' conditions and the given values."""
    divisors: dict[object, int] = {}
    for atom in atoms(condition for _, condition in variants):
        for of, divisor in map(divided, atom.of if isinstance(atom.of, tuple) else (atom.of,)):
            divisors[of] = max(divisor, divisors.get(of, 0))
    shown: dict[str, list[Value]] = {}
    for of, divisor in divisors.items():
        for words, values in _described(context, of, name, divisor):
            shown.setdefault(words, values)
    expected = ", ".join(f"{title} ({condition.text(name)})" for title, condition in variants)
    # Names and choices may contain "{}", which stands for a value.
    words = f"No variant fits: expected {expected.replace('{}', '{ }')} but got {', '.join(shown)}"
    context.builder.fail("ValueError", words, *(v for values in shown.values() for v in values))


def _described(
    context: CallContext, of: Any, name: Name, divisor: int
) -> Iterator[tuple[str, list[Value]]]:
    """Yield words and values for an error; for an expression, those of its symbols."""
    b = context.builder
    if not isinstance(of, Property):
        for var in dict.fromkeys(variables(of)):
            yield f"{var.name} = {{}}", [extended(b, context.value(var), var.dtype)]
        return
    value = _value(context, of)
    if isinstance(of, OfCall):
        yield of.described(b, value)
        return
    if of.is_address:
        of, value = replace(of, divisor=divisor), b.rest(value, divisor)
    elif of.known:
        value = _name_of(b, value, of)
    yield f"{of.text(name)} = {{}}", [value]


def _name_of(b: CheckingBuilder, value: Value, of: Property) -> Value:
    """Return the word for an integer as a C string; "None" for an integer without a word."""
    words: dict[int, list[str]] = {}
    for known, number in of.known.items():
        words.setdefault(number, []).append(of.shown(known))
    shown = b.text_constant(b"None\0")
    for number, alternatives in words.items():
        word = b.text_constant(f"{' or '.join(alternatives)}\0".encode())
        shown = b.select(b.eq(value, b.constant(b.width(value), number)), word, shown)
    return shown


@dataclass(frozen=True)
class End:
    """The block where the call of a variant ends, and the values that it returned."""

    variant: Variant
    block: Block
    returned: Value | None
    called: Value | None
    results: Sequence[Value | OwnedAny]


def emit_variant(
    context: CallContext, variant: Variant, known: Mapping[spec.Tensor, spec.Tensor]
) -> End:
    """Emit the call of a variant at the cursor.

    ``known`` maps tensors to their restricted forms under the condition of the variant.

    Raises:
        BuildError: if the provider's results differ from those of the signature.
    """
    b = context.builder
    inner = replace(
        context,
        known=known,
        returned=None,
        called=None,
        results=None,
        places=dict[str, Value](),
        asked=dict[Any, None](),
    )
    block = variant.members.emit(b.block, inner)
    wanted = value_results(context)
    types = [value_type(b.types, result) for result in wanted]
    results = list(inner.results or ())
    if not _fit(results, wanted, types):
        given = ", ".join(map(_type_text, results))
        raise BuildError(
            f"{PROVIDER}: variant {variant.name!r} gives {given or 'no results'}, but "
            f"{context.fn_name!r} returns {', '.join(map(str, types)) or 'no values'}"
        )
    called = None
    if context.status_wanted:
        b.block, called = block, inner.called
        if called is None:
            called = b.text_constant(variant.name.encode() + b"\0")
    return End(variant, block, inner.returned, called, results)


def _fit(
    results: Sequence[Value | OwnedAny], wanted: Sequence[HandedOver], types: Sequence[Type]
) -> bool:
    """Return whether the results match a signature; all but numbers may be OwnedAnys."""
    return len(results) == len(types) and all(
        not isinstance(param, spec.Var) if isinstance(value, OwnedAny) else value.type == type_
        for value, param, type_ in zip(results, wanted, types, strict=True)
    )


def _type_text(result: Value | OwnedAny) -> str:
    return "an OwnedAny" if isinstance(result, OwnedAny) else str(result.type)


def join(context: CallContext, ends: Sequence[End]) -> None:
    """Go on after all variants, with the results and the status of the called variant.

    Raises:
        BuildError: if a status is wanted, and a variant returns none; or if a result is an OwnedAny
            in one variant, and a value in another.
    """
    b = context.builder
    owned = _owned(context, ends)
    passed = [[r.address if isinstance(r, OwnedAny) else r for r in end.results] for end in ends]
    statuses = _statuses(context, ends)
    if statuses:
        for values, end, status in zip(passed, ends, statuses, strict=True):
            values += [status, *([] if end.called is None else [end.called])]
    after = b.new_block(*(value.type for value in passed[0]))
    for values, end in zip(passed, ends, strict=True):
        b.block = end.block
        b.br(after, *values)
    b.block = after
    count = len(ends[0].results)
    values, rest = list(after.arguments)[:count], list(after.arguments)[count:]
    results = [
        OwnedAny(value) if is_owned else value
        for value, is_owned in zip(values, owned, strict=True)
    ]
    context.results = results or None
    context.returned, context.called = (*rest, None, None)[:2]


def _owned(context: CallContext, ends: Sequence[End]) -> list[bool]:
    """Return for each result whether it is an OwnedAny; this must be the same in all variants."""
    first = ends[0]
    owned = [isinstance(result, OwnedAny) for result in first.results]
    for end in ends:
        for result, value, is_owned in zip(value_results(context), end.results, owned, strict=True):
            if isinstance(value, OwnedAny) != is_owned:
                raise BuildError(
                    f"{PROVIDER}: variant {first.variant.name!r} gives "
                    f"{_kind_text(is_owned)} for the result {result.name!r}, and "
                    f"{end.variant.name!r} {_kind_text(not is_owned)}; let both give the same, as "
                    f"with providers of one kind"
                )
    return owned


def _kind_text(is_owned: bool) -> str:
    return "an OwnedAny" if is_owned else "a value"


def _statuses(context: CallContext, ends: Sequence[End]) -> list[Value]:
    """Return the integers that variants returned, extended to one type; empty if any has none."""
    b = context.builder
    widths: list[int] = []
    for end in ends:
        kind = "nothing" if end.returned is None else str(end.returned.type)
        match = re.fullmatch(r"i(\d+)", kind)
        if match is None or int(match[1]) > _MOST_BITS:
            if context.status_wanted:
                raise BuildError(
                    f"{PROVIDER}: variant {end.variant.name!r} returns {kind}; expected an "
                    f"integer status, since CheckStatus is around all variants"
                )
            return []
        widths.append(int(match[1]))
    result = b.types.integer(max(widths))
    statuses: list[Value] = []
    for end, width in zip(ends, widths, strict=True):
        b.block, value = end.block, cast("Value", end.returned)
        if width < max(widths):
            value = (b.zext if width == 1 else b.sext)(value, result)
        statuses.append(value)
    return statuses
