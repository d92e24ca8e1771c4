"""Providers that call nothing, or a function with plain C arguments."""

from __future__ import annotations

from dataclasses import dataclass

from ffi_builder.ir import Block
from ffi_builder.providers.context import CallContext


@dataclass(frozen=True)
class NopCallProvider:
    """Calls nothing: a wrapper that only checks its arguments."""

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit nothing."""
        return current_block
