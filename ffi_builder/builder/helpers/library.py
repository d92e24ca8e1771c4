"""Adds to a module the helper functions that its wrappers call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ffi_builder.builder.helpers.copies import COPIES
from ffi_builder.builder.helpers.define import shared_name
from ffi_builder.builder.helpers.elements import ELEMENTS
from ffi_builder.builder.helpers.machine import define_machine, define_raise
from ffi_builder.builder.helpers.numbers import NUMBERS
from ffi_builder.builder.helpers.objects import OBJECTS
from ffi_builder.builder.helpers.overlap import OVERLAP
from ffi_builder.builder.helpers.tensors import TENSORS
from ffi_builder.ir import Symbols, define_cached
from ffi_builder.protocol import SHARED

_HELPERS: Final = {**TENSORS, **OVERLAP, **NUMBERS, **OBJECTS, **COPIES, **ELEMENTS}
_RAISE: Final = "raise"


def define_helpers(symbols: Symbols, wanted: Iterable[str]) -> None:
    """Add the diagnosis, and the helpers among the symbols ``wanted``."""
    define_cached(symbols, "diagnose", define_machine)
    define_wanted(symbols, wanted)


def define_wanted(symbols: Symbols, wanted: Iterable[str]) -> None:
    """Add the helpers among the symbols ``wanted``."""
    names = {name for name in wanted if name.startswith(SHARED)}
    if shared_name(_RAISE) in names:
        names.remove(shared_name(_RAISE))
        define_cached(symbols, _RAISE, define_raise)
    if names:
        define_cached(symbols, frozenset(names), lambda target: _define(target, names))


def _define(symbols: Symbols, wanted: set[str]) -> None:
    """Add helpers, and the helpers that they call."""
    missing = sorted(wanted)
    while missing:
        for name in missing:
            base = name.removeprefix(SHARED).rpartition("_")[0]
            _HELPERS[base].define(symbols, base)
        missing = sorted(name for name in symbols.wanted if name not in symbols)
