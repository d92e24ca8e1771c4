"""Registry of what the ready-made providers pass, so that errors can name the one that fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from ffi_builder.providers.arguments import Convert
from ffi_builder.records import dataclass


@dataclass(frozen=True)
class Fixed:
    """A provider that passes arguments of the same LLVM types whatever the parameters are."""

    provider: str
    types: tuple[str, ...]
    options: str = ""
    """Text after its name: ``" with include_num_args=True"``."""
    plainly: str = ""
    """Text after its name if the same provider was used with other options."""


@dataclass(frozen=True)
class PerItem:
    """A provider that passes each item as arguments of its own."""

    provider: str
    arguments_of: Convert


Convention: TypeAlias = "Fixed | PerItem"

_FIND: Final[list[Callable[[], Sequence[Convention]]]] = []


def register(find: Callable[[], Sequence[Convention]]) -> None:
    """Let errors name providers. If several fit, they name the first.

    ``find`` is called when an error is made, since the modules of providers that a wrapper does not
    use need not be loaded for it.
    """
    _FIND.append(find)


def conventions() -> list[Convention]:
    """Return what all registered providers pass."""
    return [convention for find in _FIND for convention in find()]
