"""``TVMFFIAny`` in memory, branches on the status of a call, and results of calls as values."""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from typing import Final

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.errors import BuildError
from ffi_builder.ir import CheckingBuilder, Value
from ffi_builder.ir.builder import Builder, call_extern
from ffi_builder.ir.types import LLVM_TYPES
from ffi_builder.plan.messages import TYPE_NAMES
from ffi_builder.spec.numbers import FLOAT_DTYPES, INT_RANGES
from ffi_builder.suggest import did_you_mean

DEC_REF: Final = "TVMFFIObjectDecRef"
INC_REF: Final = "TVMFFIObjectIncRef"
_BIG_INT: Final = "TVMFFIBigIntFromByteArray"


def any_head(b: Builder, index: TypeIndex, length: int = 0) -> Value:
    """Return the first word of a ``TVMFFIAny``: the type index, and a small string's length."""
    return b.i64(struct.unpack("<q", struct.pack("<ii", index, length))[0])


def store_any(b: Builder, head: Value, payload: Value, at: Value) -> None:
    """Write both words of a ``TVMFFIAny``."""
    b.store(head, at)
    b.store(payload, b.offset(at, abi.ANY_PAYLOAD))


def widened(b: Builder, value: Value, cast: str) -> Value:
    """Return a value as the payload of a ``TVMFFIAny``: 64 bits, or a pointer."""
    t, wide = b.types, b.types.f64 if cast == "fpext" else b.types.i64
    return value if value.type in (wide, t.ptr) else b.cast(cast, value, wide)


def store_as(b: Builder, index: TypeIndex, payload: Value, at: Value) -> None:
    """Write a ``TVMFFIAny`` of a type index and a payload."""
    store_any(b, any_head(b, index), payload, at)


def store_none(b: Builder, at: Value) -> None:
    """Write None as a ``TVMFFIAny``, all 16 bytes."""
    zero = b.i64(0)
    store_any(b, zero, zero, at)


def empty_any(b: Builder) -> Value:
    """Return stack space for the result of a function, a ``TVMFFIAny`` that is None."""
    space = b.alloca(b.types.i64, abi.ANY_SIZE // 8)
    store_none(b, space)
    return space


def byte_array(b: Builder, data: Value, length: Value) -> Value:
    """Return the address of a ``TVMFFIByteArray`` on the stack; ``length`` is an i64, in bytes."""
    space = b.alloca(b.types.i64, abi.BYTE_ARRAY_SIZE // 8)
    b.store(data, b.offset(space, abi.BYTE_ARRAY_DATA))
    b.store(length, b.offset(space, abi.BYTE_ARRAY_LENGTH))
    return space


def store_text(b: CheckingBuilder, data: Value, length: Value, at: Value, *, binary: bool) -> Value:
    """Write a new str or bytes with these bytes, a length of them; return the status."""
    make = f"TVMFFI{'Bytes' if binary else 'String'}FromByteArray"
    return call_extern(b, make, [byte_array(b, data, length), at], b.types.i32)


def store_unsigned(b: CheckingBuilder, value: Value, cell: Value) -> None:
    """Write an unsigned i64 as an Int, or as an owned BigInt from 2^63 on."""
    t = b.types
    store_as(b, TypeIndex.INT, value, cell)
    following, large = b.new_block(), b.new_block(cold=True)
    b.cond_br(b.sge(value, b.i64(0)), following, large, likely=True)
    b.block = large
    words = b.alloca(t.i64, 2)
    b.store(value, words)
    b.store(b.i64(0), b.offset(words, 8))
    array = byte_array(b, words, b.i64(16))
    return_failure(b, call_extern(b, _BIG_INT, [array, cell], t.i32))
    b.br(following)
    b.block = following


def release_any(b: Builder, cell: Value, index: Value | None = None) -> None:
    """Release the object in a ``TVMFFIAny``, if it holds one; its words are left unchanged.

    ``index`` is the type index, if the caller has loaded it.
    """
    t = b.types
    index = b.load(t.i32, cell) if index is None else index
    is_object = b.sge(index, b.i32(TypeIndex.OBJECT))
    with b.when(is_object, cold=True):
        release_object(b, cell)


def release_object(b: Builder, cell: Value) -> None:
    """Release the object in a TVMFFIAny, which must hold one."""
    call_extern(b, DEC_REF, [b.field(b.types.ptr, cell, abi.ANY_PAYLOAD)], b.types.i32)


def copy_any(b: Builder, cell: Value, at: Value) -> None:
    """Copy both words of a ``TVMFFIAny``, without adding a reference."""
    t = b.types
    store_any(b, b.load(t.i64, cell), b.field(t.i64, cell, abi.ANY_PAYLOAD), at)


def copy_of(b: Builder, cell: Value) -> Value:
    """Return a copy of a ``TVMFFIAny`` on the stack, which holds no reference."""
    space = b.alloca(b.types.i64, abi.ANY_SIZE // 8)
    copy_any(b, cell, space)
    return space


def store_object(b: Builder, value: Value, at: Value) -> None:
    """Write a ``TVMFFIObject*`` as a ``TVMFFIAny``, without adding a reference; NULL as None."""
    t = b.types
    store_none(b, at)
    with b.when(b.ne(value, b.null())):
        index = b.field(t.i32, value, abi.OBJECT_TYPE_INDEX)
        store_any(b, b.zext(index, t.i64), value, at)


def hold_any(b: Builder, cell: Value) -> None:
    """Add a reference to the object in a ``TVMFFIAny``, if it holds one."""
    t = b.types
    with b.when(b.sge(b.load(t.i32, cell), b.i32(TypeIndex.OBJECT))):
        call_extern(b, INC_REF, [b.field(t.ptr, cell, abi.ANY_PAYLOAD)], t.i32)


@contextmanager
def cleaning(b: CheckingBuilder, clean: Callable[[], object]) -> Generator[None]:
    """Make errors in the body run what ``clean`` emits before they return."""
    before = b.cleanup
    on_error(b, clean)
    yield
    b.cleanup = before


def on_error(b: CheckingBuilder, clean: Callable[[], object]) -> None:
    """Emit ``clean``, and what cleaned up before, for the errors of all that follows."""
    here = b.block
    b.block = status = b.new_block(b.types.i32, cold=True)
    clean()
    b.ret(status.arguments[0])
    b.block, b.cleanup = here, status


def return_failure(b: CheckingBuilder, status: Value) -> None:
    """Return from the function if a status is not 0: the callee has set the error."""
    with unless(b, b.eq(status, b.i32(0))):
        b.ret(status)


@contextmanager
def unless(b: Builder, condition: Value) -> Generator[None]:
    """Run the body in a cold block if the condition does not hold; go on, unless it ends."""
    following, failed = b.new_block(), b.new_block(cold=True)
    b.cond_br(condition, following, failed, likely=True)
    b.block = failed
    yield
    if not b.terminated(b.block):
        b.br(following)
    b.block = following


OBJECT: Final = "object"
"""A result that is any object, or NULL for None. The caller of the function owns it."""
ANY: Final = "any"
"""A result that is the address of a ``TVMFFIAny``, owned by the caller of the function."""
KINDS: Final = (*LLVM_TYPES, OBJECT, ANY)
"""Kinds of results that are converted."""


def check_result(who: str, result: str | None) -> None:
    """Check the name of a kind of result; None stands for a dropped result.

    Raises:
        BuildError: there is no such kind.
    """
    if result is not None and result not in KINDS:
        meant = did_you_mean(result, KINDS) if isinstance(result, str) else ""  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BuildError(
            f"{who}: result: expected None or one of {', '.join(KINDS)} but got {result!r}{meant}"
        )


def take(b: CheckingBuilder, result: str | None, of: str, any_: Value) -> Value | None:
    """Convert the result of a function to a kind that :data:`KINDS` lists."""
    if result is None:
        release_any(b, any_)
        return None
    if result == ANY:
        return any_
    if result == OBJECT:
        return _take_object(b, of, any_)
    return take_scalar(b, result, of, any_)


def _take_object(b: CheckingBuilder, of: str, any_: Value) -> Value:
    t = b.types
    index = b.load(t.i32, any_)
    is_null = b.eq(index, b.i32(TypeIndex.NONE))
    is_object = b.sge(index, b.i32(TypeIndex.OBJECT))
    check_kind(b, OBJECT, of, b.or_(is_null, is_object), index)
    # The payload of None is 0, and so NULL.
    return b.field(t.ptr, any_, abi.ANY_PAYLOAD)


def take_scalar(b: CheckingBuilder, dtype: str, of: str, any_: Value) -> Value:
    """Convert a number, bool or pointer to a dtype's own type, and check its kind and range.

    An object is never of the right kind; it is released.

    Args:
        b: emits the conversion; its cursor moves on.
        dtype: the dtype of a scalar, such as ``int8``.
        of: ends the words of errors: ``for y``, ``by f``.
        any_: the address of the ``TVMFFIAny`` to convert.
    """
    index = b.load(b.types.i32, any_)
    release_any(b, any_, index)
    return scalar_of(b, dtype, of, any_, index)


def scalar_of(
    b: CheckingBuilder, dtype: str, of: str, any_: Value, index: Value | None = None
) -> Value:
    """Convert as :func:`take_scalar` does, without releasing an object."""
    t = b.types
    index = b.load(t.i32, any_) if index is None else index
    bits = b.field(t.i64, any_, abi.ANY_PAYLOAD)
    is_int = b.eq(index, b.i32(TypeIndex.INT))
    if dtype == "handle":
        is_null = b.eq(index, b.i32(TypeIndex.NONE))
        is_pointer = b.eq(index, b.i32(TypeIndex.OPAQUE_PTR))
        check_kind(b, dtype, of, b.or_(is_null, is_pointer), index)
        return b.to_pointer(b.select(is_null, b.i64(0), bits))
    if dtype == "bool":
        check_kind(b, dtype, of, b.eq(index, b.i32(TypeIndex.BOOL)), index)
        return b.ne(bits, b.i64(0))
    if dtype in FLOAT_DTYPES:
        is_float = b.eq(index, b.i32(TypeIndex.FLOAT))
        check_kind(b, dtype, of, b.or_(is_float, is_int), index)
        wide = b.select(is_float, b.bitcast(bits, t.f64), b.cast("sitofp", bits, t.f64))
        own = t.scalar(dtype)
        return wide if own == t.f64 else b.cast("fptrunc", wide, own)
    is_bool = b.eq(index, b.i32(TypeIndex.BOOL))
    check_kind(b, dtype, of, b.or_(is_int, is_bool), index)
    low, high = INT_RANGES[dtype]
    high = min(high, (1 << 63) - 1)
    fits = b.and_(b.sge(bits, b.i64(low)), b.sle(bits, b.i64(high)))
    words = f"The value that was returned {of} does not fit {dtype}: {{}}"
    b.check(fits, "ValueError", words, bits)
    own = t.scalar(dtype)
    return bits if own == t.i64 else b.trunc(bits, own)


def check_kind(b: CheckingBuilder, kind: str, of: str, fits: Value, index: Value) -> None:
    """Raise a TypeError unless ``fits``, an i1, says that the result may have the kind."""
    with unless(b, fits), b.out_of_line():
        words = f"A value of another kind than {kind} was returned {of}: {{}}"
        b.fail("TypeError", words, kind_name(b, index))


def kind_name(b: CheckingBuilder, index: Value) -> Value:
    """Return the name of a type index in messages, as a C string."""
    t = b.types
    name = b.alloca(t.ptr)
    b.store(b.text_constant(b"a value of an unknown type\0"), name)
    known, places = _known_names()
    for first, last, place in places:
        with b.when(b.ule(b.sub(index, b.i32(first)), b.i32(last - first))):
            wide = b.zext(b.sub(index, b.i32(first)), t.i64)
            at = b.add(b.mul(wide, b.i64(_WIDTH)), b.i64(place))
            b.store(b.element(b.text_constant(known), at), name)
    with b.when(b.sge(index, b.i32(abi.FIRST_DYNAMIC))):
        info = call_extern(b, "TVMFFIGetTypeInfo", [index], t.ptr)
        # Type keys are strings of tvm-ffi, which end in NUL.
        key = abi.TYPE_INFO_KEY + abi.BYTE_ARRAY_DATA
        b.store(b.load(t.ptr, b.offset(info, key)), name)
    return b.load(t.ptr, name)


_WIDTH: Final = 32
"""Bytes of each name in the constant, with at least one NUL."""


@cache
def _known_names() -> tuple[bytes, list[tuple[int, int, int]]]:
    """Return the names of static types, and the runs of indices with their offsets in the names."""
    runs: list[tuple[int, int, int]] = []
    data = b""
    for index, name in sorted(TYPE_NAMES.items()):
        if runs and runs[-1][1] == index - 1:
            runs[-1] = (runs[-1][0], index, runs[-1][2])
        else:
            runs.append((index, index, len(data)))
        data += name.encode().ljust(_WIDTH, b"\0")
    return data, runs
