"""A small IR builder for any MLIR Python distribution. No other package here imports MLIR."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ffi_builder.ir.checking import CheckingBuilder
from ffi_builder.ir.protocols import Block, Module, Value
from ffi_builder.ir.symbols import Symbols
from ffi_builder.ir.types import Types
from ffi_builder.lazy import lazy

if TYPE_CHECKING:
    from ffi_builder.addons import PlainModule as PlainModule

__all__ = ["Block", "CheckingBuilder", "Module", "Symbols", "Types", "Value"]

__getattr__, __dir__ = lazy(__name__, {}, __all__)
