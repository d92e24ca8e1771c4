"""One kernel out of several, and the condition for calling it."""

from __future__ import annotations

from functools import cached_property
from typing import Final

from ffi_builder.errors import SpecError
from ffi_builder.providers.provider import CallProvider, Members, check_provider
from ffi_builder.records import dataclass
from ffi_builder.spec.expr import Condition, checked_condition

PROVIDER: Final = "VariantsCallProvider"


@dataclass(frozen=True)
class Variant:
    """A kernel, and the condition for calling it.

    Args:
        provider: emits the call.
        when: the condition, made by :mod:`ffi_builder.providers.when`; None: always.
        name: the name in errors; left out, the name of the provider's callee or kernel.

    Raises:
        BuildError: if ``provider`` is not a call provider.
        SpecError: if ``when`` is not a condition, or the name is not a printable str.

    Examples:
        >>> from ffi_builder import providers, spec
        >>> large = providers.when.value(spec.Var("n", "int64")) >= 4096
        >>> variant = providers.Variant(providers.DirectCallProvider("scan_blocks"), when=large)
        >>> print(variant.when)
        n >= 4096
    """

    provider: CallProvider
    when: Condition | None = None
    name: str = ""

    def __post_init__(self) -> None:
        check_provider("Variant", self.provider)
        name: object = self.name
        if type(name) is not str or not (name or "-").isprintable():
            raise SpecError(f"Variant: name: expected a printable str but got {name!r}")
        if not self.name:
            object.__setattr__(self, "name", _name_of(self.members))
        if self.when is not None:
            try:
                checked_condition(self.when)
            except SpecError as error:
                raise SpecError(f"Variant {self.name!r}: when: {error}") from None

    @cached_property
    def members(self) -> Members:
        """The optional members of the provider."""
        return Members(self.provider)


def _name_of(members: Members) -> str:
    """Return the name of the callee, the CUDA kernel or the global function, or of the class."""
    names = [members.callee]
    names += [getattr(members.provider, field_, None) for field_ in ("kernel", "global_function")]
    return next((n for n in names if isinstance(n, str) and n), members.name)
