"""Writes values that are returned as ``TVMFFIAny``s: numbers, strs, bytes, objects and shapes.

The code for a ``String``, whose value is a pointer and a length::

    llvm.store %pointer, %array : !llvm.ptr                 // a TVMFFIByteArray
    llvm.store %length, %array_length : i64
    %status = llvm.call @TVMFFIStringFromByteArray(%array, %cell)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ffi_builder import abi, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.builder.fast_path.objects import typed_object
from ffi_builder.ir import CheckingBuilder, Value
from ffi_builder.packed.anys import (
    any_head,
    byte_array,
    return_failure,
    store_any,
    store_none,
    store_unsigned,
    unless,
)
from ffi_builder.packed.callees import GlobalFunction, call
from ffi_builder.packed.results import another_kind, kind_name

_MAKE_STRING: Final = "TVMFFIStringFromByteArray"
_MAKE_BYTES: Final = "TVMFFIBytesFromByteArray"
_MAKE_SHAPE: Final = GlobalFunction("ffi.Shape", keep=False)
_OBJECTS: Final = (spec.Object, spec.Function, spec.Array, spec.Map)


def may_be_object(result: spec.Result) -> bool:
    """Return whether the ``TVMFFIAny`` of a result may own an object."""
    return not isinstance(result, spec.Var) or result.dtype == "uint64"


def store_object(b: CheckingBuilder, value: Value, cell: Value) -> None:
    """Write an object that the provider owned; NULL is None. This cannot fail."""
    t = b.types
    store_none(b, cell)
    with b.when(b.ne(value, b.null())):
        index = b.field(t.i32, value, abi.OBJECT_TYPE_INDEX)
        b.store(b.zext(index, t.i64), cell)
        b.store(value, b.offset(cell, abi.ANY_PAYLOAD))


def store_owned(b: CheckingBuilder, came: Value, cell: Value) -> None:
    """Move a ``TVMFFIAny`` that the provider owned. This cannot fail."""
    t = b.types
    b.store(b.load(t.i64, came), cell)
    b.store(b.field(t.i64, came, abi.ANY_PAYLOAD), b.offset(cell, abi.ANY_PAYLOAD))


_KINDS: Final[dict[type, tuple[TypeIndex, ...]]] = {
    spec.String: (TypeIndex.STR, TypeIndex.SMALL_STR),
    spec.Bytes: (TypeIndex.BYTES, TypeIndex.SMALL_BYTES),
    spec.Function: (TypeIndex.FUNCTION, TypeIndex.NONE),
    spec.Array: (TypeIndex.ARRAY, TypeIndex.NONE),
    spec.Map: (TypeIndex.MAP, TypeIndex.NONE),
}
"""Type indices of what may be returned for a result. For an Object it is None, or an object."""


def check_owned(b: CheckingBuilder, result: spec.HandedOver, came: Value) -> None:
    """Raise a TypeError for a ``TVMFFIAny`` of another kind than a result's."""
    index = b.load(b.types.i32, came)
    right = _is_object(b, result, index, came) if isinstance(result, spec.Object) else None
    for kind in _KINDS.get(type(result), (TypeIndex.NONE,)):
        fits = b.eq(index, b.i32(kind))
        right = fits if right is None else b.or_(right, fits)
    assert right is not None
    with unless(b, right), b.out_of_line():
        words = another_kind(spec.outline(result), f"for {result.name}")
        b.fail("TypeError", words, kind_name(b, index))


def _is_object(b: CheckingBuilder, result: spec.Object, index: Value, came: Value) -> Value:
    """Return whether it is an object of the result's type, or of one that derives from that."""
    key = result.type_key
    if key is None or key == abi.TYPE_KEYS[TypeIndex.OBJECT]:
        return b.sge(index, b.i32(abi.FIRST_OBJECT))
    return b.ne(typed_object(b, came, key), b.null())


def is_object(result: spec.Result) -> bool:
    """Return whether the value of a result is an object, which the provider hands over."""
    return isinstance(result, _OBJECTS)


def store_value(b: CheckingBuilder, result: spec.Result, value: Value, cell: Value) -> None:
    """Write a number, str or bytes. Making an object of it may fail."""
    if isinstance(result, spec.Var):
        _store_scalar(b, result, value, cell)
    else:
        make = _MAKE_STRING if isinstance(result, spec.String) else _MAKE_BYTES
        _store_text(b, result.name, make, value, cell)


def store_shape(b: CheckingBuilder, sizes: Sequence[Value], cell: Value) -> None:
    """Make an ``ffi.Shape`` of these entries."""
    t = b.types
    array = b.alloca(t.i64, max(len(sizes), 1) * abi.ANY_SIZE // 8)
    for index, size in enumerate(sizes):
        store_any(b, any_head(b, TypeIndex.INT), size, b.offset(array, index * abi.ANY_SIZE))
    store_none(b, cell)
    return_failure(b, call(b, _MAKE_SHAPE, array, b.i32(len(sizes)), cell))


def _store_text(b: CheckingBuilder, name: str, make: str, value: Value, cell: Value) -> None:
    t = b.types
    pointer, length = b.extract(value, 0, t.ptr), b.extract(value, 1, t.i64)
    words = f"The length of the result {name} would be {{}}"
    b.check(b.sge(length, b.i64(0)), "RuntimeError", words, length)
    there = b.or_(b.ne(pointer, b.null()), b.eq(length, b.i64(0)))
    words = f"The result {name} of {{}} bytes is at NULL"
    b.check(there, "RuntimeError", words, length)
    array = byte_array(b, pointer, length)
    b.symbols.declare(make, t.i32, [t.ptr, t.ptr])
    return_failure(b, b.call_value(make, [array, cell], t.i32))


def _store_scalar(b: CheckingBuilder, result: spec.Var, value: Value, cell: Value) -> None:
    t = b.types
    if result.dtype == "bool":
        index, type_, extend = TypeIndex.BOOL, t.i64, "zext"
    elif result.dtype in spec.FLOAT_DTYPES:
        index, type_, extend = TypeIndex.FLOAT, t.f64, "fpext"
    elif result.dtype == "handle":
        index, type_, extend = TypeIndex.OPAQUE_PTR, t.ptr, ""
    else:
        sign = "zext" if result.dtype.startswith("u") else "sext"
        index, type_, extend = TypeIndex.INT, t.i64, sign
    if result.dtype == "uint64":
        store_unsigned(b, value, cell)
        return
    wide = value if value.type == type_ else b.cast(extend, value, type_)
    store_any(b, any_head(b, index), wide, cell)
