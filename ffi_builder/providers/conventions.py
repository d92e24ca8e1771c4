"""Registry of what the ready-made providers pass, so that errors can name the one that fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ffi_builder.providers.arguments import Convert


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


FIXED: Final[list[Fixed]] = []
PER_ITEM: Final[list[PerItem]] = []


def register(*conventions: Fixed | PerItem) -> None:
    """Let errors name these providers; if several fit, they name the first."""
    for convention in conventions:
        if isinstance(convention, Fixed):
            FIXED.append(convention)
        else:
            PER_ITEM.append(convention)
