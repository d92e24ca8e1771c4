"""The base class of all steps of a plan."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar, TypeAlias

from typing_extensions import override

from ffi_builder.plan.messages import Words
from ffi_builder.plan.path import Place
from ffi_builder.records import dataclass

Texts: TypeAlias = Mapping[str, str]
"""Texts by name: for placeholders, or for the places where symbols are bound."""


@dataclass(frozen=True)
class Step:
    """A check, or the decoding of a value. ``place`` says which value it reads.

    A step that can fail has ``words``, the message of its error.
    """

    place: Place

    words: ClassVar[Words]

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


@dataclass(frozen=True)
class ExpectInt(Step):
    """A comparison with an int."""

    expected: int

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"expected": str(self.expected)}
