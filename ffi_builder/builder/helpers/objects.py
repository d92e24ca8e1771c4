"""Helpers for objects, strs and bytes.

In C::

    void* moved_object(uint64_t kinds, const TVMFFIAny* any);
    TVMFFIAny* integers(int64_t size, const TVMFFIAny* any);
    void* typed_object(const TVMFFIAny* any, const char* key, int64_t length, int32_t type_index);
    bool has_key(const void* object, int32_t type_index, const char* key, int64_t length);
    bool text(const TVMFFIAny* any, int32_t binary, TVMFFIByteArray* out);
    bool choose(const TVMFFIByteArray* text, const char* choices, int64_t* out);
    bool same_bytes(const char* one, const char* other, int64_t size);

``moved_object`` returns the object that an rvalue reference holds if bit (type index - 64) of
``kinds`` is set, else NULL. ``integers`` returns the elements of an Array or List, moved or not, if
they are ``size`` ints and bools, else NULL; of an empty one, the object. ``typed_object`` returns
the object, moved or not, if its type is the one registered as ``key`` or derives from it, else
NULL; ``type_index`` is the type's own if that is static, else 0. ``text`` reads a str or, if
``binary``, bytes. ``choose`` looks a text up in ``choices``, an i64 count and for each choice an
i64 value, an i64 length and the bytes.
"""

from __future__ import annotations

from typing import Final

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.builder.helpers.define import Helper, call_shared
from ffi_builder.builder.helpers.machine import GET_TYPE_INFO
from ffi_builder.ir import Builder, Value

_KINDS = 64
"""Number of static types that a mask of kinds covers; dynamic type indices begin above it."""


def _same_bytes(b: Builder, one: Value, other: Value, size: Value) -> None:
    t = b.types
    with b.loop(size) as index:
        byte, wanted = (b.load(t.i8, b.element(text, index)) for text in (one, other))
        with b.when(b.ne(byte, wanted)):
            b.ret(b.i1(False))
    b.ret(b.i1(True))


def _inside(b: Builder, any_: Value) -> Value:
    """Load the object that an rvalue reference holds; the helper returns NULL if there is none."""
    t = b.types
    with b.when(b.ne(b.load(t.i32, any_), b.i32(TypeIndex.OBJECT_RVALUE_REF))):
        b.ret(b.null())
    reference = b.field(t.ptr, any_, abi.ANY_PAYLOAD)
    with b.when(b.is_null(reference)):
        b.ret(reference)
    moved = b.load(t.ptr, reference)
    with b.when(b.is_null(moved)):
        b.ret(moved)
    return moved


def _moved_object(b: Builder, kinds: Value, any_: Value) -> None:
    t = b.types
    moved = _inside(b, any_)
    index = b.field(t.i32, moved, abi.OBJECT_TYPE_INDEX)
    kind = b.sub(index, b.i32(abi.FIRST_OBJECT))
    # A mask of all bits stands for the dynamic types too.
    every = b.and_(b.eq(kinds, b.i64(-1)), b.sge(kind, b.i32(0)))
    with b.when(every):
        b.ret(moved)
    with b.when(b.uge(kind, b.i32(_KINDS))):
        b.ret(b.null())
    bit = b.trunc(b.lshr(kinds, b.zext(kind, t.i64)), t.i1)
    b.ret(b.select(bit, moved, b.null()))


def _integers(b: Builder, size: Value, any_: Value) -> None:
    t = b.types
    index, found = b.load(t.i32, any_), b.alloca(t.ptr)
    b.store(b.field(t.ptr, any_, abi.ANY_PAYLOAD), found)
    neither = b.and_(b.ne(index, b.i32(TypeIndex.ARRAY)), b.ne(index, b.i32(TypeIndex.LIST)))
    with b.when(neither):
        kinds = sum(1 << kind - abi.FIRST_OBJECT for kind in (TypeIndex.ARRAY, TypeIndex.LIST))
        b.store(call_shared(b, "moved_object", [b.i64(kinds), any_], t.ptr), found)
    object_ = b.load(t.ptr, found)
    with b.when(b.is_null(object_)):
        b.ret(b.null())
    with b.when(b.ne(b.field(t.i64, object_, abi.CELL_SIZE), size)):
        b.ret(b.null())
    with b.when(b.eq(size, b.i64(0))):
        b.ret(object_)
    cells = b.field(t.ptr, object_, abi.CELL_DATA)
    with b.when(b.is_null(cells)):
        b.ret(cells)
    with b.loop(size) as at:
        kind = b.load(t.i32, b.element(cells, b.mul(at, b.i64(abi.ANY_SIZE))))
        with b.when(b.uge(b.sub(kind, b.i32(TypeIndex.INT)), b.i32(2))):
            b.ret(b.null())
    b.ret(cells)


def _typed_object(b: Builder, any_: Value, key: Value, length: Value, static: Value) -> None:
    t = b.types
    index = b.load(t.i32, any_)
    found, moved = b.alloca(t.ptr), b.alloca(t.i32)
    b.store(b.field(t.ptr, any_, abi.ANY_PAYLOAD), found)
    b.store(index, moved)
    with b.when(b.slt(index, b.i32(abi.FIRST_OBJECT))):
        inner = _inside(b, any_)
        b.store(inner, found)
        b.store(b.field(t.i32, inner, abi.OBJECT_TYPE_INDEX), moved)
    object_, index = b.load(t.ptr, found), b.load(t.i32, moved)
    same = b.and_(b.eq(index, static), b.sge(index, b.i32(abi.FIRST_OBJECT)))
    with b.when(same):
        b.ret(object_)
    right = call_shared(b, "has_key", [object_, index, key, length], t.i1)
    b.ret(b.select(right, object_, b.null()))


def _has_key(b: Builder, object_: Value, index: Value, key: Value, length: Value) -> None:
    """Compare the key of the type and of its ancestors.

    tvm-ffi ends the process when it is asked about an index that is not registered. So the object
    itself must have the index that the argument names.
    """
    t = b.types
    with b.when(b.or_(b.slt(index, b.i32(abi.FIRST_DYNAMIC)), b.is_null(object_))):
        b.ret(b.i1(False))
    with b.when(b.ne(b.field(t.i32, object_, abi.OBJECT_TYPE_INDEX), index)):
        b.ret(b.i1(False))
    b.symbols.declare(GET_TYPE_INFO, t.ptr, [t.i32])
    info = b.call_value(GET_TYPE_INFO, [index], t.ptr)
    depth = b.sext(b.field(t.i32, info, abi.TYPE_INFO_DEPTH), t.i64)
    ancestors = b.field(t.ptr, info, abi.TYPE_INFO_ANCESTORS)
    one = b.alloca(t.ptr)
    b.store(info, one)
    with b.loop(b.add(depth, b.i64(1))) as at:
        own = b.offset(b.load(t.ptr, one), abi.TYPE_INFO_KEY)
        size = b.field(t.i64, own, abi.BYTE_ARRAY_LENGTH)
        with b.when(b.eq(size, length)):
            text = b.load(t.ptr, own)
            with b.when(call_shared(b, "same_bytes", [text, key, length], t.i1)):
                b.ret(b.i1(True))
        with b.when(b.slt(at, depth)):
            b.store(b.load(t.ptr, b.element(ancestors, b.mul(at, b.i64(8)))), one)
    b.ret(b.i1(False))


def _text(b: Builder, any_: Value, binary: Value, out: Value) -> None:
    """Read a str or bytes; the type indices of bytes are one above those of strs."""
    t = b.types
    kind = b.sub(b.load(t.i32, any_), binary)
    payload = b.field(t.ptr, any_, abi.ANY_PAYLOAD)
    with b.when(b.eq(kind, b.i32(TypeIndex.SMALL_STR))):
        length = b.zext(b.field(t.i32, any_, abi.ANY_SMALL_LENGTH), t.i64)
        b.store(b.offset(any_, abi.ANY_PAYLOAD), out)
        b.store(length, b.offset(out, abi.BYTE_ARRAY_LENGTH))
        b.ret(b.ule(length, b.i64(abi.SMALL_CAPACITY)))
    with b.when(b.ne(kind, b.i32(TypeIndex.STR))):
        with b.when(b.eq(kind, b.i32(TypeIndex.RAW_STR))):
            with b.when(b.is_null(payload)):
                b.ret(b.i1(False))
            with b.when(b.ne(binary, b.i32(0))):
                _read_array(b, payload, out)
            _measure(b, payload, out)
        mask = b.select(b.eq(binary, b.i32(0)), *(b.i64(2 << number) for number in (0, 1)))
        moved = call_shared(b, "moved_object", [mask, any_], t.ptr)
        with b.when(b.is_null(moved)):
            b.ret(b.i1(False))
        _read_array(b, b.offset(moved, abi.CELL_DATA), out)
    with b.when(b.is_null(payload)):
        b.ret(b.i1(False))
    _read_array(b, b.offset(payload, abi.CELL_DATA), out)


def _read_array(b: Builder, array: Value, out: Value) -> None:
    """Copy a byte array out, and return from the helper."""
    t = b.types
    data, length = b.load(t.ptr, array), b.field(t.i64, array, abi.BYTE_ARRAY_LENGTH)
    b.store(data, out)
    b.store(length, b.offset(out, abi.BYTE_ARRAY_LENGTH))
    b.ret(b.or_(b.ne(data, b.null()), b.eq(length, b.i64(0))))


def _measure(b: Builder, text: Value, out: Value) -> None:
    """Measure a NUL-terminated text, and return from the helper."""
    t = b.types
    b.store(text, out)
    with (
        b.loop(b.i64(2**63 - 1)) as index,
        b.when(b.eq(b.load(t.i8, b.element(text, index)), b.i8(0))),
    ):
        b.store(index, b.offset(out, abi.BYTE_ARRAY_LENGTH))
        b.ret(b.i1(True))
    b.ret(b.i1(False))


def _choose(b: Builder, text: Value, choices: Value, out: Value) -> None:
    t = b.types
    data, size = b.load(t.ptr, text), b.field(t.i64, text, abi.BYTE_ARRAY_LENGTH)
    entry = b.alloca(t.ptr)
    b.store(b.offset(choices, 8), entry)
    with b.loop(b.load(t.i64, choices, align=1)):
        at = b.load(t.ptr, entry)
        length = b.load(t.i64, b.offset(at, 8), align=1)
        own = b.offset(at, 16)
        with b.when(b.eq(length, size)):
            same = call_shared(b, "same_bytes", [data, own, size], t.i1)
            with b.when(same):
                b.store(b.load(t.i64, at, align=1), out)
                b.ret(b.i1(True))
        b.store(b.element(own, length), entry)
    b.ret(b.i1(False))


OBJECTS: Final = {
    "same_bytes": Helper("i1", "ptr ptr i64", _same_bytes),
    "moved_object": Helper("ptr", "i64 ptr", _moved_object),
    "integers": Helper("ptr", "i64 ptr", _integers),
    "has_key": Helper("i1", "ptr i32 ptr i64", _has_key),
    "typed_object": Helper("ptr", "ptr ptr i64 i32", _typed_object),
    "text": Helper("i1", "ptr i32 ptr", _text),
    "choose": Helper("i1", "ptr ptr ptr", _choose),
}
