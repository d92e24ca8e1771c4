"""A small builder of LLVM-dialect operations for any MLIR Python distribution.

It has one explicit cursor (``b.block``), takes and returns plain values, and has the signedness in
its names. It does not use the bindings' thread-local context and location::

    size = b.field(b.types.i64, cell, 32)
    with b.when(b.ne(size, b.i64(0))):
        b.call("visit", [cell], b.types.void)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ffi_builder.ir.flow import Flow
from ffi_builder.ir.memory import Memory
from ffi_builder.ir.operand_errors import not_values
from ffi_builder.ir.protocols import Attribute, Block, Operation, Type, Value
from ffi_builder.ir.symbols import Symbols


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
        >>> module = mlir.Module.parse("", mlir.Context())
        >>> types = ir.Types(ir.of_module(module).ir, module.context)
        >>> symbols = ir.Symbols(types, module, mlir.Location.unknown(module.context))
        >>> function = symbols.function("square", types.i64, [types.i64], body=True)
        >>> b = ir.Builder(symbols, function, function.regions[0].blocks[0], symbols.location)
        >>> [x] = b.entry.arguments
        >>> b.ret(b.mul(x, x))
        >>> print(function)
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

            >>> release = symbols.function("release", types.void, [types.ptr], body=True)
            >>> b = ir.Builder(symbols, release, release.regions[0].blocks[0], symbols.location)
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
        """Return the address of a private constant with these bytes; equal ones are shared."""
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
