"""The checks of one tensor, in the order of design.md."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ffi_builder import spec
from ffi_builder.plan.place import Part, Place
from ffi_builder.plan.steps import (
    CheckAlignment,
    CheckContiguous,
    CheckData,
    CheckDeviceType,
    CheckDType,
    CheckNdim,
    CheckNumel,
    CheckOffset,
    CheckPacked,
    CheckSameDevice,
    CheckShapePointer,
    DecodeTensor,
    NotNegative,
    NotNull,
)

if TYPE_CHECKING:
    from ffi_builder.plan.make import Planner


def plan_tensor(planner: Planner, place: Place, tensor: spec.Tensor) -> None:
    """Kind; NULL; ndim; dtype; device; shape; strides; product; byte_offset; data; alignment."""
    planner.add(
        DecodeTensor(place),
        NotNull(place),
        CheckNdim(place.at(Part.NDIM), tensor.ndim),
        CheckDType(place.at(Part.DTYPE), spec.parse_dtype(tensor.element_dtype)),
        CheckDeviceType(place.at(Part.DEVICE_TYPE), tensor.device),
    )
    _plan_device_id(planner, place.at(Part.DEVICE_ID), tensor)
    if tensor.ndim:
        planner.add(CheckShapePointer(place.at(Part.SHAPE)))
    for axis, dim in enumerate(tensor.shape):
        at = place.at(Part.SHAPE, axis)
        planner.add(NotNegative(at))
        if axis == tensor.packed_axis:
            at = replace(at, packing=tensor.packing)
            planner.add(CheckPacked(at))
        planner.plan_value(at, dim)
    _plan_strides(planner, place, tensor)
    planner.add(
        CheckNumel(place.at(Part.SHAPE)),
        CheckOffset(place.at(Part.BYTE_OFFSET)),
        CheckData(place.at(Part.DATA)),
    )
    if tensor.data_alignment is not None:
        planner.add(CheckAlignment(place.at(Part.DATA), tensor.data_alignment))


def _plan_device_id(planner: Planner, place: Place, tensor: spec.Tensor) -> None:
    """The id given; without one, that of the first tensor with this device type."""
    first = planner.devices.setdefault(tensor.device, place)
    if tensor.device_id is not None:
        planner.plan_value(place, tensor.device_id)
    elif first != place:
        planner.add(CheckSameDevice(place, first))


def _plan_strides(planner: Planner, place: Place, tensor: spec.Tensor) -> None:
    entries = tensor.stride_entries
    for axis in range(tensor.ndim):
        at = place.at(Part.STRIDES, axis)
        if entries is None:
            planner.add(CheckContiguous(at))
            continue
        if tensor.packing > 1 and axis != tensor.packed_axis and entries[axis] is not None:
            at = replace(at, packing=tensor.packing)
            planner.add(CheckPacked(at))
        planner.plan_value(at, entries[axis], free=True)
