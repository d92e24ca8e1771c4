"""A small builder of LLVM-dialect operations for any MLIR Python distribution.

The builder has one explicit cursor (``b.block``), and takes and returns plain values. Names of
operations say the signedness. The bindings' thread-local context and location are not used::

    size = b.field(b.types.i64, cell, 32)
    with b.when(b.ne(size, b.i64(0))):
        b.call("visit", [cell], b.types.void)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ffi_builder.ir.operations import Flow, Memory
from ffi_builder.ir.protocols import Attribute, Block, Operation, Type, Value
from ffi_builder.ir.symbols import Symbols
from ffi_builder.ir.types import not_values


class Builder(Memory, Flow):
    """Appends operations at the end of a block.

    Attributes:
        types: types and attributes of the module's context.
        symbols: the symbols of the module, to declare and define more.
        function, block, location: where operations are appended, and their location.

    Examples:
        A function that squares an integer:

        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder import ir
        >>> from ffi_builder.ir.builder import Builder
        >>> from ffi_builder.ir.distribution import of_module
        >>> module = mlir.Module.parse("", mlir.Context())
        >>> types = ir.Types(of_module(module).ir, module.context)
        >>> symbols = ir.Symbols(types, module, mlir.Location.unknown(module.context))
        >>> b = Builder.define(symbols, "square", types.i64, [types.i64], "external")
        >>> [x] = b.entry.arguments
        >>> b.ret(b.mul(x, x))
        >>> print(b.function)
        llvm.func @square(%arg0: i64) -> i64 {
          %0 = llvm.mul %arg0, %arg0 : i64
          llvm.return %0 : i64
        }
    """

    def __init__(self, symbols: Symbols, function: Operation, block: Block, location: Any) -> None:
        super().__init__(symbols.types, function, block, location)
        self.symbols = symbols
        self.references: list[Operation] = []
        """The appended operations that call a symbol or take its address."""

    @staticmethod
    def define(
        symbols: Symbols,
        name: str,
        result: Type,
        parameters: Sequence[Type],
        linkage: str = "internal",
    ) -> Builder:
        """Add a function to the module, and return a builder at its beginning.

        Raises:
            BuildError: the module has a symbol of that name.
        """
        attributes = {"linkage": symbols.types.attribute(f"#llvm.linkage<{linkage}>")}
        function = symbols.function(name, result, parameters, attributes, body=True)
        return Builder(symbols, function, function.regions[0].blocks[0], symbols.location)

    def call(
        self,
        callee: str,
        operands: Sequence[Value],
        result: Type,
        attributes: dict[str, Attribute] | None = None,
    ) -> Value | None:
        """Call a symbol directly. Returns the result, or None if ``result`` is void.

        The module must declare or define the symbol: see :meth:`Symbols.declare`.

        Examples:
            In a function that calls C's ``free``:

            >>> from ffi_builder.ir.builder import Builder
            >>> b = Builder.define(symbols, "release", types.void, [types.ptr])
            >>> declared = symbols.declare("free", types.void, [types.ptr])
            >>> b.call("free", b.entry.arguments, types.void)
            >>> b.ret()
            >>> module.operation.verify()
            True
        """
        return self._call((), operands, result, {"callee": self.types.symbol(callee)}, attributes)

    def call_value(
        self,
        callee: str,
        operands: Sequence[Value],
        result: Type,
        attributes: dict[str, Attribute] | None = None,
    ) -> Value:
        """Call a symbol that returns a value."""
        value = self.call(callee, operands, result, attributes)
        assert value is not None, f"@{callee} returns nothing"
        return value

    def call_variadic(
        self, callee: str, fixed: Sequence[Value], more: Sequence[Value], result: Type
    ) -> Value:
        """Call a variadic C function that returns a value, and declare it if necessary.

        Raises:
            BuildError: the module has another symbol of that name.
        """
        parameters = ", ".join(str(value.type) for value in fixed)
        type_ = self.types.parse(f"!llvm.func<{result} ({parameters}, ...)>")
        self.symbols.declare_as(callee, type_)
        attribute = {"var_callee_type": self.types.type_attribute(str(type_))}
        return self.call_value(callee, [*fixed, *more], result, attribute)

    def text_constant(self, data: bytes) -> Value:
        """Return the address of a private constant with these bytes; equal constants are shared."""
        return self.address_of(self.symbols.text(data))

    def call_pointer(self, callee: Value, operands: Sequence[Value], result: Type) -> Value | None:
        """Call through a pointer. Returns the result, or None if ``result`` is void."""
        return self._call((callee,), operands, result, {}, None)

    def address_of(self, symbol: str) -> Value:
        """Return the address of a global or function."""
        types = self.types
        name = {"global_name": types.symbol(symbol)}
        operation = self.op("llvm.mlir.addressof", (), (types.ptr,), name)
        self.references.append(operation)
        return operation.result

    def _call(
        self,
        callee: tuple[Value, ...],
        operands: Sequence[Value],
        result: Type,
        target: dict[str, Attribute],
        attributes: dict[str, Attribute] | None,
    ) -> Value | None:
        types = self.types
        try:
            given = (*callee, *operands)
        except TypeError:
            raise not_values("llvm.call: operands", operands) from None
        operation = self.op(
            "llvm.call",
            given,
            () if result == types.void else (result,),
            {**types.of_call(len(given)), **target, **(attributes or {})},
        )
        self.references.append(operation)
        return None if result == types.void else operation.result


def call_extern(b: Builder, callee: str, operands: Sequence[Value], result: Type) -> Any:
    """Declare a function that takes values of these types, and call it.

    Returns:
        Its result, or None if ``result`` is void.
    """
    b.symbols.declare(callee, result, [value.type for value in operands])
    return b.call(callee, operands, result)


_ACQUIRE: Final = 4
_ACQUIRE_RELEASE: Final = 6
"""``llvm``'s AtomicOrdering."""


def load_acquire(b: Builder, type_: Type, pointer: Value, *, size: int) -> Value:
    """Load a value that another thread may have stored with release order.

    Args:
        b: appends the load.
        type_: the type of the result.
        pointer: the address, aligned to ``size``.
        size: the size of the value in bytes, a power of two.
    """
    number = b.types.int_attribute
    attributes = {"alignment": number(64, size), "ordering": number(64, _ACQUIRE)}
    return b.value("llvm.load", (pointer,), type_, attributes)


def exchange_null(b: Builder, pointer: Value, value: Value) -> Value:
    """Replace NULL by a pointer; return the previous pointer.

    Args:
        b: appends the operations.
        pointer: the address of the pointer, aligned to 8 bytes.
        value: the new pointer, which is stored only if NULL is there.

    Examples:
        A buffer that is allocated once; if two threads compete, the second one frees its buffer:

        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder import attach, spec
        >>> from ffi_builder.ir.builder import exchange_null
        >>> def provider(current_block, context):
        ...     b, symbols = context.builder, context.symbols
        ...     symbols.declare("malloc", b.types.ptr, [b.types.i64])
        ...     symbols.declare("free", b.types.void, [b.types.ptr])
        ...     slot = b.address_of(symbols.variable("buffer", bytes(8), align=8))
        ...     mine = b.call_value("malloc", [b.i64(4096)], b.types.ptr)
        ...     before = exchange_null(b, slot, mine)
        ...     with b.when(b.ne(b.to_int(before), b.i64(0))):
        ...         b.call("free", [mine], b.types.void)
        ...     return b.block
        >>> module = mlir.Module.parse("", mlir.Context())
        >>> attach(module, spec.Signature("reserve", []), provider)
    """
    number, ptr = b.types.int_attribute, b.types.ptr
    attributes = {
        "success_ordering": number(64, _ACQUIRE_RELEASE),
        "failure_ordering": number(64, _ACQUIRE),
    }
    both = b.types.struct((ptr, b.types.i1))
    pair = b.value("llvm.cmpxchg", (pointer, b.null(), value), both, attributes)
    return b.extract(pair, 0, ptr)
