"""Finds the add-on that reads calls in C, `entry`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ffi_builder import addons
from ffi_builder.records import dataclass


@dataclass(frozen=True)
class Reading:
    """Whether something is read in C: `reason` says why not, and is empty if it is."""

    name: str
    reason: str = ""


@dataclass(frozen=True)
class Extension:
    """The extension after it was set up."""

    module: Any
    make: Callable[[], Any]
    """Makes an empty entry."""


class Reader(Protocol):
    """Reads calls in C; it is registered as ``calls c``."""

    def extension(self, bases: tuple[type, ...], handle: type) -> Extension | Reading:
        """Return the extension, or why it is not used; `bases` are those of entries.

        Instances of `handle` have slots: `_address`, an int for those that are open, and `pointee`.
        """
        ...

    def use_frameworks(self, module: Any) -> None:
        """Set up the frameworks that have been imported since the last call."""
        ...

    def operators(self, bases: tuple[type, ...]) -> Callable[[], Any] | None:
        """Return a function that makes entries for operators of torch; None without torch."""
        ...

    def watcher(self) -> Callable[[], bool] | None:
        """Return what tells whether a mode or autocast of torch is on; None without torch."""
        ...

    def readings(self) -> list[Reading]:
        """Return what is read, and what is not, in order."""
        ...


def reader() -> Reader | None:
    """Return what reads calls in C; None if nothing is installed that does."""
    return addons.find("calls", "c")
