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
    """Load what another thread may have stored with :func:`store_release`.

    Args:
        b: appends the load.
        type_: the type of the result.
        pointer: the address, aligned to ``size``.
        size: the size of the value in bytes, a power of two.

    Example: see :func:`store_release`.
    """
    number = b.types.int_attribute
    attributes = {"alignment": number(64, size), "ordering": number(64, _ACQUIRE)}
    return b.value("llvm.load", (pointer,), type_, attributes)


def store_release(b: Builder, value: Value, pointer: Value, *, size: int) -> None:
    """Store what other threads load with :func:`load_acquire`.

    Args:
        b: appends the store.
        value: what is stored.
        pointer: the address, aligned to ``size``.
        size: the size of the value in bytes, a power of two.

    Examples:
        A counter of calls, which other threads may read at any time:

        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder import attach, ir, runtime, spec
        >>> def provider(current_block, context):
        ...     b = context.builder
        ...     count = b.address_of(context.symbols.variable("count", bytes(8), align=8))
        ...     more = b.add(ir.load_acquire(b, b.types.i64, count, size=8), b.i64(1))
        ...     ir.store_release(b, more, count, size=8)
        ...     context.results = [more]
        ...     return b.block
        >>> module = mlir.Module.parse("", mlir.Context())
        >>> attach(module, spec.Signature("count", [], spec.Var("calls", "int64")), provider)
        >>> count = runtime.compile(module)["count"]
        >>> count(), count()
        (1, 2)
    """
    number = b.types.int_attribute
    attributes = {"alignment": number(64, size), "ordering": number(64, _RELEASE)}
    b.op("llvm.store", (value, pointer), attributes=attributes)


def exchange_null(b: Builder, pointer: Value, value: Value) -> Value:
    """Replace NULL by a pointer; return what was there before.

    Args:
        b: appends the operations.
        pointer: the address of the pointer, aligned to 8 bytes.
        value: the new pointer, which is stored only if NULL is there.

    Examples:
        A buffer that is allocated once: whichever thread comes second frees its own again:

        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder import attach, ir, spec
        >>> def provider(current_block, context):
        ...     b, symbols = context.builder, context.symbols
        ...     symbols.declare("malloc", b.types.ptr, [b.types.i64])
        ...     symbols.declare("free", b.types.void, [b.types.ptr])
        ...     slot = b.address_of(symbols.variable("buffer", bytes(8), align=8))
        ...     mine = b.call_value("malloc", [b.i64(4096)], b.types.ptr)
        ...     before = ir.exchange_null(b, slot, mine)
        ...     with b.when(b.ne(b.to_int(before), b.i64(0))):
        ...         b.call("free", [mine], b.types.void)
        ...     return b.block
        >>> module = mlir.Module.parse("", mlir.Context())
        >>> attach(module, spec.Signature("reserve", []), provider)
    """
    number, ptr = b.types.int_attribute, b.types.ptr
    attributes = {
        "success_ordering": number(64, _ACQUIRE_RELEASE),
        "failure_ordering": number(64, _ACQUIRE),
    }
    both = b.types.struct((ptr, b.types.i1))
    pair = b.value("llvm.cmpxchg", (pointer, b.null(), value), both, attributes)
    return b.extract(pair, 0, ptr)
