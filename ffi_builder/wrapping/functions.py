"""Functions of TVM-FFI that exist in this process, for which a signature checks more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ffi_builder import packed
from ffi_builder.extending import dataclass
from ffi_builder.ir import Block
from ffi_builder.providers import CallContext, PackedCallProvider
from ffi_builder.runtime.extending import AddressSource, Item, LlvmSource

if TYPE_CHECKING:
    from ffi_builder.extending import Entry

_CLASS = "tvm_ffi.core.Function"


def is_function(source: object) -> bool:
    """Return whether a source is a ``tvm_ffi.Function``."""
    return any(f"{each.__module__}.{each.__name__}" == _CLASS for each in type(source).__mro__)


@dataclass(frozen=True)
class TvmFunction:
    """A ``tvm_ffi.Function``, called by the address of its object."""

    function: Any

    def provider(self, name: str, args: Sequence[Entry] | None) -> FunctionCallProvider:
        """Return what calls it for the signature of a name."""
        return FunctionCallProvider(f"__ffi_builder_function_of_{name}", args)

    def items(self, name: str, symbol: str) -> list[Item]:
        """Return code that defines `symbol` to return the object, and what keeps the object.

        The name of the latter is one of no code: only the error of an export has it.
        """
        address = self.function.__chandle__()
        text = (
            f"define ptr @{symbol}() {{\n  %f = inttoptr i64 {address} to ptr\n  ret ptr %f\n}}\n"
        )
        return [LlvmSource(text), AddressSource(f"{name} of TVM-FFI", address, self.function)]


@dataclass(frozen=True)
class FunctionCallProvider:
    """Passes the arguments to the function that ``symbol`` returns, as PackedCallProvider does."""

    symbol: str
    args: Sequence[Entry] | None

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit the call."""
        b = context.builder
        context.symbols.declare(self.symbol, b.types.ptr, [])
        function = packed.FunctionObject(b.call_value(self.symbol, [], b.types.ptr))
        return PackedCallProvider(function, args=self.args)(current_block, context)
