"""The base classes of all steps of a plan."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, TypeAlias, Union

from typing_extensions import override

from ffi_builder import spec
from ffi_builder.plan.messages import Words
from ffi_builder.plan.path import Place
from ffi_builder.records import dataclass

Texts: TypeAlias = Mapping[str, str]
"""Texts by name: for placeholders, or for the places where symbols are bound."""


class Byte(int):
    """An operand of 8 bits."""


class Short(int):
    """An operand of 16 bits."""


Operand: TypeAlias = Union[Byte, Short, int, float, str, Words, spec.Var]
"""An operand of an instruction. An int takes 64 bits; words and symbols are written as numbers."""


@dataclass(frozen=True)
class Step:
    """One or more checks that a back end does at once, on the value at ``place``."""

    place: Place

    @property
    def checks(self) -> tuple[Check, ...]:
        """The checks of this step, in the order of their errors."""
        raise NotImplementedError  # abc.ABC would make `match` slower

    def __str__(self) -> str:
        """One line for each check: ``B.shape[0]: expected {k} (k), otherwise ValueError``."""
        return "\n".join(_line(*check.row({})) for check in self.checks)


@dataclass(frozen=True)
class Check(Step):
    """A check, or the decoding of a value, with one line in ``explain``.

    A subclass declares everything that other modules need: ``words``, the message of its error;
    ``placeholders`` and ``subject``, for its line; and ``checks``, if it includes other checks.
    """

    words: ClassVar[Words]

    @property
    def error(self) -> Words:
        """The message of the error; a class with several messages chooses by its fields."""
        return self.words

    @property
    @override
    def checks(self) -> tuple[Check, ...]:
        return (self,)

    def placeholders(self, origins: Texts) -> Texts:
        """Text for the placeholders of ``error.expected`` that are no attributes of the check.

        ``origins`` says where each symbol is bound, by name. Values that are known only during a
        call stand in braces: ``{k}``.
        """
        return {"path": self.place.path}

    @property
    def subject(self) -> str:
        """The text that :func:`~ffi_builder.plan.explain` shows for the place."""
        return str(self.place)

    def row(self, origins: Texts) -> tuple[str, str, str]:
        """The place, the expected value, and the class of the error (empty if there is none)."""
        words, known = self.error, self.placeholders(origins)

        def text(match: re.Match[str]) -> str:
            return known.get(match[1]) or str(getattr(self, match[1]))

        expected = re.sub(r"\{(\w+)\}", text, words.expected)
        return f"{words.prefix}{self.subject}", expected, words.kind

    def __str__(self) -> str:
        """One line: ``B.shape[0]: expected {k} (k), otherwise ValueError``."""
        return _line(*self.row({}))


def _line(at: str, expected: str, otherwise: str) -> str:
    return f"{at}: expected {expected}, otherwise {otherwise}" if otherwise else f"{at}: {expected}"


@dataclass(frozen=True)
class Instruction(Check):
    """A check that the diagnosis does by one instruction, on the last value that it read."""

    op: ClassVar[str]
    """The name, such as ``MIN``. The C code has a case for it, ``OP_MIN``."""

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The operands of the instruction."""
        return ()


def all_checks(steps: Iterable[Step]) -> Iterator[Any]:
    """Yield the checks of steps, in their order; each is an ``AnyCheck`` of :mod:`.steps`."""
    for step in steps:
        yield from step.checks


@dataclass(frozen=True)
class ExpectInt(Instruction):
    """A comparison with an int. The instruction has a short form for small ints (``EQ8``)."""

    expected: int
    op = "EQ"


STRIDE_GOT = "{got} (shape={shape}, strides={strides})"
"""The text after ``but got`` for strides: it shows the layout of the tensor, too."""
