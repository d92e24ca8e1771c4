"""Calling CuTe's host functions: a tensor is one argument, ``{data, {shape, strides}}``."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.ir import Block, Value
from ffi_builder.providers.arguments import (
    Argument,
    arguments_of_items,
    scalar_arguments,
    shape_arguments,
)
from ffi_builder.providers.call import call, check_status
from ffi_builder.providers.context import CallContext, ModuleContext
from ffi_builder.providers.conventions import PerItem
from ffi_builder.providers.items import Entry, Item, items, path_of, plain
from ffi_builder.providers.provider import fields_key

_DEVICE_SPACE = 1
"""LLVM's address space of device memory, for NVPTX and AMDGPU."""
_SPACES = 1 << 24


@dataclass(frozen=True)
class NestedTensorCallProvider:
    """Calls a function that takes each tensor as one struct, as CuTe's host functions do.

    For ``x: Tensor([n, m, 4], …, strides=[s, 4, 1])`` on a GPU, with int32 ``n`` and ``m`` and an
    int64 ``s``, that is ``!llvm.struct<(ptr<1>, struct<(struct<(i32, i32)>, i64)>)>``: the data
    pointer, then shape and strides. Both hold only what is not an int: symbols in their own type,
    expressions, None and what is computed as i64. A single one is no struct but the scalar itself,
    and where there is none there is an empty struct. Of a contiguous tensor (strides None, ``"C"``
    or ``"F"``) the strides are there too, but for those that only ints determine.

    All else is passed as by :class:`DirectCallProvider`: of a Shape, each entry that is no int. An
    i32 that the callee returns is a status; not 0 is an error.

    Args:
        callee: the symbol to call; declared (as void) if the module has none of that name.
        args: items in the order in which they are passed; left out, every parameter but constants.
        address_space: of the data pointers; left out, 1, and 0 for tensors on the CPU.

    Raises:
        BuildError: when attached, if the callee is in the module and takes other arguments, or a
            tensor may be on any device and no address space is given.
    """

    callee: str
    args: Sequence[Entry] | None = field(default=None, kw_only=True)
    address_space: int | None = field(default=None, kw_only=True)
    trusted: ClassVar[bool] = True
    borrows_tensors: ClassVar[bool] = True

    def cache_key(self, context: ModuleContext) -> Hashable | None:
        """Return the fields."""
        return fields_key(self)

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit the call."""
        name, space = type(self).__name__, self.address_space
        if space is not None and (type(space) is not int or not 0 <= space < _SPACES):
            raise BuildError(
                f"{name}: address_space: expected 0 to {_SPACES - 1} but got {space!r}"
            )
        found = items(name, self.args, context)
        arguments = arguments_of_items(found, context, self.arguments_of)
        status = call(name, context, self.callee, arguments)
        check_status(context, self.callee, status)
        return context.builder.block

    def arguments_of(self, context: CallContext, item: Item) -> list[Argument]:
        """Return the arguments that one entry of ``args=`` is passed as."""
        match plain(item):
            case spec.Tensor(any_rank=True) as tensor:
                return [Argument(context.dltensor(tensor))]
            case spec.Tensor() as tensor:
                return [Argument(self._tensor(context, tensor))]
            case spec.Shape() as shape:
                return shape_arguments(context, shape)
            case _:
                return scalar_arguments(context, item)

    def _tensor(self, context: CallContext, tensor: spec.Tensor) -> Value:
        b = context.builder
        layout = b.pack([_nested(context, values) for values in dynamic_layout(context, tensor)])
        return b.pack([self._data(context, tensor), layout])

    def _data(self, context: CallContext, tensor: spec.Tensor) -> Value:
        b, data, space = context.builder, context.data(tensor), self.address_space
        if space is None and tensor.device == spec.ANY:
            path = path_of(context, tensor)
            raise BuildError(
                f"{type(self).__name__}: {path!r} may be on any device, so say which address space "
                f"its pointer is of: address_space=0, or 1 for device memory"
            )
        if space is None:
            space = 0 if tensor.device == "cpu" else _DEVICE_SPACE
        # No addrspacecast: not every backend has one between these.
        return b.to_pointer(b.to_int(data), space) if space else data


def dynamic_layout(context: CallContext, tensor: spec.Tensor) -> list[list[Value]]:
    """Return the entries of a tensor's shape, and those of its strides, that are not ints."""
    return [
        _dynamic(tensor.dims, context.shape(tensor)),
        _dynamic(_known_strides(tensor), context.strides(tensor)),
    ]


def _dynamic(entries: Sequence[spec.Dim | None], values: list[Value]) -> list[Value]:
    """Return the values of the entries that are not ints."""
    known = zip(entries, values, strict=True)
    return [value for entry, value in known if not isinstance(entry, int)]


def _known_strides(tensor: spec.Tensor) -> Sequence[spec.Dim | None]:
    """Return the strides; for a contiguous tensor, 1 for any that is an int, and else None."""
    if tensor.stride_entries is not None:
        return tensor.stride_entries
    column_major = tensor.order == "F"
    known: list[spec.Dim | None] = []
    for axis in range(tensor.ndim):
        inner = tensor.dims[:axis] if column_major else tensor.dims[axis + 1 :]
        known.append(1 if all(isinstance(dim, int) for dim in inner) else None)
    return known


def _nested(context: CallContext, values: list[Value]) -> Value:
    """Return a struct of the values, or the value itself if it is the only one."""
    return values[0] if len(values) == 1 else context.builder.pack(values)


CONVENTION: Final = PerItem("NestedTensorCallProvider", NestedTensorCallProvider("").arguments_of)
