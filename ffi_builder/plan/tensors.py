"""Plans the checks of one tensor, in the order of docs/checks.md."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ffi_builder import spec
from ffi_builder.plan import steps as s
from ffi_builder.plan.path import Part, Place
from ffi_builder.plan.values import ValuePlanner


def plan_tensor(
    planner: ValuePlanner, place: Place, tensor: spec.Tensor, *, optional: bool
) -> None:
    """Plan the header of a tensor, then shape, strides, size, offset, data and alignment."""
    _plan_header(planner, place, tensor, optional)
    if tensor.ndim or tensor.any_rank:
        planner.add(s.CheckShapePointer(place.at(Part.SHAPE), tensor.any_rank))
    for axis, dim in enumerate(tensor.dims):
        at = place.at(Part.SHAPE, axis)
        planner.add(s.ReadDim(at))
        if axis == tensor.packed_axis:
            at = replace(at, packing=tensor.packing)
            planner.add(s.CheckPacked(at))
        planner.plan_value(at, dim)
    _plan_strides(planner, place, tensor)
    planner.add(s.CheckData(place.at(Part.DATA)))
    if tensor.data_alignment is not None:
        planner.add(s.CheckAlignment(place.at(Part.DATA), tensor.data_alignment))


def _plan_header(planner: ValuePlanner, place: Place, tensor: spec.Tensor, optional: bool) -> None:
    """Plan the header. A given device id is a value like any other, and checked behind it."""
    ndim, device_id = place.at(Part.NDIM), place.at(Part.DEVICE_ID)
    device_type, same_device = None, None
    if tensor.device != spec.ANY:
        device_type = s.CheckDeviceType(place.at(Part.DEVICE_TYPE), tensor.device)
    others, certain = _candidates(planner.tensors, tensor.device)
    if tensor.device_id is None and others:
        same_device = s.CheckSameDevice(device_id, others, certain)
    planner.add(
        s.DecodeTensor(
            place,
            optional=optional,
            ndim=s.NotNegative(ndim) if tensor.any_rank else s.CheckNdim(ndim, tensor.ndim),
            dtype=_dtype(planner, place.at(Part.DTYPE), tensor),
            device_type=device_type,
            same_device=same_device,
        )
    )
    planner.tensors.append((device_id, tensor, not planner.in_optional))
    if tensor.device_id is not None:
        planner.plan_value(device_id, tensor.device_id)


def _dtype(
    planner: ValuePlanner, place: Place, tensor: spec.Tensor
) -> s.CheckDType | s.CheckSameDType:
    """Compare with the tensor that the dtype is taken from, if that may have one of several."""
    path = tensor.references.get("dtype")
    if path is None or len(tensor.dtypes) == 1:
        return s.CheckDType(place, tuple(map(spec.parse_dtype, tensor.element_dtypes)))
    others = (other for other, _, _ in planner.tensors if other.path == path)
    return s.CheckSameDType(place, next(others).at(Part.DTYPE))


def _candidates(
    tensors: list[tuple[Place, spec.Tensor, bool]], device: str
) -> tuple[tuple[Place, ...], bool]:
    """Return the tensors that may be the first on this device type, and whether that is certain."""
    found: list[Place] = []
    for place, tensor, given in tensors:
        other = tensor.device_type  # an argument takes it from no other
        if other == device or spec.ANY in (other, device):
            found.append(place)
            if given and other == device != spec.ANY:
                return tuple(found), len(found) == 1
    return tuple(found), False


def _plan_strides(planner: ValuePlanner, place: Place, tensor: spec.Tensor) -> None:
    entries = tensor.stride_entries
    strides = place.at(Part.STRIDES)
    if tensor.any_rank:
        if tensor.order is not None:
            planner.add(s.CheckLayout(strides, tensor.order, None))
        return
    if entries is None:
        if tensor.ndim:
            planner.add(s.CheckLayout(strides, tensor.order or "C", tensor.ndim))
        return
    for axis in range(tensor.ndim):
        at = place.at(Part.STRIDES, axis)
        if tensor.packing > 1 and axis != tensor.packed_axis and entries[axis] is not None:
            at = replace(at, packing=tensor.packing)
            planner.add(s.CheckPacked(at))
        planner.plan_value(at, entries[axis], free=True)


def plan_overlaps(planner: ValuePlanner) -> Iterator[s.CheckOverlap]:
    """Compare each tensor of ``no_overlap`` with all others, every pair once.

    The place of a list's elements stands for each of them. It is among its own others, unless the
    list has no two elements.
    """
    tensors = list(_comparable(planner))
    compared: set[Place] = set()
    for place, tensor, alone in tensors:
        if place.fixed_path not in planner.signature.no_overlap:
            continue
        if alone:
            compared.add(place)
        others = tuple((other, of) for other, of, _ in tensors if other not in compared)
        compared.add(place)
        if others:
            yield s.CheckOverlap(place, tensor, others)


def _comparable(planner: ValuePlanner) -> Iterator[tuple[Place, spec.Tensor, bool]]:
    """Yield the tensors that can share memory, and whether each is one tensor at most."""
    for place, tensor, _ in planner.tensors:
        if not spec.is_comparable(tensor):
            continue
        in_list = planner.first_elements.get(place)
        if in_list is None:
            yield place.at(Part.VALUE), tensor, True
        else:
            yield in_list.place.each, tensor, in_list.param.most < 2
