"""Adds to a module the helper functions that its wrappers call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ffi_builder.builder.helpers.define import base_name, shared_name
from ffi_builder.diagnosis.library import library
from ffi_builder.ir import Symbols, define_cached
from ffi_builder.kept import sources
from ffi_builder.protocol import SHARED

_RAISE: Final = "raise"
_ROOMS: Final = ("ir", "diagnosis", "builder/helpers")
"""The folders whose modules decide what is emitted; the diagnosis is known by its digest."""


def define_helpers(symbols: Symbols, wanted: Iterable[str]) -> None:
    """Add the diagnosis, and the helpers among the symbols ``wanted``."""
    _define_kept(symbols, frozenset({"diagnose"}))
    define_wanted(symbols, wanted)


def define_wanted(symbols: Symbols, wanted: Iterable[str]) -> None:
    """Add the helpers among the symbols ``wanted``."""
    names = {name for name in wanted if name.startswith(SHARED)}
    if shared_name(_RAISE) in names:
        names.remove(shared_name(_RAISE))
        _define_kept(symbols, frozenset({_RAISE}))
    if names:
        _define_kept(symbols, frozenset(map(base_name, names)))


def _define_kept(symbols: Symbols, bases: frozenset[str]) -> None:
    """Add helpers, which are emitted once for all processes of a user."""
    define_cached(symbols, bases, lambda target: _emit(target, bases), lambda: _made_of(bases))


def _made_of(bases: frozenset[str]) -> tuple[str, ...]:
    return (*sorted(bases), library().digest, *sources(*_ROOMS))


def _emit(symbols: Symbols, bases: frozenset[str]) -> None:
    # Five modules, which are not needed for what was kept.
    from ffi_builder.builder.helpers.emitted import emit

    emit(symbols, bases)
