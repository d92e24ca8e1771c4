"""``errno`` of C: cleared before a call, and an OSError behind one that has failed."""

from __future__ import annotations

from typing import Final

from ffi_builder.ir import CheckingBuilder, Value
from ffi_builder.ir.checking import OS_ERROR

_LOCATION: Final = "__errno_location"
_WORDS: Final = "[Errno {}] {}"
"""The text of an OSError with a number; the runtime reads the number and its words from it."""


def _address(b: CheckingBuilder) -> Value:
    """Return the address of this thread's ``errno``."""
    b.symbols.declare(_LOCATION, b.types.ptr, [])
    return b.call_value(_LOCATION, [], b.types.ptr)


def clear_errno(b: CheckingBuilder) -> None:
    """Set ``errno`` to 0, as a function that succeeds leaves it as it is."""
    b.store(b.i32(0), _address(b))


def read_errno(b: CheckingBuilder) -> Value:
    """Return ``errno``, an i32. Other calls change it, so this comes right behind the call."""
    return b.load(b.types.i32, _address(b))


def raise_errno(b: CheckingBuilder, number: Value) -> None:
    """Raise an OSError if a number is not 0."""
    t = b.types
    with b.when(b.ne(number, b.i32(0)), cold=True):
        b.symbols.declare("strerror", t.ptr, [t.i32])
        b.fail(OS_ERROR, _WORDS, number, b.call_value("strerror", [number], t.ptr))
