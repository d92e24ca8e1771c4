"""What was compared of a kernel's types and what could not be, for ``repr`` and ``explain``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ffi_builder import explain, spec
from ffi_builder.extending import dataclass
from ffi_builder.wrapping.comparison import Passed

if TYPE_CHECKING:
    from ffi_builder import Sanitize


@dataclass(frozen=True)
class Compared:
    """What the arguments of a kernel were compared with, and what each parameter gets.

    Examples:
        >>> from ffi_builder.wrapping.c_types import CType
        >>> from ffi_builder.wrapping.report import Compared, Passed
        >>> pointer = CType(None, is_pointer=True)
        >>> unsure = Passed("context", pointer, "c", "what the pointer points to")
        >>> print(Compared("with prototype=", (unsure,)))
        compared with prototype=, but not context
    """

    types: str
    """What says the types, after "compared"."""
    passed: Sequence[Passed] = ()

    def __str__(self) -> str:
        unsure = [
            each.own if each.own != "_" else each.entry for each in self.passed if each.unsure
        ]
        return f"compared {self.types}{', but not ' if unsure else ''}{', '.join(unsure)}"

    def lines(self) -> Iterator[str]:
        """Yield what the arguments are compared with, then a line for each parameter."""
        yield f"The kernel's arguments are compared {self.types}."
        rows = [(f"{each.type_} {each.own}", each.entry, each.unsure) for each in self.passed]
        wide = max((len(type_) for type_, _, _ in rows), default=0)
        for type_, entry, unsure in rows:
            yield f"  {type_:{wide}}  gets {entry}{f'; not compared: {unsure}' if unsure else ''}"


@dataclass(frozen=True)
class Report:
    """What was compared of each function of a module."""

    functions: Sequence[tuple[spec.Signature, Compared]]
    sanitize: bool | Sanitize

    @property
    def notes(self) -> dict[str, str]:
        """A line for each function, by its name."""
        return {signature.name: f"{compared}" for signature, compared in self.functions}

    def explain(self) -> str:
        """Return the checks of a call, and what each parameter of a kernel gets."""
        return "\n\n".join(
            "\n".join([explain(signature, sanitize=self.sanitize), *compared.lines()])
            for signature, compared in self.functions
        )
