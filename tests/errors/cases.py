"""One call, or a few, for every row of words: cases.txt has signatures, and below each its calls.

A call is Python, with ``f`` the compiled function, behind the name of the words of its error. What
only memory can hold, and Python does not make, is laid out as :mod:`tests.differential.description`
says, with ``f`` taking descriptions. Tensors which do not say their device are on the CPU.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ffi_builder.plan import Words
from ffi_builder.plan.steps import named_words

_WORDS: Final = named_words()
_RAW: Final = re.compile(r"\b(Arguments|Object|Pointer|Moved|Plain)\(")


@dataclass(frozen=True)
class Case:
    """A call that fails."""

    name: str
    signature: str
    call: str

    @property
    def raw(self) -> bool:
        """Whether it is one that Python does not make."""
        return _RAW.search(self.call) is not None

    @property
    def words(self) -> Words:
        """The words of the error."""
        return _WORDS[self.name]


@dataclass
class Group:
    """A section of the page."""

    title: str
    text: str = ""
    cases: list[Case] = field(default_factory=list[Case])


def _read(lines: list[str]) -> Iterator[Group]:
    signature, group = "", Group("")
    for line in lines:
        if line.startswith("## "):
            group = Group(line.removeprefix("## "))
            yield group
        elif line.startswith("  "):
            name, _, call = line.strip().partition(" ")
            group.cases.append(Case(name, signature, call))
        elif re.match(r"\w+\(", line):
            signature = line
        else:
            group.text += line


GROUPS: Final = tuple(_read(Path(__file__).with_suffix(".txt").read_text().splitlines()))
"""The sections of the page, in order."""
