"""Tensors: *A tensor* of docs/checks.md, row by row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.spec import Dim, Tensor
from ffi_builder.spec.dtypes import DataType, parse_dtype
from ffi_builder.spec.tensors.devices import ANY
from tests.oracle.memory import AnyAt, TensorAt, read_i64s
from tests.oracle.objects import check_object_of
from tests.oracle.symbols import Symbols, Where, check_not_negative, check_packable
from tests.oracle.words import (
    INT64_MAX,
    Place,
    show_device,
    show_ints,
)

_WITH_ADDRESSES: Final = {
    abi.DEVICE_TYPES[name]
    for name in ("cpu", "cuda", "cuda_host", "cuda_managed", "rocm", "rocm_host", "oneapi")
}
"""The types of devices on which data are addresses for certain."""


@dataclass(frozen=True)
class Decoded:
    """The tensor as the kernel gets it, with sizes in the elements that the kernel counts.

    ``data`` has the byte offset added. The other fields are as they were given. An unchecked entry
    (None) of a packed tensor may wrap when it is multiplied; nothing uses it.
    """

    data: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    device_type: int
    device_id: int
    dtype: DataType
    address: int
    """The address of the ``DLTensor``."""

    @property
    def ndim(self) -> int:
        return len(self.shape)


Tensors = dict[str, Decoded]
"""The tensors that were present so far, by path, in the order of the checks."""


def check_tensor(
    param: Tensor, given: AnyAt, place: Place, symbols: Symbols, before: Tensors
) -> Decoded:
    """Check the tensor at ``given``, and return it decoded."""
    tensor = TensorAt(tensor_address(given, place))
    check_head(param, tensor, place, before)
    check_device(param, tensor, place, symbols, before)
    if tensor.shape == 0 and tensor.ndim:
        place.part("shape").wrong_value("a non-NULL pointer", "NULL")
    shape = read_i64s(tensor.shape, tensor.ndim)
    check_dimensions(param, shape, place.part("shape"), symbols)
    strides = check_strides(param, tensor, shape, place.part("strides"), symbols)
    if math.prod(shape) > INT64_MAX:
        expected = "a product of dimensions that fits int64"
        place.part("shape").wrong_value(expected, show_ints(shape))
    data = check_data(param, tensor, is_empty=0 in shape, place=place)
    return Decoded(
        data,
        tuple(wrapped(n * dimension_factor(param, axis)) for axis, n in enumerate(shape)),
        tuple(wrapped(n * stride_factor(param, axis)) for axis, n in enumerate(strides)),
        tensor.device_type,
        tensor.device_id,
        tensor.dtype,
        tensor.address,
    )


def tensor_address(given: AnyAt, place: Place) -> int:
    """Check kind and NULL, and return the address of the DLTensor."""
    if given.type_index != TypeIndex.DL_TENSOR_PTR:
        held = check_object_of(given, place, "Tensor", (TypeIndex.TENSOR,))
        return held.address + abi.OBJECT_SIZE
    if given.as_pointer == 0:
        place.wrong_value("a non-NULL object", "NULL")
    return given.as_pointer


def check_head(param: Tensor, tensor: TensorAt, place: Place, before: Tensors) -> None:
    """Check ndim, dtype and device type."""
    if param.any_rank:
        check_not_negative(place.part("ndim"), tensor.ndim)
    elif tensor.ndim != param.ndim:
        place.part("ndim").wrong_value(str(param.ndim), str(tensor.ndim))
    check_dtype(param, tensor.dtype, place.part("dtype"), before)
    if param.device != ANY and tensor.device_type != abi.DEVICE_TYPES[param.device]:
        got = show_device(tensor.device_type)
        place.part("device_type").wrong_value(param.device, got)


def check_dtype(param: Tensor, dtype: DataType, place: Place, before: Tensors) -> None:
    """Check the dtype: one of the parameter's, or that of the tensor that it is taken from."""
    dtypes = [parse_dtype(name) for name in param.element_dtypes]
    if len(dtypes) > 1 and isinstance(param.dtype, str):
        path = param.dtype.removesuffix(".dtype")
        if dtype != before[path].dtype:
            place.wrong_dtype(f"{before[path].dtype} (dtype of {path})", str(dtype))
    elif dtype not in dtypes:
        names = ", ".join(map(str, dtypes))
        expected = names if len(dtypes) == 1 else f"one of {names}"
        place.wrong_dtype(expected, str(dtype))


def check_device(
    param: Tensor, tensor: TensorAt, place: Place, symbols: Symbols, before: Tensors
) -> None:
    """Check the device id: the parameter's, or that of the first tensor on this device type."""
    device_id, place = tensor.device_id, place.part("device_id")
    if param.device_id is not None:
        symbols.check_entry(param.device_id, device_id, Where(place))
        return
    for path, earlier in before.items():
        if earlier.device_type == tensor.device_type:
            if device_id != earlier.device_id:
                expected = f"{earlier.device_id} (the device of {path})"
                place.wrong_value(expected, str(device_id))
            return


def check_dimensions(param: Tensor, shape: Sequence[int], place: Place, symbols: Symbols) -> None:
    entries: Sequence[Dim | None] = [None] * len(shape) if param.any_rank else param.dims
    for axis, (entry, stored) in enumerate(zip(entries, shape, strict=True)):
        at, factor = place.entry(axis), dimension_factor(param, axis)
        check_not_negative(at, stored)
        check_packable(at, stored, factor)
        symbols.check_entry(entry, stored * factor, Where(at))


def check_strides(
    param: Tensor, tensor: TensorAt, shape: Sequence[int], place: Place, symbols: Symbols
) -> list[int]:
    """Check the strides, and return them as stored."""
    strides = row_major(shape)
    shown = "NULL"
    if tensor.strides:
        strides = read_i64s(tensor.strides, len(shape))
        shown = show_ints(strides)
    layout = f" (shape={show_ints(shape)}, strides={shown})"
    free = [dimension == 1 or 0 in shape for dimension in shape]
    if param.order is not None:
        check_contiguous(param.order, shape, strides, place, layout)
        return strides
    for axis, entry in enumerate(param.stride_entries or ()):
        if entry is None:
            continue
        at, factor = place.entry(axis), stride_factor(param, axis)
        check_packable(at, strides[axis], factor)
        where = Where(at, in_strides=True, free=free[axis], layout=layout)
        symbols.check_entry(entry, strides[axis] * factor, where)
    return strides


def check_contiguous(
    order: str, shape: Sequence[int], strides: Sequence[int], place: Place, layout: str
) -> None:
    """Check strides that must be row-major ("C") or column-major ("F") and are constrained."""
    wanted = row_major(shape) if order == "C" else row_major(shape[::-1])[::-1]
    name = "row-major" if order == "C" else "column-major"
    for axis, dimension in enumerate(shape):
        is_free = dimension == 1 or 0 in shape
        if not is_free and strides[axis] != wanted[axis]:
            expected = f"{wanted[axis]} ({name} contiguous)"
            place.entry(axis).wrong_value(expected, f"{strides[axis]}{layout}")


def row_major(shape: Sequence[int]) -> list[int]:
    """Return row-major strides: the products of later dimensions, modulo 2^64."""
    return [wrapped(math.prod(shape[axis + 1 :])) for axis in range(len(shape))]


def check_data(param: Tensor, tensor: TensorAt, *, is_empty: bool, place: Place) -> int:
    """Check data and byte offset; return the address of the first element, which is never read."""
    data, offset = tensor.data, tensor.byte_offset
    address = data + offset
    if address >= 2**64:
        expected = "data + byte_offset within the address space"
        place.part("byte_offset").wrong_value(expected, f"{hex(data)} + {hex(offset)}")
    if is_empty:
        return address
    if data == 0:
        expected = f"a non-NULL pointer, as {place.path} has elements"
        place.part("data").wrong_value(expected, "NULL")
    got = f"{hex(address)} (aligned to {address & -address})"
    if param.data_alignment is not None:
        if address % param.data_alignment:
            why = f"(data_alignment of {place.path})"
            expected = f"an address aligned to {param.data_alignment} bytes {why}"
            place.part("data").wrong_value(expected, got)
    elif tensor.device_type in _WITH_ADDRESSES:
        alignment = element_alignment(tensor.dtype)
        if address % alignment:
            expected = f"an address aligned to {alignment} bytes, as elements of {place.path} are"
            place.part("data").wrong_value(expected, got)
    return address


def element_alignment(dtype: DataType) -> int:
    """Return the alignment of one lane, or of one part of a complex number, in bytes."""
    is_complex = dtype.code == abi.DTYPE_CODES["complex"]
    return {16: 2, 32: 4, 64: 8, 128: 16}.get(dtype.bits // 2 if is_complex else dtype.bits, 1)


def dimension_factor(param: Tensor, axis: int) -> int:
    """Return the factor from stored to counted elements of a dimension; 1 unless it is packed."""
    return param.packing if axis == param.packed_axis else 1


def stride_factor(param: Tensor, axis: int) -> int:
    """Return the factor from stored to counted elements of a stride; 1 for the packed dimension."""
    return 1 if axis == param.packed_axis else param.packing


WORD: Final = 2**64


def wrapped(value: int) -> int:
    """Return ``value`` modulo 2^64, as an int64."""
    return (value + WORD // 2) % WORD - WORD // 2
