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

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import field

from ffi_builder.ir import Block, CheckingBuilder, Value
from ffi_builder.providers.context import CallContext
from ffi_builder.providers.variants.choice import Outcome, tests_of
from ffi_builder.providers.variants.conditions import Atom, Compare, Condition, Multiple
from ffi_builder.providers.variants.subject import Name, Subject
from ffi_builder.records import dataclass

_WIDE = 64


@dataclass
class Chooser:
    """Emits the tests of a graph, and each variant once."""

    context: CallContext
    emit_variant: Callable[[int], None]
    """Emits a variant from the cursor on, and notes where it ends."""
    emit_failure: Callable[[], None]
    """Emits the error if no variant fits."""
    values: dict[Subject, Value] = field(default_factory=dict[Subject, Value])
    """Subjects that are evaluated before the first test."""
    blocks: dict[Outcome, Block] = field(default_factory=dict[Outcome, Block])
    """The first blocks of tests and variants that several tests lead to."""

    def emit(self, outcome: Outcome) -> None:
        """Emit everything from the cursor on."""
        subjects = [test.atom.subject for test in tests_of(outcome)]
        for subject, number in Counter(subjects).items():
            # A subject that may fail is evaluated first only if the first test needs it.
            if number > 1 and (subject == subjects[0] or not subject.may_fail):
                self.values[subject] = subject.emit(self.context)
        self._emit(outcome)

    def _emit(self, outcome: Outcome) -> None:
        """Emit an outcome from the cursor on, with what follows it, each once."""
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
        subject = atom.subject
        b = self.context.builder
        value = self.values.get(subject)
        value = subject.emit(self.context) if value is None else value
        if isinstance(atom, Multiple):
            return _is_multiple(b, subject, value, atom.divisor)
        return _compares(b, subject, value, atom)


def _compares(b: CheckingBuilder, subject: Subject, value: Value, atom: Compare) -> Value:
    if subject.is_flag:
        return value if atom.number else b.xor(value, b.i1(True))
    number = b.constant(subject.bits, atom.number)
    if atom.op == "==":
        return b.eq(value, number)
    return b.sge(value, number) if subject.signed else b.uge(value, number)


def _is_multiple(b: CheckingBuilder, subject: Subject, value: Value, divisor: int) -> Value:
    bits = subject.bits
    if divisor.bit_length() >= bits < _WIDE:
        value = (b.sext if subject.signed else b.zext)(value, b.types.i64)
        bits = _WIDE
    if divisor & (divisor - 1) == 0:  # of a negative number too, in two's complement
        rest = b.and_(value, b.constant(bits, divisor - 1))
    else:
        rest = (b.srem if subject.signed else b.urem)(value, b.constant(bits, divisor))
    return b.eq(rest, b.constant(bits, 0))


def fail(
    context: CallContext,
    variants: Sequence[tuple[str, Condition]],
    subjects: Sequence[Subject],
    name: Name,
) -> None:
    """Raise the error if no variant fits: what came, and the variants with their conditions."""
    shown: dict[str, list[Value]] = {}
    for subject in subjects:
        divisors = [
            atom.divisor
            for _, condition in variants
            for atom in condition.atoms()
            if isinstance(atom, Multiple) and atom.subject == subject
        ]
        for words, values in subject.describe(context, name, divisors):
            shown.setdefault(words, values)
    expected = ", ".join(f"{title} ({condition.text(name)})" for title, condition in variants)
    # "{}" stands for a value, but may be part of a name or a choice.
    words = f"No variant fits: expected {expected.replace('{}', '{ }')} but got {', '.join(shown)}"
    context.builder.fail("ValueError", words, *(v for values in shown.values() for v in values))
