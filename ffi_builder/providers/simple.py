"""Providers that call nothing, or a function with plain C arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ffi_builder import spec
from ffi_builder.ir import Block
from ffi_builder.providers.context import CallContext
from ffi_builder.providers.forward import (
    Argument,
    Entry,
    call,
    items,
    scalar_argument,
    shape_arguments,
)


@dataclass(frozen=True)
class NopCallProvider:
    """Calls nothing: a wrapper that only checks its arguments."""

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit nothing."""
        return current_block


@dataclass(frozen=True)
class DirectCallProvider:
    """Calls a function with plain C arguments: ``void saxpy(float a, float* x, float* y, int n)``.

    Passed are, in order: of a tensor its data pointer; a symbol in its own type (bool as a C bool,
    handle as a pointer); a stream or pointer as a pointer; of a Shape its entries that are not
    ints, of a tuple its elements; an expression or int of ``args=`` as an int64. The callee's
    result is not looked at.

    Args:
        callee: the symbol to call; declared if the module has none of that name.
        args: what is passed, in which order; left out, every parameter that is no constant.

    Raises:
        BuildError: when attached, if the callee is in the module and takes other arguments.
    """

    callee: str
    args: Sequence[Entry] | None = field(default=None, kw_only=True)

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit the call."""
        arguments: list[Argument] = []
        for item in items(type(self).__name__, self.args, context):
            if isinstance(item, spec.Tensor):
                arguments.append(Argument(context.data(item)))
            elif isinstance(item, spec.Shape):
                arguments += shape_arguments(context, item)
            else:
                arguments.append(scalar_argument(context, item))
        call(type(self).__name__, context, self.callee, arguments)
        return context.builder.block
