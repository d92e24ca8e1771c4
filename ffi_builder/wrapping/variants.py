"""Compares the kernels of a ``VariantsCallProvider`` with their prototypes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from ffi_builder import BuildError, spec
from ffi_builder.extending import signatures_of
from ffi_builder.providers import (
    CallProvider,
    CheckStatus,
    DirectCallProvider,
    VariantsCallProvider,
)
from ffi_builder.wrapping.comparison import Passed

Called: TypeAlias = "tuple[spec.Signature, CallProvider, Sequence[Passed]]"
"""The signature, with what the prototype adds; the provider of the kernel; what it passes."""


def callees(provider: VariantsCallProvider) -> list[str]:
    """Return the functions in C that variants call; none if other providers are among them."""
    inner = [_without_status(each.provider) for each in provider.variants]
    direct = [each.callee for each in inner if isinstance(each, DirectCallProvider)]
    return direct if len(direct) == len(inner) else []


def compared(
    provider: VariantsCallProvider,
    signature: spec.Signature,
    compare: Callable[[DirectCallProvider, spec.Signature], Called],
) -> tuple[VariantsCallProvider, list[Passed]]:
    """Return the provider with what the prototypes say, and what each parameter gets.

    ``compare`` returns what :func:`~ffi_builder.wrapping.calls.called` does of one kernel.

    Raises:
        BuildError: a variant is no function in C; a prototype differs from what is passed, or needs
            more than the signature says.
    """
    variants, seen = [*provider.variants], list[Passed]()
    for at, own in enumerate(signatures_of(provider, signature)):
        outer = variants[at].provider
        inner = _without_status(outer)
        if not isinstance(inner, DirectCallProvider):
            raise BuildError(
                f"wrap: prototype= is compared with variants of DirectCallProvider, but "
                f"{variants[at].name!r} is a {type(inner).__name__}"
            )
        checked, made, passed = compare(inner, own)
        if _relied_on(checked) != _relied_on(own):
            raise BuildError(
                f"{inner.callee}: its prototype relies on what the signature, which is that of all "
                f"variants, does not say: `where {checked.constraints}`"
            )
        if isinstance(outer, CheckStatus):
            made = replace(outer, provider=_without_status(made))
        variants[at] = replace(variants[at], provider=made)
        seen += [each._replace(own=f"{each.own} of {inner.callee}") for each in passed]
    return VariantsCallProvider(variants), seen


def _without_status(provider: CallProvider) -> CallProvider:
    """Return the provider inside of a CheckStatus, or another one itself."""
    return provider.provider if isinstance(provider, CheckStatus) else provider


def _relied_on(signature: spec.Signature) -> str:
    """Return what a kernel relies on: all but that it writes to some tensors."""
    return re.sub(r", intent=in\b", "", signature.canonical())
