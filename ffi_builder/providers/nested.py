"""Calling CuTe's host functions: a tensor is one argument, ``{data, {shape, strides}}``."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import field
from typing import ClassVar

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.ir import Block, Value
from ffi_builder.providers.arguments import (
    Argument,
    Entry,
    Item,
    c_arguments,
    convert_items,
    path_of,
)
from ffi_builder.providers.call import call, check_status
from ffi_builder.providers.context import CallContext, ModuleContext
from ffi_builder.providers.provider import fields_key
from ffi_builder.records import dataclass

_DEVICE_SPACE = 1
"""LLVM's address space of device memory, for NVPTX and AMDGPU."""
_SPACES = 1 << 24


@dataclass(frozen=True)
class NestedTensorCallProvider:
    """Calls a function that takes each tensor as one struct, as CuTe's host functions do.

    For ``x: Tensor([n, m, 4], …, strides=[s, 4, 1])`` on a GPU, with int32 ``n`` and ``m`` and an
    int64 ``s``, the struct is ``!llvm.struct<(ptr<1>, struct<(struct<(i32, i32)>, i64)>)>``: the
    data pointer, then shape and strides. Shape and strides leave out ints. Symbols have their own
    type; expressions, None and computed strides are i64. A single entry is the scalar itself, and
    no entry is an empty struct. A contiguous tensor (strides None, ``"C"`` or ``"F"``) has computed
    strides, except those that only ints determine.

    All other items are passed as :class:`DirectCallProvider` passes them. If the callee returns an
    i32, it is a status: any value other than 0 raises an error.

    Args:
        callee: the symbol to call; declared (as void) if the module has none of that name.
        args: the items to pass, in order; left out, every parameter except constants.
        address_space: LLVM's address space of the data pointers; left out, 0 for tensors on the
            CPU and 1 for all others.

    Raises:
        BuildError: when attached, if the callee is in the module and takes other arguments, or if
            a tensor may be on any device and no address space is given.

    Examples:
        >>> from ffi_builder import providers, spec, testing
        >>> n, m = spec.dims("n m", "int32")
        >>> x = spec.Tensor("x", [n, m, 4], "float16", device_type="cuda")
        >>> provider = providers.NestedTensorCallProvider("softmax")
        >>> module = testing.emit(spec.Signature("softmax", [x]), provider, whole=True)
        >>> next(line.strip() for line in module.splitlines() if "func @softmax" in line)
        'llvm.func @softmax(!llvm.struct<(ptr<1>, struct<(struct<(i32, i32)>, i64)>)>)'
    """

    callee: str
    args: Sequence[Entry] | None = field(default=None, kw_only=True)
    address_space: int | None = field(default=None, kw_only=True)
    trusted: ClassVar[bool] = True
    borrows_tensors: ClassVar[bool] = True

    def cache_key(self, context: ModuleContext) -> Hashable | None:
        """Return the fields."""
        return fields_key(self, context)

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit the call."""
        name, space = type(self).__name__, self.address_space
        if space is not None and (type(space) is not int or not 0 <= space < _SPACES):
            raise BuildError(
                f"{name}: address_space: expected 0 to {_SPACES - 1} but got {space!r}"
            )
        arguments = convert_items(name, self.args, context, self.arguments_of)
        status = call(name, context, self.callee, arguments)
        check_status(context, self.callee, status)
        return context.builder.block

    def arguments_of(self, context: CallContext, item: Item) -> list[Argument]:
        """Return the arguments for one entry of ``args=``."""
        return c_arguments(context, item, self._tensor)

    def _tensor(self, context: CallContext, tensor: spec.Tensor) -> list[Value]:
        if tensor.any_rank:
            return [context.dltensor(tensor)]
        b = context.builder
        layout = b.pack([_nested(context, values) for values in dynamic_layout(context, tensor)])
        return [b.pack([self._data(context, tensor), layout])]

    def _data(self, context: CallContext, tensor: spec.Tensor) -> Value:
        b, data, space = context.builder, context.data(tensor), self.address_space
        if space is None and tensor.device == spec.ANY:
            path = path_of(context, tensor)
            raise BuildError(
                f"{type(self).__name__}: {path!r} may be on any device, so give the address space "
                f"of its pointer: address_space=0, or 1 for device memory"
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
