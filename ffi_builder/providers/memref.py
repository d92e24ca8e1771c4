"""Calling functions that take MLIR memrefs, expanded into scalars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.ir import Block, Value
from ffi_builder.providers.context import CallContext
from ffi_builder.providers.forward import (
    Argument,
    Entry,
    call,
    items,
    path_of,
    plain,
    scalar_arguments,
    shape_arguments,
)


@dataclass(frozen=True)
class MemRefCallProvider:
    """Calls a function lowered from ``func.func`` with memref parameters.

    A tensor of rank r becomes the 3 + 2r arguments of an expanded memref descriptor::

        ptr allocated, ptr aligned, i64 offset, i64 sizes[r], i64 strides[r]

    Both pointers are data + byte_offset (NULL for an absent tensor), and the offset is 0. All else
    is passed as by :class:`DirectCallProvider`. The layout is that of MLIR's conversion of memrefs
    to the LLVM dialect ("Target LLVM IR", default calling convention).

    Args:
        callee: the symbol to call; declared if the module has none of that name.
        args: what is passed, in which order; left out, every parameter that is no constant.

    Raises:
        BuildError: when attached, if a tensor may have any number of dimensions, the callee takes
            other arguments, or it returns something: a returned memref is memory that somebody
            would have to free.
    """

    callee: str
    args: Sequence[Entry] | None = field(default=None, kw_only=True)

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit the call."""
        arguments: list[Argument] = []
        for item in items(type(self).__name__, self.args, context):
            match plain(item):
                case spec.Tensor(any_rank=True) as tensor:
                    path = path_of(context, tensor)
                    raise BuildError(
                        f"{type(self).__name__}: {path!r} may have any number of dimensions, and "
                        f"a memref has a rank; pass its DLTensor* with args=['{path}.dltensor']"
                    )
                case spec.Tensor() as tensor:
                    arguments += [Argument(value) for value in descriptor(context, tensor)]
                case spec.Shape() as shape:
                    arguments += shape_arguments(context, shape)
                case _:
                    arguments += scalar_arguments(context, item)
        result = call(type(self).__name__, context, self.callee, arguments)
        if result is not None:
            raise BuildError(
                f"{type(self).__name__}: the callee @{self.callee} returns {result.type}; lower it "
                f"so that it writes to out-parameters (buffer-results-to-out-params with "
                f"modify-public-functions=1)"
            )
        return context.builder.block


def descriptor(context: CallContext, tensor: spec.Tensor) -> list[Value]:
    """Allocated and aligned pointer, offset, sizes, strides."""
    data = context.data(tensor)
    return [
        data,
        data,
        context.builder.i64(0),
        *context.shape(tensor, wide=True),
        *context.strides(tensor, wide=True),
    ]
