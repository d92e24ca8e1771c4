"""Helpers that find NaN and poison in copies of tensors, and show elements of them in errors.

In C, with the ``Copy`` of :mod:`.copies`::

    int64_t nan_element(const Copy* copy);
    int64_t poisonous_element(const Copy* copy);
    void element_index(const Copy* copy, int64_t number, char text[96]);
    void element_value(const Copy* copy, int64_t number, int64_t region, char text[96]);

``nan_element`` returns the number of the first element that is NaN after the call, or -1;
``poisonous_element`` that of the first one that is a signalling NaN of any tensor's pattern, or
what arithmetic makes of it: the same NaN, but quiet, and perhaps with another sign.
``element_index`` writes ``[1, 2]`` for an element, and ``, byte 3`` where elements are narrower
than a byte. ``element_value`` writes a number, or the bytes of what C has no format for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ffi_builder import abi
from ffi_builder.builder.helpers.copies import (
    COUNT,
    DTYPE,
    LANES,
    OWN_OBJECT,
    POISON,
    SALTS,
    WIDTH,
    bits_of,
    element_at,
    ndim_of,
    size_and_stride,
)
from ffi_builder.builder.helpers.define import Helper
from ffi_builder.ir import Builder, Value

TEXT_SIZE: Final = 96
"""Bytes of the text of an index or value."""
_FULL: Final = 64
"""The size at which nothing more is appended to a text; messages show no more of it."""
_HALF_SCALE: Final = (1023 + 1023 - 15) << 52
"""The bits of the double 2^1008, by which the fields of a float16 are scaled in a double."""

_NAN: Final = {
    ("float", 16): (2, 0, 0x7FFF, 0x7C00),
    ("bfloat", 16): (2, 0, 0x7FFF, 0x7F80),
    ("float", 32): (4, 0, 0x7FFF_FFFF, 0x7F80_0000),
    ("float", 64): (8, 0, 0x7FFF_FFFF_FFFF_FFFF, 0x7FF0_0000_0000_0000),
    ("complex", 32): (2, 0, 0x7FFF, 0x7C00),
    ("complex", 64): (4, 0, 0x7FFF_FFFF, 0x7F80_0000),
    ("complex", 128): (8, 0, 0x7FFF_FFFF_FFFF_FFFF, 0x7FF0_0000_0000_0000),
    ("float8_e3m4", 8): (1, 0, 0x7F, 0x70),
    ("float8_e4m3", 8): (1, 0, 0x7F, 0x78),
    ("float8_e5m2", 8): (1, 0, 0x7F, 0x7C),
    ("float8_e4m3fn", 8): (1, 0, 0x7F, 0x7E),
    ("float8_e4m3b11fnuz", 8): (1, 0x7F, 0xFF, 0xFE),
    ("float8_e4m3fnuz", 8): (1, 0x7F, 0xFF, 0xFE),
    ("float8_e5m2fnuz", 8): (1, 0x7F, 0xFF, 0xFE),
    ("float8_e8m0fnu", 8): (1, 0, 0xFF, 0xFE),
}
"""Dtypes by code and bits: the bytes of a number, and ``flip``, ``mask`` and ``greatest``.

A number is NaN where ``(number ^ flip) & mask > greatest``.
"""


_QUIET: Final = {
    kind: 1 << (bits - 1)
    for kind, bits in {
        ("float", 16): 10,
        ("bfloat", 16): 7,
        ("float", 32): 23,
        ("float", 64): 52,
        ("complex", 32): 10,
        ("complex", 64): 23,
        ("complex", 128): 52,
    }.items()
}
"""Dtypes by code and bits: the first bit of the fraction, which is set in quiet NaNs."""


def _rule(b: Builder, copy: Value, table: Mapping[tuple[str, int], Sequence[int]]) -> list[Value]:
    """Look up the numbers for the dtype; if the table has none, the function returns -1.

    The first number is the bytes of a number.
    """
    t = b.types
    slots = [b.alloca(t.i64) for _ in next(iter(table.values()))]
    b.store(b.i64(0), slots[0])
    kind = b.and_(b.field(t.i32, b.offset(copy, OWN_OBJECT), DTYPE), b.i32(0xFFFF))
    for (name, bits), numbers in table.items():
        with b.when(b.eq(kind, b.i32(abi.DTYPE_CODES[name] | bits << 8))):
            for slot, number in zip(slots, numbers, strict=True):
                b.store(b.i64(number), slot)
    found = [b.load(t.i64, slot) for slot in slots]
    with b.when(b.eq(found[0], b.i64(0))):
        b.ret(b.i64(-1))
    return found


def _first(b: Builder, copy: Value, size: Value, is_wanted: Callable[[Value], Value]) -> None:
    """Return the index of the first element that has a wanted number, or -1."""
    t = b.types
    parts = b.udiv(b.field(t.i64, copy, WIDTH), size)
    with b.loop(b.field(t.i64, copy, COUNT)) as number:
        start = element_at(b, copy, number, 0)
        with b.loop(parts) as part:
            found = is_wanted(_number(b, b.element(start, b.mul(part, size)), size))
            with b.when(found):
                b.ret(number)
    b.ret(b.i64(-1))


def _nan_element(b: Builder, copy: Value) -> None:
    size, flip, mask, greatest = _rule(b, copy, _NAN)
    _first(b, copy, size, lambda bits: b.ugt(b.and_(b.xor(bits, flip), mask), greatest))


def _poisonous_element(b: Builder, copy: Value) -> None:
    table = {
        kind: (size, _NAN[kind][2] & -SALTS, _QUIET[kind], number & -SALTS | _QUIET[kind])
        for kind, (size, number) in POISON.items()
    }
    size, mask, quiet, wanted = _rule(b, copy, table)
    _first(b, copy, size, lambda bits: b.eq(b.or_(b.and_(bits, mask), quiet), wanted))


def _number(b: Builder, address: Value, size: Value) -> Value:
    """Load a little-endian number of up to 8 bytes."""
    t = b.types
    found = b.alloca(t.i64)
    b.store(b.i64(0), found)
    with b.loop(size) as index:
        byte = b.zext(b.load(t.i8, b.element(address, index)), t.i64)
        placed = b.shl(byte, b.shl(index, b.i64(3)))
        b.store(b.or_(b.load(t.i64, found), placed), found)
    return b.load(t.i64, found)


# ---- texts


class _Text:
    """A text that is appended to with snprintf."""

    def __init__(self, b: Builder, text: Value) -> None:
        self.b, self.text = b, text
        self._length = b.alloca(b.types.i64)
        b.store(b.i64(0), self._length)
        b.store(b.i8(0), text)

    def append(self, format_: str, *value: Value) -> None:
        """Append a value; the format has at most 7 characters."""
        b, t = self.b, self.b.types
        # The format is on the stack, as helpers refer to no constants of other modules.
        form = b.alloca(t.i64)
        b.store(b.i64(int.from_bytes(format_.encode(), "little")), form)
        length = b.load(t.i64, self._length)
        with b.when(b.ult(length, b.i64(_FULL))):
            room = b.sub(b.i64(TEXT_SIZE), length)
            fixed = [b.element(self.text, length), room, form]
            written = b.call_variadic("snprintf", fixed, value, t.i32)
            b.store(b.add(length, b.sext(written, t.i64)), self._length)


def _element_index(b: Builder, copy: Value, number: Value, text: Value) -> None:
    t = b.types
    tensor, out = b.offset(copy, OWN_OBJECT), _Text(b, text)
    with b.when(b.ne(b.and_(bits_of(b, tensor), b.i64(7)), b.i64(0))):
        out.append(", byte ")
        out.append("%lld", number)
        b.ret()
    ndim = ndim_of(b, tensor)
    with b.loop(ndim) as axis:
        with b.when(b.eq(axis, b.i64(0))):
            out.append("[")
        with b.when(b.ne(axis, b.i64(0))):
            out.append(", ")
        rest, behind = b.alloca(t.i64), b.add(axis, b.i64(1))
        b.store(number, rest)
        with b.loop(b.sub(ndim, behind)) as index:
            dim, _ = size_and_stride(b, tensor, b.add(behind, index))
            b.store(b.udiv(b.load(t.i64, rest), dim), rest)
        own, _ = size_and_stride(b, tensor, axis)
        out.append("%lld", b.urem(b.load(t.i64, rest), own))
    with b.when(b.ne(ndim, b.i64(0))):
        out.append("]")
    b.ret()


def _element_value(b: Builder, copy: Value, number: Value, region: Value, text: Value) -> None:
    t = b.types
    tensor, out = b.offset(copy, OWN_OBJECT), _Text(b, text)
    width = b.field(t.i64, copy, WIDTH)
    is_long = b.ugt(width, b.i64(8))
    bits = _number(b, element_at(b, copy, number, region), b.select(is_long, b.i64(8), width))
    word = b.field(t.i32, tensor, DTYPE)
    single = b.eq(b.field(t.i16, tensor, LANES), b.constant(16, 1))
    for name in ("int", "uint", "bool"):
        unused = b.sub(b.i64(64), b.shl(width, b.i64(3)))
        shown = b.ashr(b.shl(bits, unused), unused) if name == "int" else bits
        is_whole = b.eq(bits_of(b, tensor), b.shl(width, b.i64(3)))
        code = b.eq(b.and_(word, b.i32(0xFF)), b.i32(abi.DTYPE_CODES[name]))
        fits = b.and_(b.eq(is_long, b.i1(False)), b.and_(single, is_whole))
        with b.when(b.and_(fits, code)):
            out.append("%lld" if name == "int" else "%llu", shown)
            b.ret()
    for (name, size), convert in _DOUBLES.items():
        kind = b.i32(abi.DTYPE_CODES[name] | size << 8 | 1 << 16)
        with b.when(b.eq(word, kind)):
            out.append("%.15g" if size == 64 else "%.7g", convert(b, bits))
            b.ret()
    out.append("0x%llx", bits)
    b.ret()


def _from_float32(b: Builder, bits: Value) -> Value:
    single = b.bitcast(b.trunc(bits, b.types.i32), b.types.parse("f32"))
    return b.cast("fpext", single, b.types.f64)


def _from_float16(b: Builder, bits: Value) -> Value:
    """Put the fields of a float16 into a double, whose value is then 2^1008 times too small."""
    t = b.types
    fields = b.shl(b.and_(bits, b.i64(0x7FFF)), b.i64(52 - 10))
    scaled = b.binary("fmul", b.bitcast(fields, t.f64), b.bitcast(b.i64(_HALF_SCALE), t.f64))
    is_finite = b.ult(b.and_(bits, b.i64(0x7FFF)), b.i64(0x7C00))
    special = b.or_(fields, b.i64(0x7FF << 52))
    magnitude = b.select(is_finite, b.bitcast(scaled, t.i64), special)
    sign = b.shl(b.and_(bits, b.i64(0x8000)), b.i64(48))
    return b.bitcast(b.or_(magnitude, sign), t.f64)


def _from_float64(b: Builder, bits: Value) -> Value:
    return b.bitcast(bits, b.types.f64)


def _from_bfloat16(b: Builder, bits: Value) -> Value:
    return _from_float32(b, b.shl(bits, b.i64(16)))


_DOUBLES: Final = {
    ("float", 64): _from_float64,
    ("float", 32): _from_float32,
    ("float", 16): _from_float16,
    ("bfloat", 16): _from_bfloat16,
}

ELEMENTS: Final = {
    "nan_element": Helper("i64", "ptr", _nan_element),
    "poisonous_element": Helper("i64", "ptr", _poisonous_element),
    "element_index": Helper("void", "ptr i64 ptr", _element_index),
    "element_value": Helper("void", "ptr i64 i64 ptr", _element_value),
}
