"""Decodes and compares scalars on the fast path."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from functools import reduce
from typing import Any, Final

from ffi_builder import spec
from ffi_builder.abi import TypeIndex
from ffi_builder.builder.fast_path.context import FastPath
from ffi_builder.builder.fast_path.state import ScalarValues
from ffi_builder.ir import Block, Value
from ffi_builder.ir.builder import Builder
from ffi_builder.ir.checking import call_support
from ffi_builder.ir.protocols import Type
from ffi_builder.plan import Place
from ffi_builder.plan import steps as s
from ffi_builder.spec.numbers import FLOAT_DTYPES, INT_RANGES

_HALVES: Final = {"float16": 0x7C00, "bfloat16": 0x7F80}
"""The bits of infinity in each 16-bit float."""


def decode_scalar(fast: FastPath, step: s.DecodeScalar) -> None:
    """Decode an i64, or for float kinds a float of the dtype (an i16 for 16 bits)."""
    index, value = fast.type_and_payload(step.place.position)
    accepts = step.kind.accepts
    if step.kind.is_pointer:
        value = _decode_handle(fast, index, value, accepts[1:])
    elif step.kind.is_float:
        value = _decode_float(fast, index, value, accepts[1:], step.dtype or "float64")
    else:
        _require_index(fast, index, accepts)
    fast.state.records[step.place.position] = ScalarValues(value=value)


def decode_integer(fast: FastPath, place: Place, dtype: str) -> None:
    """Decode an int or bool that fits a dtype, as an i64."""
    index, value = fast.type_and_payload(place.position)
    if dtype == "uint64":
        value = _decode_uint64(fast, index, value)
    else:
        _require_index(fast, index, [TypeIndex.INT, TypeIndex.BOOL])
        require_fits(fast, value, dtype)
    fast.state.records[place.position] = ScalarValues(value=value)


def decode_pointer(fast: FastPath, place: Place) -> None:
    """Decode an opaque pointer, None (0), or an address: an int >= 0, or a BigInt that fits."""
    b = fast.b
    index, payload = fast.type_and_payload(place.position)
    merged = _unless_opaque(fast, index, payload)
    small, big = b.new_block(cold=True), b.new_block(cold=True)
    b.cond_br(accepted_index(fast, index, [TypeIndex.NONE, TypeIndex.INT]), small, big)
    b.block = small
    none = b.eq(index, b.i32(TypeIndex.NONE))
    value = b.select(none, b.i64(0), payload)
    b.cond_br(b.or_(b.sge(payload, b.i64(0)), none), merged, fast.slow, (value,))
    _decode_big(fast, index, payload, big, merged)
    fast.state.records[place.position] = ScalarValues(value=merged.arguments[0])


def _require_index(fast: FastPath, index: Value, accepts: Sequence[TypeIndex]) -> None:
    """Require that a type index is one of these. Only the first is compared in line."""
    usual, *others = accepts
    is_usual = fast.b.eq(index, fast.b.i32(usual))
    if others:
        fast.require_or(is_usual, lambda: accepted_index(fast, index, others))
    else:
        fast.require(is_usual)


def accepted_index(fast: FastPath, index: Value, accepts: Sequence[TypeIndex]) -> Value:
    """Return whether a type index is one of these; consecutive ones take one comparison."""
    b = fast.b
    low, high = min(accepts), max(accepts)
    if high - low + 1 == len(accepts) and low != high:
        return b.ult(b.sub(index, b.i32(low)) if low else index, b.i32(len(accepts)))
    return reduce(b.or_, [b.eq(index, b.i32(item)) for item in accepts])


def _decode_handle(
    fast: FastPath, index: Value, payload: Value, others: Sequence[TypeIndex]
) -> Value:
    """Decode an opaque pointer, or one of ``others``; None is 0."""
    b = fast.b
    merged = _unless_opaque(fast, index, payload)
    value = b.select(b.eq(index, b.i32(TypeIndex.NONE)), b.i64(0), payload)
    b.cond_br(accepted_index(fast, index, others), merged, fast.slow, (value,))
    b.block = merged
    return merged.arguments[0]


def _unless_opaque(fast: FastPath, index: Value, payload: Value) -> Any:
    """Start the rare block for all but opaque pointers; return the block where both paths join."""
    b = fast.b
    merged, rare = b.new_block(b.types.i64), b.new_block(cold=True)
    b.cond_br(b.eq(index, b.i32(TypeIndex.OPAQUE_PTR)), merged, rare, (payload,), likely=True)
    b.block = rare
    return merged


def _decode_uint64(fast: FastPath, index: Value, payload: Value) -> Value:
    """Decode a non-negative int, a bool, or a BigInt that fits."""
    b = fast.b
    small, big, merged = b.new_block(), b.new_block(cold=True), b.new_block(b.types.i64)
    plain = accepted_index(fast, index, [TypeIndex.INT, TypeIndex.BOOL])
    b.cond_br(plain, small, big, likely=True)
    b.block = small
    b.cond_br(b.sge(payload, b.i64(0)), merged, fast.slow, (payload,))
    _decode_big(fast, index, payload, big, merged)
    return merged.arguments[0]


def _decode_big(fast: FastPath, index: Value, payload: Value, big: Block, merged: Block) -> None:
    """Fill block ``big``: go on in ``merged`` with the value of a BigInt that fits uint64."""
    b, t = fast.b, fast.b.types
    b.block = big
    is_big = b.and_(b.eq(index, b.i32(TypeIndex.BIG_INT)), b.ne(payload, b.i64(0)))
    decode, done = b.new_block(cold=True), b.new_block(cold=True)
    b.cond_br(is_big, decode, fast.slow)
    b.block = decode
    word = b.alloca(t.i64)
    fits = call_support(b, "big_uint64", [b.to_pointer(payload), word])
    b.cond_br(fits, done, fast.slow)
    b.block = done
    b.br(merged, b.load(t.i64, word))
    b.block = merged


def _decode_float(
    fast: FastPath, index: Value, payload: Value, others: Sequence[TypeIndex], dtype: str
) -> Value:
    """Decode a float, or convert one of ``others`` to float64; then round it once to the dtype."""
    b, t = fast.b, fast.b.types
    usual = b.eq(index, b.i32(TypeIndex.FLOAT))

    def whole() -> Value:
        following = b.new_block(cold=True)
        b.cond_br(accepted_index(fast, index, others), following, fast.slow)
        b.block = following
        return b.cast("sitofp", payload, t.f64)

    real = fast.usually(usual, b.bitcast(payload, t.f64), whole)
    if dtype == "float64":
        return real
    if dtype == "float32":
        return b.cast("fptrunc", real, t.parse("f32"))
    return call_support(b, f"round_{dtype}", [real])


def require_fits(fast: FastPath, value: Value, dtype: str, *, not_negative: bool = False) -> None:
    """Require that an i64 fits an integer dtype; ``not_negative`` says that it is not negative."""
    if dtype == "int64":
        return
    b = fast.b
    low, high = INT_RANGES[dtype]
    if dtype == "uint64":
        fast.require(b.sge(value, b.i64(0)))
    elif low and not not_negative:
        narrow = b.trunc(value, b.types.scalar(dtype))
        fast.require(b.eq(b.sext(narrow, b.types.i64), value))
    else:
        fast.require(b.ule(value, b.i64(high)))


def same_symbol(fast: FastPath, symbol: spec.Var, value: Value, bound: Value) -> Value:
    """Return whether a value equals the symbol's. Floats compare by value; NaN equals NaN."""
    b = fast.b
    if symbol.dtype in _HALVES:
        return _same_half(fast, value, bound, _HALVES[symbol.dtype])
    if symbol.dtype in FLOAT_DTYPES:
        return b.same_float(value, bound)
    return b.eq(value, bound)


def _same_half(fast: FastPath, lhs: Value, rhs: Value, infinity: int) -> Value:
    """Compare bits: comparing halves as floats calls library functions on some targets."""
    b = fast.b
    types = b.types

    def magnitude(value: Value) -> Value:
        return b.and_(b.zext(value, types.i32), b.i32(0x7FFF))

    one, other = magnitude(lhs), magnitude(rhs)
    both_zero = b.eq(b.or_(one, other), b.i32(0))
    both_nan = b.and_(b.ugt(one, b.i32(infinity)), b.ugt(other, b.i32(infinity)))
    return b.or_(b.eq(lhs, rhs), b.or_(both_zero, both_nan))


def same_float(fast: FastPath, value: Value, expected: float) -> Value:
    """Return whether a float64 equals a constant. Bits are compared, except for NaN and zero."""
    b = fast.b
    if math.isnan(expected):
        return b.float_compare("uno", value, value)
    bits = b.bitcast(value, b.types.i64)
    if expected == 0.0:
        return b.eq(b.shl(bits, b.i64(1)), b.i64(0))
    return b.eq(bits, b.i64(struct.unpack("<q", struct.pack("<d", expected))[0]))


def narrowed(b: Builder, value: Value, result: Type) -> Value:
    """Truncate an i64 to another integer type."""
    return value if result == b.types.i64 else b.trunc(value, result)


def typed(fast: FastPath, symbol: spec.Var) -> Value:
    """Return a symbol in its own type: i32 for int32, ptr for handle, f16 for float16."""
    return as_dtype(fast.b, fast.symbol(symbol).value, symbol.dtype)


def as_dtype(b: Builder, value: Value, dtype: str) -> Value:
    """Return the value of a scalar in the type of its dtype."""
    result = b.types.scalar(dtype)
    if dtype == "handle":
        return b.to_pointer(value)
    if dtype in _HALVES:
        return b.bitcast(value, result)
    if dtype in ("float32", "float64"):
        return value
    return narrowed(b, value, result)
