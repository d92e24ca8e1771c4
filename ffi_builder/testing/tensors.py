"""Checks of tensors, interpreted."""

from __future__ import annotations

import ctypes
import math
import struct
from dataclasses import replace
from typing import Final, TypeAlias, Union

from typing_extensions import assert_never

from ffi_builder import abi, spec
from ffi_builder.plan import steps as s
from ffi_builder.plan.messages import list_text
from ffi_builder.testing import memory as mem
from ffi_builder.testing.message import Mismatch, require, require_equal, show
from ffi_builder.testing.reading import Found

TensorStep: TypeAlias = Union[
    s.CheckNdim,
    s.CheckDType,
    s.CheckDeviceType,
    s.CheckSameDevice,
    s.CheckShapePointer,
    s.CheckDims,
    s.CheckNumel,
    s.CheckOffset,
    s.CheckData,
    s.CheckAlignment,
    s.CheckContiguous,
]

_DEVICES: Final = {code: name for name, code in abi.DEVICE_TYPES.items()}


def check_tensor(found: Found, step: TensorStep) -> None:
    """One check.

    Raises:
        Mismatch: it failed.
    """
    place = step.place
    match step:
        case s.CheckNdim(_, expected):
            require_equal(step, expected, mem.ndim(found.object(place)))
        case s.CheckDType():
            _check_dtype(found, step)
        case s.CheckDeviceType(_, device_type):
            came = found.tensor_i32(place, abi.DLTENSOR_DEVICE_TYPE)
            device = _DEVICES.get(came, f"device type {came}")
            require(came == step.code, step, expected_device=device_type, device=device)
        case s.CheckSameDevice():
            _check_same_device(found, step)
        case s.CheckShapePointer(_, any_rank):
            if not (any_rank and mem.ndim(found.object(place)) == 0):
                pointer = mem.read_u64(found.object(place) + mem.DL + abi.DLTENSOR_SHAPE)
                require(pointer != 0, step)
        case s.CheckDims():
            for axis, dim in enumerate(mem.dims(found.object(place))):
                if dim < 0:
                    raise Mismatch(replace(place, index=axis), step.words, {"got": str(dim)})
        case s.CheckNumel():
            dims = mem.dims(found.object(place))
            require(math.prod(dims) < 2**63, step, shape=list_text(dims))
        case s.CheckOffset():
            data, offset = found.data(place)
            require(data + offset < 2**64, step, address=hex(data), offset=hex(offset))
        case s.CheckData():
            require(found.data(place)[0] != 0 or found.is_empty(place), step, path=place.path)
        case s.CheckAlignment():
            _check_alignment(found, step)
        case s.CheckContiguous():
            _check_contiguous(found, step)
        case _:
            assert_never(step)


def _check_dtype(found: Found, step: s.CheckDType) -> None:
    tensor = found.object(step.place) + mem.DL + abi.DLTENSOR_DTYPE
    came = spec.DataType(*struct.unpack("<BBH", ctypes.string_at(tensor, 4)))
    require(came in step.dtypes, step, expected_dtype=step.text, text=step.text, dtype=str(came))


def _check_same_device(found: Found, step: s.CheckSameDevice) -> None:
    """With the first of the others that is there and on the same device type, if one is."""
    device_type = found.tensor_i32(step.place, abi.DLTENSOR_DEVICE_TYPE)
    for other in step.others:
        if other.position not in found.objects:
            continue
        if found.tensor_i32(other, abi.DLTENSOR_DEVICE_TYPE) == device_type:
            expected = found.tensor_i32(other, abi.DLTENSOR_DEVICE_ID)
            require_equal(step, expected, found.value(step.place), text=other.path)
            return


def _check_alignment(found: Found, step: s.CheckAlignment) -> None:
    address = sum(found.data(step.place))
    require(
        address % step.alignment == 0 or found.is_empty(step.place),
        step,
        expected=str(step.alignment),
        path=step.place.path,
        address=hex(address),
        alignment=str(address & -address),
    )


def _check_contiguous(found: Found, step: s.CheckContiguous) -> None:
    """Of one axis, or of all."""
    tensor = found.object(step.place)
    expected, came = mem.contiguous(mem.dims(tensor), step.order), mem.strides(tensor)
    axes = range(len(expected)) if step.place.index is None else [step.place.index]
    for axis in axes:
        place = replace(step.place, index=axis)
        if came[axis] != expected[axis] and not found.is_free(place):
            shown = {"expected": show(expected[axis]), "got": show(came[axis])}
            raise Mismatch(place, step.words, shown)
