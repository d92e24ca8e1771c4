"""A provider that wraps another one, and calls the kernel with Python's GIL held.

::

    %held = llvm.call @__ffi_builder_shared_hold_gil(%python, %call) : … -> i1
    …                                                          // RuntimeError without Python
    …                                                          // the inner provider
    %status = llvm.call @__ffi_builder_shared_release_gil(%python, %call, %zero) : … -> i32
    …                                                          // Python's error, if one is set
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar, Final

from ffi_builder.ir import Block
from ffi_builder.ir.checking import call_support
from ffi_builder.protocol import PREFIX
from ffi_builder.providers.context import CallContext, ModuleContext, free_copies
from ffi_builder.providers.provider import Around, CallProvider
from ffi_builder.records import dataclass

_PYTHON: Final = f"{PREFIX}python"
_SIZE: Final = 128
"""The size of ``Python`` in support/python.c."""


@dataclass(frozen=True)
class HoldGil(Around):
    """Wraps a provider whose kernel uses Python, as a Cython function without ``nogil`` does.

    The call takes the GIL, also if the caller holds it. A Python error that the kernel has set is
    the error of the call, whatever the kernel returns.
    """

    provider: CallProvider
    holds_gil: ClassVar[bool] = True

    def cache_key(self, context: ModuleContext) -> Hashable | None:
        """Return the inner provider's key."""
        return self._inner.cache_key(context)

    def prepare(self, context: ModuleContext) -> None:
        """Prepare the inner provider, and add the variable with the addresses of Python."""
        super().prepare(context)
        if _PYTHON not in context.symbols:
            context.symbols.variable(_PYTHON, bytes(_SIZE), align=8)

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit the call between taking the GIL and giving it back, also where the call fails."""
        b = context.builder
        t = b.types
        operands = [b.address_of(_PYTHON), b.alloca(t.i64)]
        held = call_support(b, "hold_gil", operands)
        name = self.callee or context.fn_name
        b.check(held, "RuntimeError", f"{name} needs Python, which does not run in this process")
        before, here, failed = b.cleanup, b.block, b.new_block(t.i32, cold=True)
        b.block = failed
        b.ret(call_support(b, "release_gil", [*operands, failed.arguments[0]]))
        b.block, b.cleanup = here, failed
        b.block = self.provider(here, context)
        free_copies(context)
        b.cleanup = before
        status = call_support(b, "release_gil", [*operands, b.i32(0)])
        with b.when(b.ne(status, b.i32(0)), cold=True):
            b.ret(status)
        return b.block
