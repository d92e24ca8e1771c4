"""The hot checks of tensors."""

from __future__ import annotations

import functools

from ffi_builder import abi, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.builder.diagnosis import call_shared
from ffi_builder.builder.state import DL, Hot, Position
from ffi_builder.ir import Value
from ffi_builder.plan import Part, Place
from ffi_builder.plan import steps as s


def decode(hot: Hot, place: Place) -> None:
    """The object at a place: of a Tensor the payload itself; of other kinds by the rare way."""
    b, t = hot.b, hot.b.types
    base, offset = hot.any_at(place.position)
    any_ = b.offset(base, offset)
    index = b.load(t.i32, any_)
    payload = b.field(t.ptr, any_, abi.ANY_PAYLOAD)
    found, other = b.new_block(t.ptr), b.new_block(cold=True)
    b.cond_br(b.eq(index, b.i32(TypeIndex.TENSOR)), found, other, (payload,), likely=True)
    b.block = other
    b.br(found, call_shared(b, "tensor_object", [any_], t.ptr))
    b.block = found
    hot.objects[place.position] = found.arguments[0]


def check_ndim_and_dtype(hot: Hot, place: Place, dtype: spec.DataType) -> None:
    """They are neighbours: one comparison of 64 bits."""
    b = hot.b
    ndim = hot.ndims[place.position]
    wanted = ndim | dtype.code << 32 | dtype.bits << 40 | dtype.lanes << 48
    field = b.field(b.types.i64, hot.objects[place.position], DL + abi.DLTENSOR_NDIM)
    hot.require(b.eq(field, b.i64(wanted)))


def check_device_type(hot: Hot, place: Place, code: int, following: s.AnyStep | None) -> None:
    """Type and id are neighbours; where the id is compared next, that comparison says both."""
    b, t = hot.b, hot.b.types
    device = b.field(t.i64, hot.objects[place.position], DL + abi.DLTENSOR_DEVICE_TYPE)
    hot.devices[place.position] = device
    if isinstance(following, s.CheckSameDevice):
        return
    hot.require(b.eq(b.trunc(device, t.i32), b.i32(code)))


def check_offset(hot: Hot, place: Place) -> None:
    """data + byte_offset must not wrap."""
    b, t = hot.b, hot.b.types
    tensor = hot.objects[place.position]
    data = b.field(t.ptr, tensor, DL + abi.DLTENSOR_DATA)
    offset = b.field(t.i64, tensor, DL + abi.DLTENSOR_BYTE_OFFSET)
    address = b.element(data, offset)
    hot.raw_data[place.position] = data
    hot.data[place.position] = address
    hot.require(b.uge(address, data))


def _or_empty(hot: Hot, position: Position, condition: Value) -> None:
    """Go on if the condition holds or the tensor has no elements."""
    dims = hot.dims.get(position, [])
    if 0 in dims:
        return
    if all(isinstance(dim, int) for dim in dims):
        hot.require(condition)
    else:
        hot.require_or(condition, lambda: hot.shared("is_empty", [hot.objects[position]]))


def check_data(hot: Hot, place: Place) -> None:
    """NULL only with no elements."""
    data = hot.raw_data[place.position]
    _or_empty(hot, place.position, hot.b.ne(data, hot.b.null()))


def check_alignment(hot: Hot, place: Place, alignment: int) -> None:
    """Of data + byte_offset; an empty tensor needs none."""
    if alignment == 1:
        return
    b = hot.b
    address = b.to_int(hot.data[place.position])
    low = b.and_(address, b.i64(alignment - 1))
    _or_empty(hot, place.position, b.eq(low, b.i64(0)))


# ---- strides


def check_contiguous(hot: Hot, place: Place) -> None:
    """NULL, or each the product of the later dimensions; else it is looked at the rare way."""
    b, t = hot.b, hot.b.types
    position = place.position
    dims = hot.dims[position]
    wanted = [hot.product(dims[axis + 1 :]) for axis in range(len(dims))]
    strides = hot.pointer(position, DL + abi.DLTENSOR_STRIDES)
    first, following, odd = b.new_block(), b.new_block(), b.new_block(cold=True)
    b.cond_br(b.is_null(strides), following, first)
    b.block = first
    for axis in reversed(range(len(dims))):
        stride = b.field(t.i64, strides, 8 * axis)
        equal = b.eq(stride, hot.value(wanted[axis]))
        if axis == 0:
            b.cond_br(equal, following, odd, likely=True)
        else:
            after = b.new_block_behind(b.block)
            b.cond_br(equal, after, odd, likely=True)
            b.block = after
    b.block = odd
    b.cond_br(hot.shared("contiguous", [hot.objects[position]]), following, hot.slow)
    b.block = following


def stride(hot: Hot, place: Place) -> Value:
    """A stride as stored, or what NULL strides stand for; all of a tensor are read at once."""
    stored = Place(place.position, place.path, Part.STRIDES, place.index)
    if stored not in hot.reads:
        _load_strides(hot, place)
    return hot.reads[stored]


def _load_strides(hot: Hot, place: Place) -> None:
    b, t = hot.b, hot.b.types
    position = place.position
    tensor, ndim = hot.objects[position], hot.ndims[position]
    strides = hot.pointer(position, DL + abi.DLTENSOR_STRIDES)
    given, absent = b.new_block(), b.new_block(cold=True)
    merged = b.new_block(*[t.i64] * ndim)
    b.cond_br(b.ne(strides, b.null()), given, absent, likely=True)
    b.block = given
    b.br(merged, *(b.field(t.i64, strides, 8 * axis) for axis in range(ndim)))
    b.block = absent
    call = functools.partial(call_shared, b, "row_major", result=t.i64)
    b.br(merged, *(call([tensor, b.i64(axis)]) for axis in range(ndim)))
    b.block = merged
    for axis, value in enumerate(merged.arguments):
        hot.reads[Place(position, place.path, Part.STRIDES, axis)] = value


def check_packed(hot: Hot, place: Place, limit: int) -> None:
    """The stored value must not overflow when it is multiplied."""
    b = hot.b
    stored = stride(hot, place) if place.part is Part.STRIDES else hot.dim(place)
    shifted = b.add(stored, b.i64(limit))
    hot.require(b.ule(shifted, b.i64(2 * limit)))


# ---- sizes


def check_sizes(hot: Hot) -> None:
    """No dimension is negative, and the product of each tensor's fits int64.

    Of all tensors together: if the dimensions, or-ed together, are small enough as an unsigned
    number, no product of them can overflow; only if they are not, each tensor is looked at.
    """
    b = hot.b
    distinct: dict[tuple[object, ...], Position] = {}
    dynamic: dict[int, Value] = {}
    bits = 63
    for position, dims in hot.dims.items():
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
        fits = (hot.shared("numel_fits", [hot.objects[p]]) for p in distinct.values())
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
