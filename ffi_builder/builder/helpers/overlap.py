"""Helpers that compare the memory of tensors, by the rules of docs/checks.md.

In C::

    bool apart(const void* object, const void* other);
    bool extent(const void* object, uint64_t ends[2]);
    uint64_t size_of(uint64_t elements, uint64_t bits);
    bool list_apart(const void* list, const void* object);
    int64_t sort_extents(const void* list, int64_t length, uint64_t (*extents)[2]);
    bool each_apart(const uint64_t (*extents)[2], int64_t count);
    bool lists_apart(const uint64_t (*one)[2], int64_t count,
                     const uint64_t (*other)[2], int64_t number);

Objects are those of :mod:`.tensors`, or NULL if the tensor is absent. ``extent`` stores the first
and the last address. It returns false if there is nothing to compare, and stores a last address
that is less than the first. ``size_of`` returns the bytes of elements of ``bits`` bits, at most
2^64 - 1.

A ``list`` is an Array or List, or NULL. ``list_apart`` compares each of its elements with a tensor.
``sort_extents`` stores what ``extent`` does for each element, sorted by the first address. It
leaves out elements that have nothing to compare, and returns the number of the others. It takes the
length that there is room for, as another thread may append to a List.
``each_apart`` takes them and says whether no two have a byte in common; ``lists_apart`` says the
same of those of two lists.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from ffi_builder import abi
from ffi_builder.builder.helpers.define import EXTENT_SIZE, Helper, call_shared
from ffi_builder.builder.helpers.tensors import NDIM, SHAPE, STRIDES
from ffi_builder.ir import Builder, Value

_DL: Final = abi.OBJECT_SIZE
_CODES: Final = sum(1 << abi.DEVICE_TYPES[name] for name in abi.UNIFIED_DEVICES)
"""A bit for each device type of the unified address space."""
_CELL: Final = f"!llvm.array<{abi.ANY_SIZE // 8} x i64>"
_EXTENT: Final = f"!llvm.array<{EXTENT_SIZE // 8} x i64>"


def _apart(b: Builder, one: Value, other: Value) -> None:
    t = b.types
    ends = [b.alloca(t.i64, 2) for _ in range(2)]
    for tensor, space in zip((one, other), ends, strict=True):
        found = call_shared(b, "extent", [tensor, space], t.i1)
        with b.when(b.xor(found, b.i1(True))):
            b.ret(b.i1(True))
    (first, last), (start, end) = ((b.load(t.i64, e), b.field(t.i64, e, 8)) for e in ends)
    b.ret(b.or_(b.ult(last, start), b.ult(end, first)))


def _extent(b: Builder, tensor: Value, ends: Value) -> None:
    t = b.types
    b.store(b.i64(-1), ends)
    b.store(b.i64(0), b.offset(ends, 8))
    with b.when(b.is_null(tensor)):
        b.ret(b.i1(False))
    device = b.field(t.i32, tensor, _DL + abi.DLTENSOR_DEVICE_TYPE)
    with b.when(b.uge(device, b.i32(32))):
        b.ret(b.i1(False))
    unified = b.trunc(b.lshr(b.i32(_CODES), device), t.i1)
    with b.when(b.xor(unified, b.i1(True))):
        b.ret(b.i1(False))
    sides = _distances(b, tensor)
    width = b.zext(b.field(t.i8, tensor, _DL + abi.DLTENSOR_DTYPE_BITS), t.i64)
    lanes = b.zext(b.field(t.i16, tensor, _DL + abi.DLTENSOR_DTYPE_LANES), t.i64)
    bits = b.mul(width, lanes)
    data = b.field(t.i64, tensor, _DL + abi.DLTENSOR_DATA)
    address = b.add(data, b.field(t.i64, tensor, _DL + abi.DLTENSOR_BYTE_OFFSET))
    behind = _side(b, b.add(b.load(t.i64, sides), b.i64(1)), bits, b.offset(sides, 16))
    before = _side(b, b.sub(b.i64(0), b.field(t.i64, sides, 8)), bits, b.offset(sides, 24))
    first, below = b.with_overflow("usub", address, before)
    last, beyond = b.with_overflow("uadd", address, b.sub(behind, b.i64(1)))
    b.store(b.select(below, b.i64(0), first), ends)
    b.store(b.select(beyond, b.i64(-1), last), b.offset(ends, 8))
    b.ret(b.i1(True))


def _distances(b: Builder, tensor: Value) -> Value:
    """Add up, in elements, the strides that are not negative, and those that are.

    Return the address of both sums, and behind them of two flags: not 0 if a sum does not fit
    int64. Makes the function return False where a dimension is 0.
    """
    t = b.types
    shape, strides = b.field(t.ptr, tensor, SHAPE), b.field(t.ptr, tensor, STRIDES)
    sums, stride = b.alloca(t.i64, 4), b.alloca(t.i64)
    for index in range(4):
        b.store(b.i64(0), b.offset(sums, 8 * index))
    with b.loop(b.sext(b.field(t.i32, tensor, NDIM), t.i64)) as axis:
        dim = b.load(t.i64, b.element(shape, axis, "i64"))
        with b.when(b.eq(dim, b.i64(0))):
            b.ret(b.i1(False))
        with b.when(b.is_null(strides)):
            b.store(call_shared(b, "row_major", [tensor, axis], t.i64), stride)
        with b.when(b.ne(strides, b.null())):
            b.store(b.load(t.i64, b.element(strides, axis, "i64")), stride)
        one = b.load(t.i64, stride)
        side = b.element(sums, b.lshr(one, b.i64(63)), "i64")
        steps, wide = b.with_overflow("smul", one, b.sub(dim, b.i64(1)))
        total, wider = b.with_overflow("sadd", b.load(t.i64, side), steps)
        b.store(total, side)
        flag = b.offset(side, 16)
        b.store(b.or_(b.load(t.i64, flag), b.zext(b.or_(wide, wider), t.i64)), flag)
    return sums


def _side(b: Builder, elements: Value, bits: Value, flag: Value) -> Value:
    """Return the bytes before the first element, or from it on."""
    t = b.types
    size = call_shared(b, "size_of", [elements, bits], t.i64)
    return b.select(b.eq(b.load(t.i64, flag), b.i64(0)), size, b.i64(-1))


def _size_of(b: Builder, elements: Value, bits: Value) -> None:
    """Eight elements need ``bits`` bytes."""
    rest = b.add(b.mul(b.and_(elements, b.i64(7)), bits), b.i64(7))
    whole, wide = b.with_overflow("umul", b.lshr(elements, b.i64(3)), bits)
    size, wider = b.with_overflow("uadd", whole, b.lshr(rest, b.i64(3)))
    b.ret(b.select(b.or_(wide, wider), b.i64(-1), size))


# ---- lists


def _list_apart(b: Builder, list_: Value, tensor: Value) -> None:
    t = b.types
    own, other = (b.alloca(t.i64, 2) for _ in range(2))
    with b.when(b.is_null(list_)):
        b.ret(b.i1(True))
    with b.when(b.xor(call_shared(b, "extent", [tensor, own], t.i1), b.i1(True))):
        b.ret(b.i1(True))
    with _each_extent(b, list_, b.field(t.i64, list_, abi.CELL_SIZE), other):
        (first, last), (start, end) = (_ends(b, ends, b.i64(0)) for ends in (own, other))
        with b.when(b.and_(b.ule(first, end), b.ule(start, last))):
            b.ret(b.i1(False))
    b.ret(b.i1(True))


@contextmanager
def _each_extent(b: Builder, list_: Value, length: Value, space: Value) -> Generator[None]:
    """Run the body for each element that has something to compare; its extent is in ``space``."""
    t = b.types
    cells = b.field(t.ptr, list_, abi.CELL_DATA)
    with b.loop(length) as index:
        tensor = call_shared(b, "tensor_object", [b.element(cells, index, _CELL)], t.ptr)
        with b.when(call_shared(b, "extent", [tensor, space], t.i1)):
            yield


def _sort_extents(b: Builder, list_: Value, length: Value, extents: Value) -> None:
    """Sort as Shell did, with half the distance each time, unless all are in order already."""
    t = b.types
    own, count, disorder, before = b.alloca(t.i64, 2), *(b.alloca(t.i64) for _ in range(3))
    for number in (count, disorder, before):
        b.store(b.i64(0), number)
    with b.when(b.is_null(list_)):
        b.ret(b.i64(0))
    with _each_extent(b, list_, length, own):
        first, last = _ends(b, own, b.i64(0))
        place = b.element(extents, b.load(t.i64, count), _EXTENT)
        b.store(first, place)
        b.store(last, b.offset(place, 8))
        odd = b.zext(b.ult(first, b.load(t.i64, before)), t.i64)
        b.store(b.or_(b.load(t.i64, disorder), odd), disorder)
        b.store(first, before)
        b.store(b.add(b.load(t.i64, count), b.i64(1)), count)
    size = b.load(t.i64, count)
    head, body, following = b.new_block(t.i64), b.new_block(), b.new_block()
    in_order = b.eq(b.load(t.i64, disorder), b.i64(0))
    b.br(head, b.select(in_order, b.i64(0), b.lshr(size, b.i64(1))))
    b.block = head
    distance = head.arguments[0]
    b.cond_br(b.eq(distance, b.i64(0)), following, body)
    b.block = body
    with b.loop(size) as index:
        _insert(b, extents, index, distance)
    b.br(head, b.lshr(distance, b.i64(1)))
    b.block = following
    b.ret(size)


def _insert(b: Builder, extents: Value, index: Value, distance: Value) -> None:
    """Move an extent before those that begin behind it, in steps of a distance."""
    first, last = _ends(b, extents, index)
    head, compare, move, found = b.new_block(b.types.i64), *(b.new_block() for _ in range(3))
    b.br(head, index)
    b.block = head
    at = head.arguments[0]
    place = b.element(extents, at, _EXTENT)
    b.cond_br(b.slt(at, distance), found, compare)
    b.block = compare
    start, end = _ends(b, extents, b.sub(at, distance))
    b.cond_br(b.ult(first, start), move, found)
    b.block = move
    b.store(start, place)
    b.store(end, b.offset(place, 8))
    b.br(head, b.sub(at, distance))
    b.block = found
    b.store(first, place)
    b.store(last, b.offset(place, 8))


def _each_apart(b: Builder, extents: Value, count: Value) -> None:
    """Compare neighbours: each must end before the next one begins."""
    with b.loop(b.sub(count, b.i64(1))) as index:
        _, last = _ends(b, extents, index)
        following, _ = _ends(b, extents, b.add(index, b.i64(1)))
        with b.when(b.ule(following, last)):
            b.ret(b.i1(False))
    b.ret(b.i1(True))


def _lists_apart(b: Builder, one: Value, count: Value, other: Value, number: Value) -> None:
    """Go on from whichever ends before the other begins, as it ends before all later ones, too."""
    t = b.types
    head = b.new_block(t.i64, t.i64)
    b.br(head, b.i64(0), b.i64(0))
    b.block = head
    index, at = head.arguments
    with b.when(b.or_(b.eq(index, count), b.eq(at, number))):
        b.ret(b.i1(True))
    first, last = _ends(b, one, index)
    start, end = _ends(b, other, at)
    with b.when(b.ult(last, start)):
        b.br(head, b.add(index, b.i64(1)), at)
    with b.when(b.ult(end, first)):
        b.br(head, index, b.add(at, b.i64(1)))
    b.ret(b.i1(False))


def _ends(b: Builder, extents: Value, index: Value) -> tuple[Value, Value]:
    at = b.element(extents, index, _EXTENT)
    return b.load(b.types.i64, at), b.field(b.types.i64, at, 8)


OVERLAP: Final = {
    "apart": Helper("i1", "ptr ptr", _apart),
    "extent": Helper("i1", "ptr ptr", _extent),
    "size_of": Helper("i64", "i64 i64", _size_of),
    "list_apart": Helper("i1", "ptr ptr", _list_apart),
    "sort_extents": Helper("i64", "ptr i64 ptr", _sort_extents),
    "each_apart": Helper("i1", "ptr i64", _each_apart),
    "lists_apart": Helper("i1", "ptr i64 ptr i64", _lists_apart),
}
