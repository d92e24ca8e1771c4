"""Decodes and checks tensors on the fast path."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.builder.fast_path.context import DL, FastPath
from ffi_builder.builder.fast_path.state import Position, TensorValues
from ffi_builder.ir import Value
from ffi_builder.ir.checking import call_support
from ffi_builder.plan import Part, Place
from ffi_builder.plan import steps as s

NDIM: Final = DL + abi.DLTENSOR_NDIM
DTYPE: Final = DL + abi.DLTENSOR_DTYPE


def decode(fast: FastPath, step: s.DecodeTensor) -> None:
    """Decode a tensor; check ndim, dtype and device."""
    b, position = fast.b, step.place.position
    tensor = given_object(fast, position)
    fast.require(b.ne(tensor, b.null()))
    same = step.same_device
    # The device type of the earlier tensor has been checked already.
    device_type = None if same and same.certain else step.device_type
    _check_header(fast, tensor, step, None if device_type is None else device_type.code)
    # One load for type and id, which are neighbours.
    device = b.field(b.types.i64, tensor, DL + abi.DLTENSOR_DEVICE_TYPE)
    if same is not None:
        _check_same_device(fast, device, same)
    fast.state.records[position] = TensorValues(
        object=tensor, ndim=step.rank, device=device, data=None
    )


def given_object(fast: FastPath, position: Position) -> Value:
    """Return the payload of a Tensor; C decodes all other types."""
    index, payload = fast.look(position)
    is_tensor = fast.b.eq(index, fast.b.i32(TypeIndex.TENSOR))
    return fast.usually(is_tensor, payload, lambda: _object_again(fast, position))


def _check_header(
    fast: FastPath, tensor: Value, step: s.DecodeTensor, device_type: int | None
) -> None:
    """Compare ndim and dtype, which are neighbours, at once; with any ndim, the dtype alone.

    Where one dtype is accepted, one branch checks the device type too. A processor takes two
    branches a cycle, which limits how fast the checks of a tensor run.
    """
    b, t = fast.b, fast.b.types
    if isinstance(step.dtype, s.CheckSameDType):
        _check_same_dtype(fast, tensor, step.rank, step.dtype)
        _check_device_type(fast, tensor, device_type)
        return
    words = [dtype.word for dtype in step.dtype.dtypes]
    if step.rank is not None and len(words) == 1 and device_type is not None:
        given = b.zext(b.field(t.i32, tensor, DL + abi.DLTENSOR_DEVICE_TYPE), t.i64)
        wrong = b.xor(given, b.i64(device_type))
        header = b.xor(b.field(t.i64, tensor, NDIM), b.i64(step.rank | words[0] << 32))
        fast.require(b.eq(b.or_(header, wrong), b.i64(0)))
        return
    if step.rank is None:
        fast.require(b.sge(b.field(t.i32, tensor, NDIM), b.i32(0)))
        field = b.field(t.i32, tensor, DTYPE)
        matches = [b.eq(field, b.i32(word)) for word in words]
    else:
        field = b.field(t.i64, tensor, NDIM)
        matches = [b.eq(field, b.i64(step.rank | word << 32)) for word in words]
    fast.require(functools.reduce(b.or_, matches))
    _check_device_type(fast, tensor, device_type)


def _check_same_dtype(
    fast: FastPath, tensor: Value, rank: int | None, step: s.CheckSameDType
) -> None:
    """Check ndim, and compare the dtype with that of another tensor.

    If both tensors have the same known rank, one comparison covers both fields.
    """
    b, t = fast.b, fast.b.types
    other = fast.tensor(step.other.position)
    if rank is not None and rank == other.ndim:
        fast.require(b.eq(b.field(t.i64, tensor, NDIM), b.field(t.i64, other.object, NDIM)))
        return
    ndim = b.field(t.i32, tensor, NDIM)
    fast.require(b.sge(ndim, b.i32(0)) if rank is None else b.eq(ndim, b.i32(rank)))
    mine, theirs = (b.field(t.i32, of, DTYPE) for of in (tensor, other.object))
    fast.require(b.eq(mine, theirs))


def _check_device_type(fast: FastPath, tensor: Value, device_type: int | None) -> None:
    if device_type is not None:
        b, t = fast.b, fast.b.types
        given = b.field(t.i32, tensor, DL + abi.DLTENSOR_DEVICE_TYPE)
        fast.require(b.eq(given, b.i32(device_type)))


def _check_same_device(fast: FastPath, mine: Value, step: s.CheckSameDevice) -> None:
    """Compare with the first other tensor that is present and on this type of device.

    If that is certainly the first one, one comparison covers both type and id.
    """
    b, t = fast.b, fast.b.types
    if step.certain:
        fast.require(b.eq(mine, fast.tensor(step.others[0].position).device))
        return
    yes = b.i1(True)
    undecided: Value = yes
    correct: Value = yes
    for other in step.others:
        theirs = fast.tensor(other.position).device
        counts = b.and_(undecided, b.eq(b.trunc(mine, t.i32), b.trunc(theirs, t.i32)))
        there = fast.guard(other.position)
        if there is not None:
            counts = b.and_(counts, there)
        correct = b.and_(correct, b.or_(b.eq(mine, theirs), b.xor(counts, yes)))
        undecided = b.and_(undecided, b.xor(counts, yes))
    fast.require(correct)


def check_shape_of_any_rank(fast: FastPath, place: Place) -> None:
    """Require that the shape pointer is not NULL, unless ndim is 0.

    The check of the size rejects negative dimensions.
    """
    b = fast.b
    there = b.ne(fast.shape(place.position), b.null())
    ndim = b.field(b.types.i32, fast.tensor(place.position).object, NDIM)
    fast.require(b.or_(there, b.eq(ndim, b.i32(0))))


def _empty(fast: FastPath, position: Position) -> bool | None:
    """Return whether a tensor has no elements; None if that depends on the call."""
    tensor = fast.tensor(position)
    dims = tensor.dims.values()
    # Values are not compared: with some bindings `==` emits an operation (docs/mlir.md).
    if any(isinstance(dim, int) and dim == 0 for dim in dims):
        return True
    known = tensor.ndim is not None and all(isinstance(dim, int) for dim in dims)
    return False if known else None


def check_data(fast: FastPath, place: Place) -> None:
    """Check the number of elements, that data + byte_offset does not wrap, and data for NULL.

    ``data - 1 < data + byte_offset`` covers the last two: it is false if data is NULL, which only a
    tensor without elements may have.
    """
    b, t = fast.b, fast.b.types
    tensor = fast.tensor(place.position)
    waiting = fast.state.unsized, *fast.state.unaligned.values()
    if max(map(len, waiting)) == _TOGETHER:
        check_waiting(fast)
        b.continue_at_end()
    _check_size(fast, place.position)
    data = b.field(t.ptr, tensor.object, DL + abi.DLTENSOR_DATA)
    offset = b.field(t.i64, tensor.object, DL + abi.DLTENSOR_BYTE_OFFSET)
    address = tensor.data = b.element(data, offset)
    empty = _empty(fast, place.position)
    if empty:
        fast.require(b.uge(address, data))
        return
    fine = b.ult(b.offset(data, -1), address)
    if empty is None:
        fast.require_or(fine, lambda: fast.shared("has_no_data", [tensor.object]))
    else:
        fast.require(fine)


def check_alignment(fast: FastPath, place: Place, alignment: int) -> None:
    """Check the alignment of data + byte_offset, unless the tensor is empty."""
    empty = _empty(fast, place.position)
    if alignment == 1 or empty:
        return
    b, tensor = fast.b, fast.tensor(place.position)
    low = b.and_(b.to_int(fast.data(place.position)), b.i64(alignment - 1))
    aligned = b.eq(low, b.i64(0))
    if empty is None:
        fast.require_or(aligned, lambda: fast.shared("is_empty", [tensor.object]))
    else:
        fast.require(aligned)


def check_element_alignment(fast: FastPath, place: Place, alignments: Sequence[int]) -> None:
    """Check the address for the greatest alignment; in C, or the diagnosis, for its own.

    Tensors whose dtypes have one alignment wait for one comparison of all.
    """
    if _empty(fast, place.position):
        return
    if len(alignments) == 1:
        fast.state.unaligned.setdefault(alignments[0], []).append(place.position)
        return
    b, object_ = fast.b, fast.tensor(place.position).object
    low = b.and_(b.to_int(fast.data(place.position)), b.i64(alignments[-1] - 1))
    fast.require_or(b.eq(low, b.i64(0)), lambda: fast.shared("is_aligned", [object_]))


def _low_bits(fast: FastPath, waiting: Mapping[int, Sequence[Position]]) -> Value:
    """Return a number that is not 0 if an address of the waiting tensors is no multiple.

    The low bits are its high bits, so that the comparison of the sizes covers it. The addresses are
    put together here, as they are in registers for the kernel; an accumulator would take another.
    """
    b = fast.b
    numbers: list[Value] = []
    for alignment, positions in waiting.items():
        addresses = (b.to_int(fast.data(position)) for position in positions)
        together = functools.reduce(b.or_, addresses)
        numbers.append(b.shl(together, b.i64(65 - alignment.bit_length())))
    return functools.reduce(b.or_, numbers)


# ---- strides


_HELPERS: Final = {"C": "contiguous", "F": "column_major"}


def check_layout(fast: FastPath, place: Place, order: str) -> None:
    """Compare each stride with its product, unless the pointer is NULL; C does the rest.

    NULL strides mean row-major, which with one dimension is column-major too.
    """
    b = fast.b
    tensor = fast.tensor(place.position)

    def look() -> Value:
        return fast.shared(_HELPERS[order], [tensor.object])

    if tensor.ndim is not None:
        wanted = contiguous(fast, list(tensor.dims.values()), order)
        _check_strides(fast, fast.given_strides(place.position), wanted, order, look)
    elif order == "C":
        fast.require_or(b.is_null(fast.given_strides(place.position)), look)
    else:
        fast.require(look())


def is_contiguous(fast: FastPath, position: Position) -> Value:
    """Return an i1: whether the strides are NULL, or row-major where they matter."""
    b, t = fast.b, fast.b.types
    tensor = fast.object(position)
    is_null = b.is_null(b.field(t.ptr, tensor, DL + abi.DLTENSOR_STRIDES))
    given, ready = b.new_block(), b.new_block(t.i1)
    b.cond_br(is_null, ready, given, (is_null,))
    b.block = given
    b.br(ready, fast.shared("contiguous", [tensor]))
    b.block = ready
    return ready.arguments[0]


def contiguous(fast: FastPath, dims: list[Value | int], order: str) -> list[Value | int]:
    """Compute the contiguous strides of dimensions in an order."""
    axes = range(len(dims))
    if order == "C":
        return [fast.product(dims[axis + 1 :]) for axis in axes]
    # Reversed, so that equal products are found.
    return [fast.product(dims[:axis][::-1]) for axis in axes]


def _check_strides(
    fast: FastPath, given: Value, wanted: list[Value | int], order: str, look: Callable[[], Value]
) -> None:
    b, t = fast.b, fast.b.types
    axes = range(len(wanted))
    first, following, odd = b.new_block(), b.new_block(), b.new_block(cold=True)
    null_fits = order == "C" or len(wanted) == 1
    b.cond_br(b.is_null(given), following if null_fits else odd, first)
    b.block = first
    last = 0 if order == "C" else len(wanted) - 1
    for axis in reversed(axes) if order == "C" else axes:
        stride = b.field(t.i64, given, 8 * axis)
        equal = b.eq(stride, fast.value(wanted[axis]))
        if axis == last:
            b.cond_br(equal, following, odd, likely=True)
        else:
            after = b.new_block_after(b.block)
            b.cond_br(equal, after, odd, likely=True)
            b.block = after
    b.block = odd
    b.cond_br(look(), following, fast.slow)
    b.block = following


def stride(fast: FastPath, place: Place) -> Value:
    """Load a stride at the cursor; NULL strides are row-major."""
    assert place.index is not None
    return fast.b.field(fast.b.types.i64, strides(fast, place.position), 8 * place.index)


def strides(fast: FastPath, position: Position) -> Value:
    """Return a pointer to the strides of a tensor; NULL ones are written out on the stack."""
    record = fast.tensor(position)
    if record.strides is None:
        assert record.ndim is not None
        tensor, given = fast.object(position), fast.given_strides(position)
        record.strides = written_strides(fast, tensor, given, record.ndim)
    return record.strides


def written_strides(fast: FastPath, tensor: Value, given: Value, ndim: int) -> Value:
    """Return a pointer to strides; write out row-major ones on the stack if it is NULL."""
    b = fast.b
    operands = [tensor, b.alloca(b.types.i64, ndim)]
    there = b.ne(given, b.null())
    return fast.usually(there, given, lambda: fast.shared("row_major_strides", operands))


def check_packed(fast: FastPath, place: Place, limit: int) -> None:
    """Require that the stored value does not overflow when it is multiplied."""
    b = fast.b
    stored = stride(fast, place) if place.part is Part.STRIDES else fast.dim(place)
    shifted = b.add(stored, b.i64(limit))
    fast.require(b.ule(shifted, b.i64(2 * limit)))


# ---- sizes


_INT32_MAX: Final = 2**31 - 1
_TOGETHER: Final = 16
"""The number of tensors whose sizes and addresses are checked together. Waiting values occupy
registers: with more tensors, LLVM's time grows with the square of their number."""


def _check_size(fast: FastPath, position: Position) -> None:
    """Check the size of a tensor, or put that off to check several tensors together."""
    tensor, unsized = fast.tensor(position), fast.state.unsized
    if tensor.ndim is None:
        fast.require(fast.shared("numel_fits", [tensor.object]))
    elif tensor.ndim:
        unsized.append(position)


def check_waiting(fast: FastPath) -> None:
    """Check the sizes and the addresses of the tensors that wait for it.

    The diagnosis looks at calls whose addresses are no multiples, as those of tensors without
    elements may be. It needs no object, which would occupy a register until here.
    """
    waiting, fast.state.unaligned = fast.state.unaligned, {}
    low = functools.partial(_low_bits, fast, waiting) if waiting else None
    if not _check_sizes(fast, low) and low is not None:
        fast.require_unless_fine(fast.b.eq(low(), fast.b.i64(0)))


def _check_sizes(fast: FastPath, low: Callable[[], Value] | None) -> bool:
    """Check that no dimension of the waiting tensors is negative, and that their sizes fit int64.

    If the bitwise or of all dimensions is small as an unsigned number, no product can overflow;
    otherwise each tensor is checked in C. Entries of Shapes, which must not be negative, and
    dimensions that must fit int32, are checked with them. Return whether ``low`` has been compared
    with 0, too.
    """
    b = fast.b
    positions, fast.state.unsized = fast.state.unsized, []
    entries, fast.state.unsigned = fast.state.unsigned, []
    narrow, fast.state.narrow = fast.state.narrow, []
    distinct: dict[tuple[object, ...], Position] = {}
    dynamic: dict[int, Value] = {}
    bits = 63
    for position in positions:
        dims = list(fast.tensor(position).dims.values())
        values = [dim for dim in dims if not isinstance(dim, int)]
        static = math.prod(dim for dim in dims if isinstance(dim, int))
        if not values:
            if static >= 2**63:
                fast.require(b.i1(False))  # no call has so many elements
            continue
        key = tuple(sorted(map(str, (d if isinstance(d, int) else f"#{id(d)}" for d in dims))))
        distinct[key] = position  # the last of equal ones: its object is kept for a shorter time
        dynamic.update({id(value): value for value in values})
        bits = min(bits, _bits_each(static, len(values)))
    if not distinct:
        _check_signs(fast, entries, narrow)
        return False
    dynamic.update({id(value): value for value in (*entries, *narrow)})
    together = functools.reduce(b.or_, dynamic.values())

    if bits == 63 and low is None and not narrow:
        small = b.sge(together, b.i64(0))
    else:
        together = together if low is None else b.or_(low(), together)
        # A larger number would take one more instruction, to load it.
        small = b.ule(together, b.i64(min((1 << bits) - 1, _INT32_MAX)))
    following, cold = b.new_block(), b.new_block(cold=True)
    b.cond_br(small, following, cold, likely=True)
    if any(len(position) > 1 for position in distinct):
        # An object in a tuple is not decoded again, and would occupy a register until here.
        fast.doubts.append((cold, following))
    else:
        b.block = cold
        fits = [fast.shared("numel_fits", [_object_again(fast, p)]) for p in distinct.values()]
        fast.require(functools.reduce(b.and_, fits))
        _check_signs(fast, entries, narrow)
        if low is None:
            b.br(following)
        else:
            fast.doubt(b.eq(low(), b.i64(0)), following)  # again: kept, it would take a register
    b.block = following
    return low is not None


def _check_signs(fast: FastPath, entries: list[Value], narrow: list[Value]) -> None:
    """Require that entries are not negative, and that the others fit int32, too."""
    b = fast.b
    if narrow:
        fast.require(b.ule(functools.reduce(b.or_, narrow), b.i64(_INT32_MAX)))
        entries = [each for each in entries if all(each is not other for other in narrow)]
    if entries:
        fast.require(b.sge(functools.reduce(b.or_, entries), b.i64(0)))


def _object_again(fast: FastPath, position: Position) -> Value:
    """Return the object of an argument that is a tensor; it is decoded again."""
    return call_support(fast.b, "tensor_object", [fast.b.offset(*fast.any_at(position))])


def _bits_each(static: int, dynamic: int) -> int:
    """Return how many bits each dynamic dimension may have, so that the product is below 2^63."""
    if static == 0:
        return 63
    return max(0, (63 - (static - 1).bit_length()) // dynamic)
