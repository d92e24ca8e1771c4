"""Providers that call nothing, or a function with plain C arguments."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final

from ffi_builder import spec
from ffi_builder.ir import Block
from ffi_builder.providers.arguments import (
    Argument,
    arguments_of_items,
    scalar_arguments,
    shape_arguments,
)
from ffi_builder.providers.call import call
from ffi_builder.providers.context import CallContext, ModuleContext
from ffi_builder.providers.conventions import PerItem
from ffi_builder.providers.items import Entry, Item, items, plain
from ffi_builder.providers.provider import fields_key


@dataclass(frozen=True)
class NopCallProvider:
    """Calls nothing: a wrapper that only checks its arguments."""

    forwards: ClassVar[bool] = False
    trusted: ClassVar[bool] = True
    borrows_tensors: ClassVar[bool] = True

    def cache_key(self, context: ModuleContext) -> Hashable:
        """All wrappers of a signature are equal."""
        return ()

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit nothing."""
        return current_block


@dataclass(frozen=True)
class DirectCallProvider:
    """Calls a function with plain C arguments: ``void saxpy(float a, float* x, float* y, int n)``.

    Passed are, in order: for a tensor its data pointer, or the ``DLTensor*`` if it may have any
    number of dimensions; a symbol or Choice in its own type (bool as a C bool, handle as a
    pointer); a stream, pointer or object as a pointer; a DType as an int32 and a Device as an int64
    (as C passes a ``DLDataType`` and a ``DLDevice``); for a String or Bytes the pointer and
    the length, an int64; for a Shape its entries that are not ints; for a tuple or struct its
    elements; an expression or int of ``args=`` as an int64. Absent values are NULL or 0. The
    callee's result is ignored unless the signature returns scalars.

    Args:
        callee: the symbol to call; declared if the module has none of that name.
        args: items in the order in which they are passed; left out, every parameter but constants.

    Raises:
        BuildError: when attached, if the callee is in the module and takes other arguments.
    """

    callee: str
    args: Sequence[Entry] | None = field(default=None, kw_only=True)
    trusted: ClassVar[bool] = True
    borrows_tensors: ClassVar[bool] = True

    def cache_key(self, context: ModuleContext) -> Hashable | None:
        """Return the fields."""
        return fields_key(self)

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit the call."""
        name = type(self).__name__
        found = items(name, self.args, context)
        arguments = arguments_of_items(found, context, self.arguments_of)
        call(name, context, self.callee, arguments)
        return context.builder.block

    def arguments_of(self, context: CallContext, item: Item) -> list[Argument]:
        """Return the arguments that one entry of ``args=`` is passed as."""
        match plain(item):
            case spec.Tensor(any_rank=True) as tensor:
                return [Argument(context.dltensor(tensor))]
            case spec.Tensor() as tensor:
                return [Argument(context.data(tensor))]
            case spec.Shape() as shape:
                return shape_arguments(context, shape)
            case _:
                return scalar_arguments(context, item)


CONVENTION: Final = PerItem("DirectCallProvider", DirectCallProvider("").arguments_of)
