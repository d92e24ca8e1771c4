"""``errno`` of C: cleared before a call, and an OSError behind one that has failed."""

from __future__ import annotations

from typing import Final

from ffi_builder.ir import CheckingBuilder, Value
from ffi_builder.ir.builder import call_extern
from ffi_builder.ir.checking import OS_ERROR

_WORDS: Final = "[Errno {}] {}"
"""The text of an OSError with a number; the runtime reads the number and its words from it."""


def _address(b: CheckingBuilder) -> Value:
    """Return the address of this thread's ``errno``."""
    return call_extern(b, "__errno_location", [], b.types.ptr)


def clear_errno(b: CheckingBuilder) -> None:
    """Set ``errno`` to 0, as a function that succeeds leaves it as it is."""
    b.store(b.i32(0), _address(b))


def read_errno(b: CheckingBuilder) -> Value:
    """Return ``errno``, an i32. Other calls change it, so this comes right behind the call."""
    return b.load(b.types.i32, _address(b))


def raise_errno(b: CheckingBuilder, number: Value) -> None:
    """Raise an OSError if a number is not 0."""
    with b.when(b.ne(number, b.i32(0)), cold=True):
        b.fail(OS_ERROR, _WORDS, number, call_extern(b, "strerror", [number], b.types.ptr))
