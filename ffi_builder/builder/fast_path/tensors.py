"""The hot checks of tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Final

from ffi_builder import abi, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.builder.fast_path.context import DL, Hot
from ffi_builder.builder.fast_path.state import Position, TensorValues
from ffi_builder.builder.helpers import call_shared
from ffi_builder.ir import Value
from ffi_builder.plan import Part, Place
from ffi_builder.plan import fuse as f
from ffi_builder.plan import steps as s

NDIM: Final = DL + abi.DLTENSOR_NDIM


def decode(hot: Hot, step: f.TensorHeader) -> None:
    """The object, and its ndim, dtype and device."""
    b, position = hot.b, step.place.position
    tensor = _object(hot, position)
    hot.require(b.ne(tensor, b.null()))
    _check_ndim_and_dtype(hot, tensor, step.rank, step.dtype.dtypes)
    # Type and id are neighbours: one load.
    device = b.field(b.types.i64, tensor, DL + abi.DLTENSOR_DEVICE_TYPE)
    same = step.same_device
    if step.device_type is not None and not (same and same.certain):
        hot.require(b.eq(b.trunc(device, b.types.i32), b.i32(step.device_type.code)))
    if same is not None:
        _check_same_device(hot, device, same)
    hot.state.records[position] = TensorValues.decoded(tensor, step.rank, device)


def _object(hot: Hot, position: Position) -> Value:
    """The payload itself where a Tensor came; the helper takes all else."""
    b, t = hot.b, hot.b.types
    base, offset = hot.any_at(position)
    index = b.field(t.i32, base, offset)
    payload = b.field(t.ptr, base, offset + abi.ANY_PAYLOAD)
    found, other = b.new_block(t.ptr), b.new_block(cold=True)
    b.cond_br(b.eq(index, b.i32(TypeIndex.TENSOR)), found, other, (payload,), likely=True)
    b.block = other
    b.br(found, call_shared(b, "tensor_object", [b.offset(base, offset)], t.ptr))
    b.block = found
    return found.arguments[0]


def _check_ndim_and_dtype(
    hot: Hot, tensor: Value, ndim: int | None, dtypes: Sequence[spec.DataType]
) -> None:
    """They are neighbours: one comparison of 64 bits, unless ndim is free."""
    b, t = hot.b, hot.b.types
    words = [dtype.code | dtype.bits << 8 | dtype.lanes << 16 for dtype in dtypes]
    if ndim is None:
        hot.require(b.sge(b.field(t.i32, tensor, NDIM), b.i32(0)))
        field = b.field(t.i32, tensor, DL + abi.DLTENSOR_DTYPE)
        right = [b.eq(field, b.i32(word)) for word in words]
    else:
        field = b.field(t.i64, tensor, NDIM)
        right = [b.eq(field, b.i64(ndim | word << 32)) for word in words]
    hot.require(functools.reduce(b.or_, right))


def _check_same_device(hot: Hot, mine: Value, step: s.CheckSameDevice) -> None:
    """The device is that of the first other tensor that is there and of this device type.

    Where one is certain to be, comparing both halves checks the type too.
    """
    b, t = hot.b, hot.b.types
    if step.certain:
        hot.require(b.eq(mine, hot.device(step.others[0].position)))
        return
    yes = b.i1(True)
    undecided: Value = yes
    right: Value = yes
    for other in step.others:
        theirs = hot.device(other.position)
        counts = b.and_(undecided, b.eq(b.trunc(mine, t.i32), b.trunc(theirs, t.i32)))
        there = hot.guard(other.position)
        if there is not None:
            counts = b.and_(counts, there)
        right = b.and_(right, b.or_(b.eq(mine, theirs), b.xor(counts, yes)))
        undecided = b.and_(undecided, b.xor(counts, yes))
    hot.require(right)


def check_shape_of_any_rank(hot: Hot, place: Place) -> None:
    """The shape pointer is not NULL, unless ndim is 0.

    That no dimension is negative is checked with their product.
    """
    b = hot.b
    there = b.ne(hot.shape(place.position), b.null())
    ndim = b.field(b.types.i32, hot.tensor(place.position).object, NDIM)
    hot.require(b.or_(there, b.eq(ndim, b.i32(0))))


def _empty(hot: Hot, position: Position) -> bool | None:
    """Whether a tensor has no elements; None if that is known only when it comes."""
    tensor = hot.tensor(position)
    dims = tensor.dims.values()
    # Values are not compared: with some bindings `==` emits an operation (docs/mlir.md).
    if any(isinstance(dim, int) and dim == 0 for dim in dims):
        return True
    known = tensor.ndim is not None and all(isinstance(dim, int) for dim in dims)
    return False if known else None


def check_data(hot: Hot, place: Place) -> None:
    """The number of elements fits int64, data + byte_offset does not wrap, data is not NULL.

    ``data - 1 < data + byte_offset`` says the latter two: it does not hold if data is NULL, which
    is right only for a tensor without elements.
    """
    b, t = hot.b, hot.b.types
    tensor = hot.tensor(place.position)
    _check_size(hot, place.position)
    data = b.field(t.ptr, tensor.object, DL + abi.DLTENSOR_DATA)
    offset = b.field(t.i64, tensor.object, DL + abi.DLTENSOR_BYTE_OFFSET)
    address = tensor.data = b.element(data, offset)
    empty = _empty(hot, place.position)
    if empty:
        hot.require(b.uge(address, data))
        return
    fine = b.ult(b.offset(data, -1), address)
    if empty is None:
        hot.require_or(fine, lambda: hot.shared("has_no_data", [tensor.object]))
    else:
        hot.require(fine)


def _is_empty(hot: Hot, position: Position) -> Value:
    return hot.shared("is_empty", [hot.tensor(position).object])


def check_alignment(hot: Hot, place: Place, alignment: int) -> None:
    """Of data + byte_offset; an empty tensor needs none."""
    empty = _empty(hot, place.position)
    if alignment == 1 or empty:
        return
    b = hot.b
    low = b.and_(b.to_int(hot.data(place.position)), b.i64(alignment - 1))
    aligned = b.eq(low, b.i64(0))
    if empty is None:
        hot.require_or(aligned, lambda: _is_empty(hot, place.position))
    else:
        hot.require(aligned)


# ---- strides


_HELPERS: Final = {"C": "contiguous", "F": "column_major"}


def check_layout(hot: Hot, place: Place, order: str) -> None:
    """NULL, or each stride the product that it must be; else the helper looks at all of them.

    NULL stands for row-major, which is column-major too for one dimension.
    """
    b = hot.b
    tensor = hot.tensor(place.position)

    def look() -> Value:
        return hot.shared(_HELPERS[order], [tensor.object])

    if tensor.ndim is not None:
        wanted = _contiguous(hot, list(tensor.dims.values()), order)
        _check_strides(hot, hot.given_strides(place.position), wanted, order, look)
    elif order == "C":
        hot.require_or(b.is_null(hot.given_strides(place.position)), look)
    else:
        hot.require(look())


def _contiguous(hot: Hot, dims: list[Value | int], order: str) -> list[Value | int]:
    """The strides that dimensions have in an order."""
    axes = range(len(dims))
    if order == "C":
        return [hot.product(dims[axis + 1 :]) for axis in axes]
    # Reversed, so that equal products are found.
    return [hot.product(dims[:axis][::-1]) for axis in axes]


def _check_strides(
    hot: Hot, given: Value, wanted: list[Value | int], order: str, look: Callable[[], Value]
) -> None:
    b, t = hot.b, hot.b.types
    axes = range(len(wanted))
    first, following, odd = b.new_block(), b.new_block(), b.new_block(cold=True)
    null_fits = order == "C" or len(wanted) == 1
    b.cond_br(b.is_null(given), following if null_fits else odd, first)
    b.block = first
    last = 0 if order == "C" else len(wanted) - 1
    for axis in reversed(axes) if order == "C" else axes:
        stride = b.field(t.i64, given, 8 * axis)
        equal = b.eq(stride, hot.value(wanted[axis]))
        if axis == last:
            b.cond_br(equal, following, odd, likely=True)
        else:
            after = b.new_block_behind(b.block)
            b.cond_br(equal, after, odd, likely=True)
            b.block = after
    b.block = odd
    b.cond_br(look(), following, hot.slow)
    b.block = following


def stride(hot: Hot, place: Place) -> Value:
    """A stride as stored, or what NULL strides stand for, loaded at the cursor."""
    assert place.index is not None
    return hot.b.field(hot.b.types.i64, strides(hot, place.position), 8 * place.index)


def strides(hot: Hot, position: Position) -> Value:
    """Where the strides of a tensor are: NULL ones are written out on the stack."""
    record = hot.tensor(position)
    if record.strides is None:
        assert record.ndim is not None
        b, t = hot.b, hot.b.types
        tensor, space = hot.object(position), b.alloca(t.i64, record.ndim)
        given = hot.given_strides(position)
        found, absent = b.new_block(t.ptr), b.new_block(cold=True)
        b.cond_br(b.ne(given, b.null()), found, absent, (given,), likely=True)
        b.block = absent
        b.br(found, call_shared(b, "row_major_strides", [tensor, space], t.ptr))
        b.block = found
        record.strides = found.arguments[0]
        return found.arguments[0]
    return record.strides


def check_packed(hot: Hot, place: Place, limit: int) -> None:
    """The stored value must not overflow when it is multiplied."""
    b = hot.b
    stored = stride(hot, place) if place.part is Part.STRIDES else hot.dim(place)
    shifted = b.add(stored, b.i64(limit))
    hot.require(b.ule(shifted, b.i64(2 * limit)))


# ---- sizes


_TOGETHER: Final = 16
"""How many tensors have their sizes checked together. Values that wait for it take registers; with
all tensors of a long signature LLVM's time would be quadratic."""


def _check_size(hot: Hot, position: Position) -> None:
    """No dimension is negative, and their product fits int64: together with that of others."""
    tensor, unsized = hot.tensor(position), hot.state.unsized
    if tensor.ndim is None:
        hot.require(hot.shared("numel_fits", [tensor.object]))
    elif tensor.ndim:
        unsized.append(position)
        if len(unsized) == _TOGETHER:
            check_sizes(hot)
            hot.b.go_on_at_the_end()


def check_sizes(hot: Hot) -> None:
    """The sizes of the tensors that wait for it.

    If the dimensions, or-ed together, are small enough as an unsigned number, no product of them
    can overflow; only if they are not, each tensor is looked at.
    """
    b = hot.b
    positions, hot.state.unsized = hot.state.unsized, []
    distinct: dict[tuple[object, ...], Position] = {}
    dynamic: dict[int, Value] = {}
    bits = 63
    for position in positions:
        dims = list(hot.tensor(position).dims.values())
        values = [dim for dim in dims if not isinstance(dim, int)]
        if not values:
            _static_size(hot, position, dims)
            continue
        key = tuple(sorted(map(str, (d if isinstance(d, int) else f"#{id(d)}" for d in dims))))
        distinct.setdefault(key, position)
        dynamic.update({id(value): value for value in values})
        bits = min(bits, _bits_each(dims, len(values)))
    if not dynamic:
        return
    together = functools.reduce(b.or_, dynamic.values())

    def each_fits() -> Value:
        fits = (hot.shared("numel_fits", [hot.tensor(p).object]) for p in distinct.values())
        return functools.reduce(b.and_, list(fits))

    hot.require_or(b.ult(together, b.i64(1 << bits)), each_fits)


def _bits_each(dims: list[Value | int], dynamic: int) -> int:
    """How many bits each dynamic dimension may have so that the product is below 2^63."""
    static = 1
    for dim in dims:
        static *= dim if isinstance(dim, int) else 1
    if static == 0:
        return 63
    return max(0, (63 - (static - 1).bit_length()) // dynamic)


def _static_size(hot: Hot, position: Position, dims: list[Value | int]) -> None:
    """A shape of ints alone: whether it overflows is known now."""
    static = 1
    for dim in dims:
        assert isinstance(dim, int)
        static *= dim
    if static >= 2**63:
        hot.require(hot.b.i1(False))
