"""What the ready-made providers pass, so that errors can name the one that fits a callee."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ffi_builder.providers.arguments import Argument
from ffi_builder.providers.context import CallContext
from ffi_builder.providers.items import Item


@dataclass(frozen=True)
class Fixed:
    """A provider that passes arguments of the same LLVM types whatever the parameters are."""

    provider: str
    types: tuple[str, ...]
    options: str = ""
    """What is added to its name: ``" with include_num_args=True"``."""
    plainly: str = ""
    """What is added if that provider was called with other options."""


@dataclass(frozen=True)
class PerItem:
    """A provider that passes each item as arguments of its own."""

    provider: str
    arguments_of: Callable[[CallContext, Item], list[Argument]]


FIXED: Final[list[Fixed]] = []
PER_ITEM: Final[list[PerItem]] = []


def register(*conventions: Fixed | PerItem) -> None:
    """Let errors name these providers; of several that fit, they name the first."""
    for convention in conventions:
        if isinstance(convention, Fixed):
            FIXED.append(convention)
        else:
            PER_ITEM.append(convention)
