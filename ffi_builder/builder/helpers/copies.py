"""Helpers that copy tensors for ``sanitize=``, and look at what the kernel has done to the copies.

In C, with ``object`` as in :mod:`.tensors`::

    bool copy_tensor(const void* object, Copy* copy, int64_t guard, int64_t alignment,
                     int64_t salt, bool poison);
    bool check_outside(Copy* copy);
    int64_t changed_element(const Copy* copy);
    int64_t unwritten_element(const Copy* copy);
    void give_copy_back(const void* object, const Copy* copy, bool all);
    void free_copy(const Copy* copy);

    struct Copy {
      void* object;        // for the kernel: that of the DLTensor below, or the one that came
      char* data;          // for the kernel, with the byte_offset
      char* memory;        // malloc's; NULL if nothing was copied
      char* region;        // guard zone, elements, guard zone; then two more of this size
      int64_t size, step;  // bytes of a region, and from one region to the next
      int64_t span;        // bytes from the first to the last element
      uint64_t pattern;    // 8 bytes that are repeated, beginning at `data`
      int64_t width;       // bytes of an element
      int64_t count;       // elements
      int64_t misplaced, foreign, origin;  // what check_outside has found
      DLTensor tensor;
    };

The kernel sees the first region, and the second has what that held before the call. ``copy_tensor``
copies only tensors on the CPU; it returns false if there is no memory. ``salt`` makes the patterns
of tensors differ, so that a kernel that copies the pattern writes another one. ``check_outside``
returns whether the kernel has written only elements; else it has changed ``foreign`` bytes, the
first of them ``misplaced`` bytes from the data. For that it fills all elements with the pattern,
and takes them back from the third region. ``origin`` is where the elements begin, from the data.
The others return the number of an element, in row-major order, or -1.

Elements narrower than a byte are copied with all bytes from the first to the last, and counted as
bytes. A dimension of stride 0 counts as 1: its elements are the same one.
"""

from __future__ import annotations

from typing import Final

from ffi_builder import abi
from ffi_builder.builder.helpers.define import Helper, call_shared
from ffi_builder.builder.helpers.tensors import DATA, NDIM, SHAPE, STRIDES
from ffi_builder.ir import Builder, Value

COPY_WORDS: Final = 19
"""The size of a ``Copy``, in i64s."""
OBJECT: Final = 0
COPIED_DATA: Final = 8
MEMORY: Final = 16
_REGION: Final = 24
_SIZE: Final = 32
_STEP: Final = 40
SPAN: Final = 48
_PATTERN: Final = 56
WIDTH: Final = 64
COUNT: Final = 72
MISPLACED: Final = 80
FOREIGN: Final = 88
ORIGIN: Final = 96
_TENSOR: Final = 104
OWN_OBJECT: Final = _TENSOR - abi.OBJECT_SIZE

_OFFSET: Final = abi.OBJECT_SIZE + abi.DLTENSOR_BYTE_OFFSET
_DEVICE: Final = abi.OBJECT_SIZE + abi.DLTENSOR_DEVICE_TYPE
DTYPE: Final = abi.OBJECT_SIZE + abi.DLTENSOR_DTYPE
LANES: Final = abi.OBJECT_SIZE + abi.DLTENSOR_DTYPE_LANES
_MOST: Final = 1 << 56
"""More bytes than there are addresses; three times as many fit an i64."""
_BYTE: Final = 0xA5
"""The pattern of all but floats, before it is salted."""
POISON: Final = {
    ("float", 16): (2, 0x7D5A),
    ("bfloat", 16): (2, 0x7FA5),
    ("float", 32): (4, 0x7FA5_A5A5),
    ("float", 64): (8, 0x7FF4_A5A5_A5A5_A5A5),
    ("complex", 32): (2, 0x7D5A),
    ("complex", 64): (4, 0x7FA5_A5A5),
    ("complex", 128): (8, 0x7FF4_A5A5_A5A5_A5A5),
}
"""Patterns by dtype code and bits: the bytes of a number, and the number that is repeated.

They are signalling NaNs: the exponent is all ones, and the first bit of the fraction 0.
"""
SALTS: Final = 16
"""The number of patterns: the low four bits of a number are those of its tensor's salt."""


# ---- before the call


def _copy_tensor(
    b: Builder,
    given: Value,
    copy: Value,
    guard: Value,
    alignment: Value,
    salt: Value,
    poison: Value,
) -> None:
    t = b.types
    b.store(b.null(), b.offset(copy, MEMORY))
    b.store(given, b.offset(copy, OBJECT))
    b.store(b.null(), b.offset(copy, COPIED_DATA))
    with b.when(b.is_null(given)):
        b.ret(b.i1(True))
    data = b.element(b.field(t.ptr, given, DATA), b.field(t.i64, given, _OFFSET))
    b.store(data, b.offset(copy, COPIED_DATA))
    cpu = b.i32(abi.DEVICE_TYPES["cpu"])
    with b.when(b.ne(b.field(t.i32, given, _DEVICE), cpu)):
        b.ret(b.i1(True))
    first = _span(b, given, copy, data)
    with b.when(b.ugt(b.field(t.i64, copy, SPAN), b.i64(_MOST))):
        b.ret(b.i1(False))
    _allocate(b, copy, first, guard, alignment)
    with b.when(b.is_null(b.field(t.ptr, copy, MEMORY))):
        b.ret(b.i1(False))
    moved = b.add(b.to_int(b.field(t.ptr, copy, _REGION)), guard)
    _describe(b, given, copy, b.to_pointer(b.add(b.to_int(data), b.sub(moved, first))))
    b.store(_pattern(b, given, salt), b.offset(copy, _PATTERN))
    _fill(b, copy, b.field(t.ptr, copy, _REGION), b.field(t.i64, copy, _SIZE))
    with b.when(b.eq(poison, b.i1(False))):
        _copy_elements(b, copy, b.field(t.ptr, copy, COPIED_DATA), data)
    _copy_region(b, copy, 1, 0)
    b.ret(b.i1(True))


def _span(b: Builder, given: Value, copy: Value, data: Value) -> Value:
    """Find where the elements are; return the address of the first byte, which may be anything."""
    t = b.types
    ends = b.alloca(t.i64, 2)
    found = call_shared(b, "extent", [given, ends], t.i1)
    lowest, last = b.load(t.i64, ends), b.field(t.i64, ends, 8)
    address = b.to_int(data)
    first = b.select(found, lowest, address)
    behind = b.select(found, b.add(last, b.i64(1)), address)
    b.store(b.sub(behind, first), b.offset(copy, SPAN))
    b.store(b.sub(first, address), b.offset(copy, ORIGIN))
    return first


def _allocate(b: Builder, copy: Value, first: Value, guard: Value, alignment: Value) -> None:
    """Allocate three regions; the elements lie as far from a multiple of ``alignment`` as ever."""
    t = b.types
    size = b.add(b.field(t.i64, copy, SPAN), b.shl(guard, b.i64(1)))
    step = b.and_(b.add(size, b.i64(7)), b.i64(-8))
    b.store(size, b.offset(copy, _SIZE))
    b.store(step, b.offset(copy, _STEP))
    b.symbols.declare("malloc", t.ptr, [t.i64])
    memory = b.call_value("malloc", [b.add(b.mul(step, b.i64(3)), alignment)], t.ptr)
    b.store(memory, b.offset(copy, MEMORY))
    start = b.to_int(memory)
    behind = b.and_(b.sub(b.sub(first, guard), start), b.sub(alignment, b.i64(1)))
    b.store(b.element(memory, behind), b.offset(copy, _REGION))


def _describe(b: Builder, given: Value, copy: Value, data: Value) -> None:
    """Write the tensor that the kernel gets, and what is known of its elements."""
    t = b.types
    own = b.offset(copy, OWN_OBJECT)
    _copy_bytes(b, b.offset(copy, _TENSOR), b.offset(given, abi.OBJECT_SIZE), b.i64(48))
    b.store(data, b.offset(own, DATA))
    b.store(b.i64(0), b.offset(own, _OFFSET))
    b.store(own, b.offset(copy, OBJECT))
    b.store(data, b.offset(copy, COPIED_DATA))
    bits = bits_of(b, given)
    is_narrow = b.ne(b.and_(bits, b.i64(7)), b.i64(0))
    b.store(b.select(is_narrow, b.i64(1), b.lshr(bits, b.i64(3))), b.offset(copy, WIDTH))
    b.store(b.field(t.i64, copy, SPAN), b.offset(copy, COUNT))
    with b.when(b.eq(is_narrow, b.i1(False))):
        b.store(call_shared(b, "count_elements", [own], t.i64), b.offset(copy, COUNT))


def _pattern(b: Builder, given: Value, salt: Value) -> Value:
    """Return 8 bytes, in which a salted number is repeated."""
    pattern = b.mul(b.xor(b.i64(_BYTE), salt), b.i64(_repeated(1)))
    for kind, (size, number) in POISON.items():
        salted = b.mul(b.xor(b.i64(number), salt), b.i64(_repeated(size)))
        pattern = b.select(_is_kind(b, given, *kind), salted, pattern)
    return pattern


def _repeated(size: int) -> int:
    """Return what a number of some bytes is multiplied by, so that it fills 8 bytes."""
    return sum(1 << 8 * at for at in range(0, 8, size))


def _is_kind(b: Builder, tensor: Value, code: str, bits: int) -> Value:
    kind = b.and_(b.field(b.types.i32, tensor, DTYPE), b.i32(0xFFFF))
    return b.eq(kind, b.i32(abi.DTYPE_CODES[code] | bits << 8))


def bits_of(b: Builder, tensor: Value) -> Value:
    """Return the bits of an element, with all its lanes."""
    t = b.types
    width = b.zext(b.field(t.i8, tensor, DTYPE + 1), t.i64)
    return b.mul(width, b.zext(b.field(t.i16, tensor, LANES), t.i64))


# ---- elements


def size_and_stride(b: Builder, tensor: Value, axis: Value) -> tuple[Value, Value]:
    """Return a dimension, which counts as 1 where its stride is 0, and the stride."""
    t = b.types
    shape, strides = b.field(t.ptr, tensor, SHAPE), b.field(t.ptr, tensor, STRIDES)
    dim, stride = b.load(t.i64, b.element(shape, axis, "i64")), b.alloca(t.i64)
    with b.when(b.is_null(strides)):
        b.store(call_shared(b, "row_major", [tensor, axis], t.i64), stride)
    with b.when(b.ne(strides, b.null())):
        b.store(b.load(t.i64, b.element(strides, axis, "i64")), stride)
    step = b.load(t.i64, stride)
    is_one = b.and_(b.eq(step, b.i64(0)), b.ne(dim, b.i64(0)))
    return b.select(is_one, b.i64(1), dim), step


def ndim_of(b: Builder, tensor: Value) -> Value:
    """Return the number of dimensions as an i64."""
    return b.sext(b.field(b.types.i32, tensor, NDIM), b.types.i64)


def _count_elements(b: Builder, tensor: Value) -> None:
    t = b.types
    product = b.alloca(t.i64)
    b.store(b.i64(1), product)
    with b.loop(ndim_of(b, tensor)) as axis:
        dim, _ = size_and_stride(b, tensor, axis)
        b.store(b.mul(b.load(t.i64, product), dim), product)
    b.ret(b.load(t.i64, product))


def _element_offset(b: Builder, copy: Value, number: Value) -> None:
    """Return how many bytes an element is from the data."""
    t = b.types
    tensor = b.offset(copy, OWN_OBJECT)
    bits = bits_of(b, tensor)
    with b.when(b.ne(b.and_(bits, b.i64(7)), b.i64(0))):
        b.ret(b.add(b.field(t.i64, copy, ORIGIN), number))
    rest, distance = b.alloca(t.i64), b.alloca(t.i64)
    b.store(number, rest)
    b.store(b.i64(0), distance)
    ndim = ndim_of(b, tensor)
    with b.loop(ndim) as index:
        dim, stride = size_and_stride(b, tensor, b.sub(b.sub(ndim, b.i64(1)), index))
        left = b.load(t.i64, rest)
        steps = b.mul(b.urem(left, dim), stride)
        b.store(b.add(b.load(t.i64, distance), steps), distance)
        b.store(b.udiv(left, dim), rest)
    b.ret(b.mul(b.load(t.i64, distance), b.field(t.i64, copy, WIDTH)))


def element_at(b: Builder, copy: Value, number: Value, region: Value | int) -> Value:
    """Return the address of an element in region 0, 1 or 2."""
    t = b.types
    distance = call_shared(b, "element_offset", [copy, number], t.i64)
    times = b.i64(region) if isinstance(region, int) else region
    step = b.mul(b.field(t.i64, copy, _STEP), times)
    return b.element(b.field(t.ptr, copy, COPIED_DATA), b.add(distance, step))


def _copy_elements(b: Builder, copy: Value, to: Value, source: Value) -> None:
    """Copy all elements; both addresses are those of the data."""
    t = b.types
    width = b.field(t.i64, copy, WIDTH)
    with b.loop(b.field(t.i64, copy, COUNT)) as number:
        distance = call_shared(b, "element_offset", [copy, number], t.i64)
        _copy_bytes(b, b.element(to, distance), b.element(source, distance), width)


def _copy_region(b: Builder, copy: Value, to: int, source: int) -> None:
    t = b.types
    start, step = b.field(t.ptr, copy, _REGION), b.field(t.i64, copy, _STEP)
    target, given = (b.element(start, b.mul(step, b.i64(region))) for region in (to, source))
    _copy_bytes(b, target, given, b.field(t.i64, copy, _SIZE))


def _copy_bytes(b: Builder, to: Value, source: Value, size: Value) -> None:
    attributes = {"isVolatile": b.types.attribute("false")}
    b.op("llvm.intr.memcpy", (to, source, size), attributes=attributes)


def _pattern_at(b: Builder, copy: Value, address: Value) -> Value:
    """Return the byte of the pattern at an address in the first region."""
    t = b.types
    distance = b.sub(b.to_int(address), b.to_int(b.field(t.ptr, copy, COPIED_DATA)))
    shift = b.shl(b.and_(distance, b.i64(7)), b.i64(3))
    return b.trunc(b.lshr(b.field(t.i64, copy, _PATTERN), shift), t.i8)


def _fill(b: Builder, copy: Value, start: Value, size: Value) -> None:
    with b.loop(size) as index:
        address = b.element(start, index)
        b.store(_pattern_at(b, copy, address), address)


# ---- after the call


def _check_outside(b: Builder, copy: Value) -> None:
    t = b.types
    _copy_region(b, copy, 2, 0)
    width = b.field(t.i64, copy, WIDTH)
    with b.loop(b.field(t.i64, copy, COUNT)) as number:
        _fill(b, copy, element_at(b, copy, number, 0), width)
    b.store(b.i64(0), b.offset(copy, FOREIGN))
    region, size = b.field(t.ptr, copy, _REGION), b.field(t.i64, copy, _SIZE)
    start = b.sub(b.to_int(region), b.to_int(b.field(t.ptr, copy, COPIED_DATA)))
    with b.loop(size) as index:
        address = b.element(region, index)
        is_foreign = b.ne(b.load(t.i8, address), _pattern_at(b, copy, address))
        with b.when(is_foreign):
            before = b.field(t.i64, copy, FOREIGN)
            with b.when(b.eq(before, b.i64(0))):
                b.store(b.add(start, index), b.offset(copy, MISPLACED))
            b.store(b.add(before, b.i64(1)), b.offset(copy, FOREIGN))
    _copy_region(b, copy, 0, 2)
    b.ret(b.eq(b.field(t.i64, copy, FOREIGN), b.i64(0)))


def _same(b: Builder, copy: Value, number: Value) -> Value:
    """Return whether an element is as before the call."""
    sides = [element_at(b, copy, number, region) for region in (0, 1)]
    return call_shared(b, "same_bytes", [*sides, b.field(b.types.i64, copy, WIDTH)], b.types.i1)


def _changed_element(b: Builder, copy: Value) -> None:
    t = b.types
    with b.loop(b.field(t.i64, copy, COUNT)) as number:
        has_changed = b.eq(_same(b, copy, number), b.i1(False))
        with b.when(has_changed):
            b.ret(number)
    b.ret(b.i64(-1))


def _unwritten_element(b: Builder, copy: Value) -> None:
    """Find the first element of a row of them that holds the pattern."""
    t = b.types
    wanted, row = _needed(b, copy), b.alloca(t.i64)
    b.store(b.i64(0), row)
    with b.loop(b.field(t.i64, copy, COUNT)) as number:
        length = b.add(b.load(t.i64, row), b.i64(1))
        b.store(b.select(_same(b, copy, number), length, b.i64(0)), row)
        with b.when(b.eq(b.load(t.i64, row), wanted)):
            b.ret(b.sub(b.add(number, b.i64(1)), wanted))
    b.ret(b.i64(-1))


def _needed(b: Builder, copy: Value) -> Value:
    """Return how many elements in a row must hold the pattern, so that it is no accident.

    One is enough where the pattern is a signalling NaN, or no bool. It takes 4 bytes otherwise.
    """
    width = b.field(b.types.i64, copy, WIDTH)
    needed = b.udiv(b.add(width, b.i64(3)), width)
    for kind in (*POISON, ("bool", 8)):
        is_this = _is_kind(b, b.offset(copy, OWN_OBJECT), *kind)
        needed = b.select(is_this, b.i64(1), needed)
    return needed


def _give_copy_back(b: Builder, given: Value, copy: Value, every: Value) -> None:
    """Write the elements that have changed; with ``every``, all of them."""
    t = b.types
    with b.when(b.is_null(b.field(t.ptr, copy, MEMORY))):
        b.ret()
    data = b.element(b.field(t.ptr, given, DATA), b.field(t.i64, given, _OFFSET))
    width = b.field(t.i64, copy, WIDTH)
    with b.loop(b.field(t.i64, copy, COUNT)) as number:
        has_changed = b.eq(_same(b, copy, number), b.i1(False))
        with b.when(b.or_(every, has_changed)):
            distance = call_shared(b, "element_offset", [copy, number], t.i64)
            _copy_bytes(b, b.element(data, distance), element_at(b, copy, number, 0), width)
    b.ret()


def _free_copy(b: Builder, copy: Value) -> None:
    t = b.types
    b.symbols.declare("free", t.void, [t.ptr])
    b.call("free", [b.field(t.ptr, copy, MEMORY)], t.void)
    b.ret()


COPIES: Final = {
    "copy_tensor": Helper("i1", "ptr ptr i64 i64 i64 i1", _copy_tensor),
    "count_elements": Helper("i64", "ptr", _count_elements),
    "element_offset": Helper("i64", "ptr i64", _element_offset),
    "check_outside": Helper("i1", "ptr", _check_outside),
    "changed_element": Helper("i64", "ptr", _changed_element),
    "unwritten_element": Helper("i64", "ptr", _unwritten_element),
    "give_copy_back": Helper("void", "ptr ptr i1", _give_copy_back),
    "free_copy": Helper("void", "ptr", _free_copy),
}
