"""Atomic accesses, for what several threads share."""

from __future__ import annotations

from typing import Final

from ffi_builder.ir.builder import Builder
from ffi_builder.ir.protocols import Type, Value

_ACQUIRE: Final = 4
_RELEASE: Final = 5
_ACQUIRE_RELEASE: Final = 6
"""``llvm``'s AtomicOrdering."""


def load_acquire(b: Builder, type_: Type, pointer: Value, *, size: int) -> Value:
    """Load what another thread may have stored with :func:`store_release`."""
    number = b.types.int_attribute
    attributes = {"alignment": number(64, size), "ordering": number(64, _ACQUIRE)}
    return b.value("llvm.load", (pointer,), type_, attributes)


def store_release(b: Builder, value: Value, pointer: Value, *, size: int) -> None:
    """Store what other threads load with :func:`load_acquire`."""
    number = b.types.int_attribute
    attributes = {"alignment": number(64, size), "ordering": number(64, _RELEASE)}
    b.op("llvm.store", (value, pointer), attributes=attributes)


def exchange_null(b: Builder, pointer: Value, value: Value) -> Value:
    """Replace NULL by a pointer; return what was there before."""
    number, ptr = b.types.int_attribute, b.types.ptr
    attributes = {
        "success_ordering": number(64, _ACQUIRE_RELEASE),
        "failure_ordering": number(64, _ACQUIRE),
    }
    both = b.types.struct((ptr, b.types.i1))
    pair = b.value("llvm.cmpxchg", (pointer, b.null(), value), both, attributes)
    return b.extract(pair, 0, ptr)
