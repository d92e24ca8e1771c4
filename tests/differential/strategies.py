"""Signatures with calls: about two in five calls right, the others wrong in one thing or in more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hypothesis import HealthCheck
from hypothesis import strategies as st

from ffi_builder.spec import Signature
from tests.differential.arguments import right_arguments
from tests.differential.description import Arguments
from tests.differential.mutations import any_arguments, changed_arguments
from tests.differential.signatures import signatures

LARGE: Final = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)
"""Health checks that many calls at a time do not pass."""


@dataclass(frozen=True)
class Case:
    """A signature, and calls of it."""

    signature: Signature
    calls: tuple[Arguments, ...]

    def _repr_pretty_(self, printer: object, cycle: bool) -> None:
        """Keep Hypothesis from printing every field; what fails prints itself."""


@st.composite
def calls_of(draw: st.DrawFn, signature: Signature) -> Arguments:
    """One call of a signature."""
    kind = draw(st.integers(0, 19))
    if kind == 19:
        return draw(any_arguments(len(signature.arguments)))
    arguments = draw(right_arguments(signature))
    for _ in range((kind >= 6) + (kind >= 15)):
        arguments = draw(changed_arguments(signature, arguments))
    return arguments


@st.composite
def cases(draw: st.DrawFn, calls: int = 10) -> Case:
    """A signature with that many calls."""
    signature = draw(signatures())
    given = st.lists(calls_of(signature), min_size=calls, max_size=calls)
    return Case(signature, tuple(draw(given)))
