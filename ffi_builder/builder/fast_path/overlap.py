"""Checks on the fast path that tensors do not share memory.

Two contiguous tensors ``x`` and ``y`` of known rank are apart where both of these hold::

    size(x) <= (y - x) >> log2(itemsize)      and      size(y) <= (x - y) >> log2(itemsize)

``x`` and ``y`` are addresses, and sizes are numbers of elements; the arithmetic is unsigned and
modulo 2^64. If ``x`` is the lower address, the first condition says that ``x`` ends before ``y``
begins, and the second is true unless ``y`` leaves the address space. No product overflows, as only
the difference is scaled. An absent tensor is at NULL, where no other tensor is.

For all other pairs, C computes the first and last address of each tensor, once. If neither test
finds two tensors apart, C decides: one of them may be empty, or not comparable.

C compares lists. It compares the elements with a tensor one by one. For comparisons with another
list or with one another, the elements are sorted by address, once.
"""

from __future__ import annotations

from typing import TypeAlias

from ffi_builder import spec
from ffi_builder.builder.fast_path.context import FastPath
from ffi_builder.builder.fast_path.state import Position
from ffi_builder.ir import Block, Value
from ffi_builder.ir.checking import call_support
from ffi_builder.plan import Part, Place, Plan
from ffi_builder.plan import steps as s
from ffi_builder.spec.dtypes import parse_dtype

_Tensor: TypeAlias = "tuple[Place, spec.Tensor]"


def check_overlap(fast: FastPath, step: s.CheckOverlap) -> None:
    """Require that the tensor, or each element of the list, shares no memory with the others."""
    one = (step.place, step.tensor)
    for other in step.others:
        if step.place.is_each or other[0].is_each:
            fast.b.require(_lists_separate(fast, step.place, other[0]), fast.overlapping)
            continue
        both = [fast.object_at(place.position) for place, _ in (one, other)]
        check = _check_sizes if _has_size(one[1]) and _has_size(other[1]) else _check_extents
        cold = fast.b.new_block(cold=True)
        check(fast, one, other, cold)
        _decide_in(fast, cold, both)


def sorted_lists(plan: Plan) -> frozenset[Position]:
    """Return the positions of the lists that are compared with a list, maybe themselves."""
    positions: set[Position] = set()
    for step in plan.every_step:
        if isinstance(step, s.CheckOverlap) and step.place.is_each:
            lists = [other for other, _ in step.others if other.is_each]
            positions.update(place.position[:-1] for place in (step.place, *lists) if lists)
    return frozenset(positions)


def _lists_separate(fast: FastPath, one: Place, other: Place) -> Value:
    """Return whether a list shares no byte with another list or tensor, or within itself."""
    if one == other:
        return fast.shared("each_apart", _memory(fast, one))
    if one.is_each and other.is_each:
        return fast.shared("lists_apart", [*_memory(fast, one), *_memory(fast, other)])
    in_list, tensor = (one, other) if one.is_each else (other, one)
    objects = [fast.object_at(at) for at in (in_list.position[:-1], tensor.position)]
    return fast.shared("list_apart", objects)


def _memory(fast: FastPath, each: Place) -> list[Value]:
    """Return the address and the number of a list's sorted extents."""
    record = fast.tensor_list(each.position[:-1])
    assert record.extents is not None, "one of sorted_lists"
    if record.sorted is None:
        operands = [record.object, record.length, record.extents]
        record.sorted = call_support(fast.b, "sort_extents", operands)
    return [record.extents, record.sorted]


def _decide_in(fast: FastPath, cold: Block, both: list[Value]) -> None:
    """Let C decide in the cold block; go on at the cursor."""
    b = fast.b
    following = b.block
    b.block = cold
    b.cond_br(fast.shared("apart", both), following, fast.overlapping)
    b.block = following


def _has_size(tensor: spec.Tensor) -> bool:
    """Return whether the tensor is contiguous and of known rank."""
    return tensor.order is not None and not tensor.any_rank


def _check_sizes(fast: FastPath, one: _Tensor, other: _Tensor, cold: Block) -> None:
    """Go to the cold block unless each of two contiguous tensors ends before the other begins."""
    b = fast.b
    first, second = (b.to_int(fast.data(place.position)) for place, _ in (one, other))
    # Both are computed here: code in the block between the branches would not dominate the rest.
    size, other_size = _size(fast, *one), _size(fast, *other)
    b.require(b.ule(size, _room(fast, one[1], b.sub(second, first))), cold)
    b.require(b.ule(other_size, _room(fast, other[1], b.sub(first, second))), cold)


def _room(fast: FastPath, tensor: spec.Tensor, distance: Value) -> Value:
    """Return a lower bound of the elements that fit into a distance of bytes."""
    bits = max(parse_dtype(dtype).total_bits for dtype in tensor.element_dtypes)
    shift = ((bits + 7) // 8 - 1).bit_length()
    return fast.b.lshr(distance, fast.b.i64(shift)) if shift else distance


def _size(fast: FastPath, place: Place, tensor: spec.Tensor) -> Value:
    """Return the number of stored elements."""
    for axis in range(tensor.ndim):
        fast.dim(place.at(Part.SHAPE, axis))  # after an Optional, read it again
    dims = fast.tensor(place.position).dims
    ordered = [dims[axis] for axis in range(tensor.ndim)]
    return fast.value(fast.product(ordered if tensor.order == "C" else ordered[::-1]))


def _check_extents(fast: FastPath, one: _Tensor, other: _Tensor, cold: Block) -> None:
    """Go to the cold block if the extents of two tensors meet."""
    b, t = fast.b, fast.b.types
    ends = [_ends(fast, place.position) for place, _ in (one, other)]
    (first, last), (start, end) = ((b.load(t.i64, at), b.field(t.i64, at, 8)) for at in ends)
    b.require(b.or_(b.ult(last, start), b.ult(end, first)), cold)


def _ends(fast: FastPath, position: Position) -> Value:
    """Return the stack slot with the first and the last address of a tensor."""
    record = fast.tensor(position)
    if record.ends is None:
        record.ends = fast.b.alloca(fast.b.types.i64, 2)
        fast.shared("extent", [fast.object_at(position), record.ends])
    return record.ends
