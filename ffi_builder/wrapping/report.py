"""What was compared of a kernel's types and what could not be, for ``repr`` and ``explain``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
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
        compared with prototype=, but not context (what the pointer points to)
    """

    types: str
    """What says the types, after "compared"."""
    passed: Sequence[Passed] = ()

    def __str__(self) -> str:
        why = dict[str, list[Passed]]()
        for each in self.passed:
            why.setdefault(each.unsure, []).append(each)
        why.pop("", None)
        unsure = "; ".join(f"{_names(passed)} ({reason})" for reason, passed in why.items())
        return f"compared {self.types}{unsure and f', but not {unsure}'}"

    @property
    def unsure(self) -> str:
        """The parameters that were not compared as a whole."""
        return _names(each for each in self.passed if each.unsure)

    def lines(self) -> Iterator[str]:
        """Yield what the arguments are compared with, then a line for each parameter."""
        yield f"The kernel's arguments are compared {self.types}."
        rows = [(f"{each.type_} {each.own}", each.entry, each.unsure) for each in self.passed]
        wide = max((len(type_) for type_, _, _ in rows), default=0)
        for type_, entry, unsure in rows:
            yield f"  {type_:{wide}}  gets {entry}{f'; not compared: {unsure}' if unsure else ''}"


def _names(passed: Iterable[Passed]) -> str:
    return ", ".join(each.own if each.own != "_" else each.entry for each in passed)


@dataclass(frozen=True)
class Report:
    """What was compared of each function of a module."""

    functions: Sequence[tuple[spec.Signature, Compared]]
    sanitize: bool | Sanitize

    def shown(self, functions: Iterable[str]) -> str:
        """Return the names of functions, and with what those that are alike were compared."""
        known = {signature.name: compared for signature, compared in self.functions}
        alike, shown = dict[str, list[str]](), list[str]()
        for name in functions:
            alike.setdefault(known[name].types if name in known else "", []).append(name)
        for types, names in alike.items():
            if types and len(names) == 1:
                shown.append(f"{names[0]}: {known[names[0]]}")
                continue
            unsure = {name: known[name].unsure for name in names if types}
            listed = (
                f"{each} (not {unsure[each]})" if unsure.get(each) else each for each in names
            )
            shown.append(", ".join(listed) + (types and f": compared {types}"))
        return "; ".join(shown)

    def explain(self) -> str:
        """Return the checks of a call, and what each parameter of a kernel gets."""
        texts, said = list[str](), set[str]()
        for signature, compared in self.functions:
            types = compared.types
            short = types.partition(",")[0] if types in said else types
            said.add(types)
            lines = replace(compared, types=short).lines()
            left = (
                f"Nothing destroys what {each.name} points to, as no destroy= says how."
                for each in signature.results
                if isinstance(each, spec.Var) and each.dtype == "handle" and not each.destroy
            )
            texts.append("\n".join([explain(signature, sanitize=self.sanitize), *lines, *left]))
        return "\n\n".join(texts)
