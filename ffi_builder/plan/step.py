"""What all steps of a plan have in common."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from ffi_builder.plan.messages import Words
from ffi_builder.plan.path import Place

Texts: TypeAlias = Mapping[str, str]
"""Text by name: of placeholders, or where symbols are bound."""


@dataclass(frozen=True)
class Step:
    """One check, or the decoding of one value, of the place that it looks at.

    A step that can fail has ``words``, which say with which error.
    """

    place: Place

    words: ClassVar[Words]

    def placeholders(self, origins: Texts) -> Texts:
        """What the placeholders of ``words.expected`` stand for.

        ``origins`` says where symbols are bound, by name. Values that are known only in a call
        stand in braces: ``{k}``.
        """
        return {}

    @property
    def subject(self) -> str:
        """The place as :func:`~ffi_builder.plan.explain` shows it."""
        return str(self.place)

    def row(self, origins: Texts) -> tuple[str, str, str]:
        """Where the step looks, what it expects there, and the class of its error, if any."""
        words, known = self.words, self.placeholders(origins)
        expected = re.sub(r"\{(\w+)\}", lambda found: known[found[1]], words.expected)
        return f"{words.prefix}{self.subject}", expected, words.kind

    def __str__(self) -> str:
        """One line: ``B.shape[0]: expected {k} (k), otherwise ValueError``."""
        at, expected, otherwise = self.row({})
        if not otherwise:
            return f"{at}: {expected}"
        return f"{at}: expected {expected}, otherwise {otherwise}"
