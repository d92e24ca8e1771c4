"""The base class of all steps of a plan."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias, Union

from typing_extensions import override

from ffi_builder import spec
from ffi_builder.plan.messages import Words
from ffi_builder.plan.path import Place
from ffi_builder.records import dataclass

if TYPE_CHECKING:
    from ffi_builder.plan.steps import AnyCheck, AnyStep

Texts: TypeAlias = Mapping[str, str]
"""Texts by name: for placeholders, or for the places where symbols are bound."""


class Byte(int):
    """An operand of 8 bits."""


class Short(int):
    """An operand of 16 bits."""


Operand: TypeAlias = Union[Byte, Short, int, float, str, Words, spec.Var]
"""What an instruction of the diagnosis holds. An int has 64 bits, and a symbol is its number."""


@dataclass(frozen=True)
class Step:
    """A check, or the decoding of a value. ``place`` says which value it reads.

    A class declares all that the parts of this package have to know of a check, once:

    - ``words``, the message of its error, unless it cannot fail;
    - ``op`` and ``operands``, the instruction by which the diagnosis does it, if that is one;
    - ``placeholders`` and ``subject``, its line in ``explain``;
    - ``checks``, which a back end does together with it.
    """

    place: Place

    words: ClassVar[Words]
    op: ClassVar[str]
    """The instruction: ``AT_LEAST``. The C has a case for it, ``OP_AT_LEAST``."""

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The operands of the instruction."""
        return ()

    @property
    def checks(self) -> tuple[AnyCheck, ...]:
        """This step and those that it stands for, in the order of their errors."""
        return (self,)  # pyright: ignore[reportReturnType] # a step that is none has others

    def placeholders(self, origins: Texts) -> Texts:
        """Text for the placeholders of ``words.expected``.

        ``origins`` says where each symbol is bound, by name. Values that are known only during a
        call stand in braces: ``{k}``.
        """
        return {}

    @property
    def subject(self) -> str:
        """The place, as :func:`~ffi_builder.plan.explain` shows it."""
        return str(self.place)

    def row(self, origins: Texts) -> tuple[str, str, str]:
        """The place, the expected value, and the class of the error (empty if there is none)."""
        words, known = self.words, self.placeholders(origins)
        expected = re.sub(r"\{(\w+)\}", lambda found: known[found[1]], words.expected)
        return f"{words.prefix}{self.subject}", expected, words.kind

    def __str__(self) -> str:
        """One line: ``B.shape[0]: expected {k} (k), otherwise ValueError``."""
        at, expected, otherwise = self.row({})
        if not otherwise:
            return f"{at}: {expected}"
        return f"{at}: expected {expected}, otherwise {otherwise}"


def all_checks(steps: Iterable[AnyStep]) -> Iterator[AnyCheck]:
    """Yield the checks of steps, in their order."""
    for step in steps:
        yield from step.checks


def equal(expected: int, words: Words) -> tuple[str, tuple[Operand, ...]]:
    """Return the instruction that compares the value with an int."""
    small = 0 <= expected <= 0xFF
    return ("EQ8", (Byte(expected), words)) if small else ("EQ", (int(expected), words))


@dataclass(frozen=True)
class ExpectInt(Step):
    """A comparison with an int."""

    expected: int

    @property
    def op(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride] # by its size
        """The instruction."""
        return equal(self.expected, self.words)[0]

    @property
    @override
    def operands(self) -> tuple[Operand, ...]:
        return equal(self.expected, self.words)[1]

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"expected": str(self.expected)}


STRIDE_GOT: Final = "{got} (shape={shape}, strides={strides})"
"""What errors of strides show: the layout of the tensor."""
