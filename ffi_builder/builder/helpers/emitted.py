"""Emits helpers, with those that they call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from ffi_builder.builder.helpers.copies import COPIES
from ffi_builder.builder.helpers.define import Helper, base_name
from ffi_builder.builder.helpers.elements import ELEMENTS
from ffi_builder.builder.helpers.machine import define_machine, define_raise
from ffi_builder.builder.helpers.numbers import NUMBERS
from ffi_builder.builder.helpers.objects import OBJECTS
from ffi_builder.builder.helpers.overlap import OVERLAP
from ffi_builder.builder.helpers.tensors import TENSORS
from ffi_builder.ir import Symbols

_HELPERS: Final[dict[str, Helper]] = {
    **TENSORS,
    **OVERLAP,
    **NUMBERS,
    **OBJECTS,
    **COPIES,
    **ELEMENTS,
}
_ALONE: Final[dict[str, Callable[[Symbols], None]]] = {
    "diagnose": define_machine,
    "raise": define_raise,
}


def emit(symbols: Symbols, bases: Iterable[str]) -> None:
    """Add the helpers of these names, without prefix and digest, and those that they call."""
    missing = sorted(bases)
    while missing:
        for base in missing:
            if base in _ALONE:
                _ALONE[base](symbols)
            else:
                _HELPERS[base].define(symbols, base)
        wanted = sorted(name for name in symbols.wanted if name not in symbols)
        missing = [base_name(name) for name in wanted]
